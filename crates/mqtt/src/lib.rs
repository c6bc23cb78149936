#![doc = include_str!("../README.md")]

mod address;
mod line;
mod offer;
mod tls;
mod vigil;

use address::Address;
pub use line::{Line, Session, Turned};
pub use offer::{Finding, Needs, Offer};
use rumqttc::v5::MqttOptions;
use rumqttc::{NetworkOptions, TlsConfiguration, Transport};
use rustls::ClientConfig;
use std::sync::Arc;
pub use vigil::{QUESTION, Vigil, Watched};

/// Where a broker is, and how to enter it. Does not implement `Debug`: it holds a password.
#[derive(Clone)]
pub struct Broker {
    address: Address,
    /// With `mqtts://`.
    encryption: Option<Arc<ClientConfig>>,
}

/// Why a broker cannot be used, whether it is there or not. The URL is not repeated: it may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The URL is none of a broker.
    #[error("mqtt url: {0}")]
    Url(String),
    /// There is nobody to trust, or a file that the URL names cannot be used.
    #[error("mqtts: {0}")]
    Encryption(String),
}

impl Broker {
    /// Reads `mqtt://` (port 1883) or `mqtts://` (port 8883), `[user[:password]@]host[:port]`; user and
    /// password may be percent-encoded. For `mqtts://` reads the certificate authorities to trust too: those of
    /// `?ca_file=PATH`, else the machine's; with `cert_file=PATH&key_file=PATH` a certificate of our own.
    ///
    /// # Errors
    /// A URL that is none of a broker, a file that cannot be used, or no certificate authority to trust.
    pub fn parse(url: &str) -> Result<Self, Unusable> {
        let address = Address::parse(url)?;
        let encryption = match address.encrypted {
            true => Some(tls::configuration(&address.files)?),
            false => None,
        };
        Ok(Self {
            address,
            encryption,
        })
    }

    /// The broker in words, `mqtt broker host:port`: never its login.
    #[must_use]
    pub fn name(&self) -> String {
        format!("mqtt broker {}:{}", self.address.host, self.address.port)
    }

    /// A connection's options: address, login, encryption and a network that holds nothing back. All else
    /// is as the client library has it.
    #[must_use]
    pub fn options(&self, client_id: &str) -> MqttOptions {
        let address = &self.address;
        let mut options = MqttOptions::new(client_id, address.host.as_str(), address.port);
        if let Some((user, password)) = &address.login {
            options.set_credentials(user.as_str(), password.as_str());
        }
        if let Some(configuration) = &self.encryption {
            options.set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(
                Arc::clone(configuration),
            )));
        }
        let mut network = NetworkOptions::new();
        // Acknowledgements are small packets; held back, they would hold back the next messages.
        network.set_tcp_nodelay(true);
        options.set_network_options(network);
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_and_the_address_are_those_of_the_url() {
        let broker =
            Broker::parse("mqtt://ada:p%40ss@broker:1884").unwrap_or_else(|it| panic!("{it}"));
        let options = broker.options("me");
        assert_eq!(options.broker_address(), ("broker".to_owned(), 1884));
        assert_eq!(broker.name(), "mqtt broker broker:1884");
        assert_eq!(options.client_id(), "me");
        let login = options.credentials().unwrap();
        assert_eq!(
            (login.username.as_str(), login.password.as_str()),
            ("ada", "p@ss")
        );
        assert!(matches!(options.transport(), Transport::Tcp));
    }

    #[test]
    fn an_encrypted_connection_trusts_the_systems_authorities_or_says_why_not() {
        match Broker::parse("mqtts://broker") {
            Ok(broker) => {
                let options = broker.options("me");
                assert_eq!(options.broker_address(), ("broker".to_owned(), 8883));
                assert!(matches!(options.transport(), Transport::Tls(_)));
            }
            Err(cause) => {
                let cause = cause.to_string();
                assert!(cause.contains("certificate authority"), "{cause}");
            }
        }
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named_without_its_content() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        for (path, cause) in [("/none", "No such file"), (here, "no certificate in PEM")] {
            let url = format!("mqtts://ada:secret@broker?ca_file={path}");
            let told = Broker::parse(&url).err().unwrap().to_string();
            assert!(told.contains(path) && told.contains(cause), "{told}");
            assert!(!told.contains("secret"), "{told}");
        }
    }
}
