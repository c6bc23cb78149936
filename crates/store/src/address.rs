//! Where the database is, read from its URL.

use crate::StoreFailure;
use sqlx::postgres::PgConnectOptions;
use std::str::FromStr as _;

/// The parameters that the library takes, but for `options[…]`.
const PARAMETERS: [&str; 19] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
    "",
];

/// Reads a `postgres://` URL. A parameter that is none is refused: the library would pass over it with a
/// warning that shows its value, so that a slip in `sslmode` would end in a connection that checks nobody.
///
/// # Errors
/// What is wrong, without the URL, which may hold a password.
pub(crate) fn options(url: &str) -> Result<PgConnectOptions, StoreFailure> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    for parameter in query.split('&') {
        let name = parameter
            .split_once('=')
            .map_or(parameter, |(name, _)| name);
        if !PARAMETERS.contains(&name) && !name.starts_with("options[") {
            let expected = "sslmode, sslrootcert, sslcert, sslkey and the like";
            return Err(StoreFailure::Permanent(format!(
                "database url: a parameter is none of {expected}"
            )));
        }
    }
    PgConnectOptions::from_str(url)
        .map_err(|_| StoreFailure::Permanent("database url: cannot be read".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_url_may_say_how_it_is_encrypted() {
        for url in [
            "postgres://ada:secret@db/wattline",
            "postgres://ada@db/wattline?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            "postgres://ada@db/wattline?",
            "postgres://postgres@%2Frun%2Fpostgresql/wattline?options[jit]=on",
        ] {
            assert!(options(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_slip_is_refused_without_telling_the_password() {
        for url in [
            "postgres://ada:secret@db/wattline?sslmod=verify-full",
            "postgres://ada@db/wattline?passwrod=secret",
            "postgres://ada:secret@db:port/wattline",
            "postgres://ada:secret@db/wattline?sslmode=secret",
        ] {
            let told = options(url).err().unwrap().to_string();
            assert!(!told.contains("secret"), "{told}");
        }
    }
}
