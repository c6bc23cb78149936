//! Where the broker is, read from its URL.

use std::borrow::Cow;
use url::Url;

/// A broker's address. Does not implement `Debug`: it holds a password.
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) encrypted: bool,
    pub(crate) login: Option<(String, String)>,
}

impl Address {
    /// Reads `mqtt://` (port 1883) or `mqtts://` (port 8883), `[user[:password]@]host[:port]`.
    ///
    /// # Errors
    /// What is wrong, without the URL itself, which may hold a password.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| format!("mqtt url: {error}"))?;
        let encrypted = match url.scheme() {
            "mqtt" => false,
            "mqtts" => true,
            other => return Err(format!("mqtt url: scheme {other} is not mqtt or mqtts")),
        };
        let host = url.host_str().ok_or("mqtt url: no host")?;
        if host.is_empty() {
            return Err("mqtt url: no host".to_owned());
        }
        let default_port = if encrypted { 8883 } else { 1883 };
        Ok(Self {
            host: decode(host)?,
            port: url.port().unwrap_or(default_port),
            encrypted,
            login: login(&url)?,
        })
    }
}

fn login(url: &Url) -> Result<Option<(String, String)>, String> {
    if url.username().is_empty() {
        return Ok(None);
    }
    let password = url.password().unwrap_or_default();
    Ok(Some((decode(url.username())?, decode(password)?)))
}

fn decode(text: &str) -> Result<String, String> {
    percent_encoding::percent_decode_str(text)
        .decode_utf8()
        .map(Cow::into_owned)
        .map_err(|_| "mqtt url: not utf-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_url_names_host_port_and_login() {
        let check = |url, host: &str, port, encrypted, login: Option<(&str, &str)>| {
            let address = Address::parse(url).map_err(|error| (url, error)).unwrap();
            assert_eq!(address.host, host, "{url}");
            assert_eq!(address.port, port, "{url}");
            assert_eq!(address.encrypted, encrypted, "{url}");
            let read = address
                .login
                .as_ref()
                .map(|(u, p)| (u.as_str(), p.as_str()));
            assert_eq!(read, login, "{url}");
        };
        check("mqtt://127.0.0.1:1884", "127.0.0.1", 1884, false, None);
        check("mqtt://broker", "broker", 1883, false, None);
        check("mqtts://broker/", "broker", 8883, true, None);
        check("mqtt://[::1]", "[::1]", 1883, false, None);
        let login = Some(("ada", "p@ss:/"));
        check(
            "mqtt://ada:p%40ss%3A%2F@broker",
            "broker",
            1883,
            false,
            login,
        );
    }

    #[test]
    fn a_wrong_url_is_refused_without_telling_its_password() {
        for url in [
            "http://ada:secret@broker",
            "mqtt://ada:secret@",
            "ada:secret",
            "mqtt:///x",
        ] {
            let error = Address::parse(url).err().unwrap();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
