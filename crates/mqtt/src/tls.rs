//! Encryption of the connection to the broker.

use crate::Unusable;
use rumqttc::TlsConfiguration;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// Trusts the certificate authorities that the machine trusts.
///
/// # Errors
/// Without any, or when the library refuses its own defaults.
pub(crate) fn trusting_the_system() -> Result<TlsConfiguration, Unusable> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (trusted, _unreadable) = roots.add_parsable_certificates(found.certs);
    if trusted == 0 {
        let cause = "the machine trusts no certificate authority";
        return Err(Unusable::Encryption(cause.to_owned()));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Unusable::Encryption(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConfiguration::from(config))
}
