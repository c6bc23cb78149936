//! The broker's address.

use super::Failure;
use rumqttc::NetworkOptions;
use rumqttc::v5::MqttOptions;
use std::time::Duration;

const DEFAULT_PORT: u16 = 1883;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Where the broker is and who we are there.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Broker {
    host: String,
    port: u16,
    login: Option<(String, String)>,
}

impl Broker {
    /// Reads `mqtt://[user[:password]@]host[:port]`; user and password may be percent-encoded.
    pub(crate) fn parse(url: &str) -> Result<Self, Failure> {
        let refuse = |expected| Failure::Address { expected };
        let rest = url
            .strip_prefix("mqtt://")
            .ok_or_else(|| refuse("mqtt://[user[:password]@]host[:port]"))?;
        let rest = rest.trim_end_matches('/');
        let (login, place) = match rest.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, rest),
        };
        let (host, port) = match place.rsplit_once(':') {
            // The last colon of a bare IPv6 address stands inside its brackets.
            Some((host, port)) if !port.ends_with(']') => {
                let port = port.parse().map_err(|_| refuse("a port of 1 to 65535"))?;
                (host, port)
            }
            Some(_) | None => (place, DEFAULT_PORT),
        };
        if host.is_empty() || port == 0 || host.contains('/') {
            return Err(refuse("a host and a port of 1 to 65535"));
        }
        let login = login.map(|login| login.split_once(':').unwrap_or((login, "")));
        let login = login.map(|(user, password)| Some((decode(user)?, decode(password)?)));
        Ok(Self {
            host: host.to_owned(),
            port,
            login: match login {
                None => None,
                Some(None) => return Err(refuse("percent-encoded UTF-8 in user and password")),
                Some(login) => login,
            },
        })
    }

    /// What one connection needs; a session of its own that ends with it.
    pub(crate) fn options(&self, client_id: &str, window: u16) -> MqttOptions {
        let mut options = MqttOptions::new(client_id, self.host.as_str(), self.port);
        if let Some((user, password)) = &self.login {
            options.set_credentials(user.as_str(), password.as_str());
        }
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(true);
        options
            .set_clean_start(true)
            .set_keep_alive(KEEP_ALIVE)
            .set_network_options(network)
            .set_outgoing_inflight_upper_limit(window);
        options
    }
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_in_all_of_its_forms() {
        let check = |url, host: &str, port, login: Option<(&str, &str)>| {
            let Ok(broker) = Broker::parse(url) else {
                panic!("{url} was refused")
            };
            assert_eq!((broker.host.as_str(), broker.port), (host, port));
            let read = broker.login.as_ref().map(|(u, p)| (u.as_str(), p.as_str()));
            assert_eq!(read, login);
        };
        check("mqtt://127.0.0.1", "127.0.0.1", 1883, None);
        check("mqtt://broker:1884/", "broker", 1884, None);
        check("mqtt://[::1]", "[::1]", 1883, None);
        check("mqtt://[::1]:1885", "[::1]", 1885, None);
        check("mqtt://a@b", "b", 1883, Some(("a", "")));
        check("mqtt://a:p%40s@b:1", "b", 1, Some(("a", "p@s")));
        for url in [
            "",
            "mqtts://b",
            "mqtt://",
            "mqtt://b:x",
            "mqtt://b:0",
            "mqtt://a%zz@b",
        ] {
            assert!(Broker::parse(url).is_err(), "{url}");
        }
    }
}
