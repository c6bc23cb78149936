//! Where the broker is, read from its URL.

use crate::Unusable;
use std::borrow::Cow;
use std::path::PathBuf;
use url::Url;

/// A broker's address. Does not implement `Debug`: it holds a password.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) encrypted: bool,
    pub(crate) login: Option<(String, String)>,
    pub(crate) files: TlsFiles,
}

/// The files that an `mqtts://` URL may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// Who is trusted to vouch for the broker, in place of the machine's authorities.
    pub(crate) authorities: Option<PathBuf>,
    /// Our own certificate and its key, for a broker that asks for one.
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

impl Address {
    /// Reads what [`crate::Broker::parse`] takes.
    pub(crate) fn parse(url: &str) -> Result<Self, Unusable> {
        let url = Url::parse(url).map_err(|error| Unusable::Url(error.to_string()))?;
        let encrypted = match url.scheme() {
            "mqtt" => false,
            "mqtts" => true,
            other => return Err(unusable(&format!("scheme {other} is not mqtt or mqtts"))),
        };
        let host = url.host_str().filter(|it| !it.is_empty());
        let host = host.ok_or_else(|| unusable("no host"))?;
        let default_port = if encrypted { 8883 } else { 1883 };
        let port = url.port().unwrap_or(default_port);
        if port == 0 {
            return Err(unusable("port 0"));
        }
        let files = files(&url)?;
        if !encrypted && files != TlsFiles::default() {
            return Err(unusable("files of encryption belong to mqtts://"));
        }
        if files.certificate.is_some() != files.key.is_some() {
            return Err(unusable("cert_file and key_file belong together"));
        }
        Ok(Self {
            host: decode(host)?,
            port,
            encrypted,
            login: login(&url)?,
            files,
        })
    }
}

/// Reads the parameters: what is unknown is refused, since a slip must not end in trusting somebody else.
fn files(url: &Url) -> Result<TlsFiles, Unusable> {
    let mut files = TlsFiles::default();
    for (name, path) in url.query_pairs() {
        let place = match &*name {
            "ca_file" => &mut files.authorities,
            "cert_file" => &mut files.certificate,
            "key_file" => &mut files.key,
            // Not repeated: a password with a question mark in it ends up here.
            _ => {
                let expected = "parameters are ca_file, cert_file and key_file";
                return Err(unusable(expected));
            }
        };
        if path.is_empty() || place.replace(PathBuf::from(&*path)).is_some() {
            return Err(unusable(&format!("{name} wants one path")));
        }
    }
    Ok(files)
}

fn login(url: &Url) -> Result<Option<(String, String)>, Unusable> {
    if url.username().is_empty() {
        return Ok(None);
    }
    let password = url.password().unwrap_or_default();
    Ok(Some((decode(url.username())?, decode(password)?)))
}

fn decode(text: &str) -> Result<String, Unusable> {
    percent_encoding::percent_decode_str(text)
        .decode_utf8()
        .map(Cow::into_owned)
        .map_err(|_| unusable("not utf-8"))
}

fn unusable(cause: &str) -> Unusable {
    Unusable::Url(cause.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_url_names_host_port_and_login() {
        let check = |url, host: &str, port, encrypted, login: Option<(&str, &str)>| {
            let address = Address::parse(url).unwrap_or_else(|it| panic!("{url}: {it}"));
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
        check("mqtt://[::1]:1885", "[::1]", 1885, false, None);
        check("mqtt://a@b", "b", 1883, false, Some(("a", "")));
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
    fn an_encrypted_url_may_name_files() {
        let files = |url| Address::parse(url).map(|it| it.files);
        let ca = Some(PathBuf::from("/etc/my ca.pem"));
        let read = files("mqtts://broker?ca_file=/etc/my%20ca.pem").unwrap();
        assert_eq!((read.authorities, read.certificate), (ca, None));
        let read = files("mqtts://a:b@broker:1/?key_file=k&cert_file=c").unwrap();
        assert_eq!(read.certificate, Some(PathBuf::from("c")));
        assert_eq!(read.key, Some(PathBuf::from("k")));
        for wrong in [
            "mqtt://broker?ca_file=x",
            "mqtts://broker?ca_file=",
            "mqtts://broker?ca_file=x&ca_file=y",
            "mqtts://broker?cafile=x",
            "mqtts://broker?cert_file=x",
            "mqtts://broker?key_file=x",
        ] {
            assert!(files(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_wrong_url_is_refused_without_telling_its_password() {
        for url in [
            "http://ada:secret@broker",
            "mqtt://ada:secret@",
            "ada:secret",
            "mqtt:///x",
            "",
            "mqtt://",
            "mqtt://b:x",
            "mqtt://ada:secret@b:0",
            "mqtt://ada:secret%ff@b",
            "mqtts://broker?secret=secret",
        ] {
            let error = Address::parse(url).err().unwrap().to_string();
            assert!(error.starts_with("mqtt url: "), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
