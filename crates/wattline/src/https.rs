//! The certificate of HTTPS by the process itself, from the settings.

use crate::failure::Failure;
use api::tls::{Tls, TlsFailure, TlsFiles};
use jiff::Timestamp;
use ops::settings::{Settings, SettingsError};

const CERTIFICATE: &str = "tls_cert_file";
const KEY: &str = "tls_key_file";

/// Certificate and key; none when neither is set.
///
/// # Errors
/// When one of them is set and the other is not, or the files cannot be used.
pub(crate) fn certificate(settings: &Settings) -> Result<Option<Tls>, Failure> {
    let Some(files) = files(settings)? else {
        return Ok(None);
    };
    let tls = Tls::read(files).map_err(|failure| {
        let (key, expected) = match failure {
            TlsFailure::Certificate(_) => (CERTIFICATE, "a certificate chain in PEM"),
            TlsFailure::Key(_) => (KEY, "a private key in PEM"),
            TlsFailure::Mismatch => (KEY, "the key of the certificate in tls_cert_file"),
        };
        settings.unacceptable(key, format!("{expected} ({failure})"))
    })?;
    Ok(Some(tls))
}

fn files(settings: &Settings) -> Result<Option<TlsFiles>, SettingsError> {
    let both = |given: &str| format!("a path, since {given} is given");
    match (
        settings.optional_path(CERTIFICATE),
        settings.optional_path(KEY),
    ) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key })),
        (Some(_), None) => Err(settings.unacceptable(KEY, both(CERTIFICATE))),
        (None, Some(_)) => Err(settings.unacceptable(CERTIFICATE, both(KEY))),
    }
}

/// What `wattline check` tells of the certificate at `now_micros` since the epoch.
pub(crate) fn look(settings: &Settings, now_micros: i64) -> Result<String, String> {
    let tls = certificate(settings).map_err(|failure| failure.to_string())?;
    let Some(tls) = tls else {
        return Ok("not set: the api speaks HTTP".to_owned());
    };
    let not_after = tls.not_after();
    let told = Timestamp::from_second(not_after.seconds())
        .map_or_else(|_| "the end of time".to_owned(), |it| it.to_string());
    if not_after.micros() < now_micros {
        return Err(format!("the certificate was valid until {told}"));
    }
    Ok(format!(
        "certificate and key belong together, valid until {told}"
    ))
}
