//! Encryption of the connection to the broker.

use crate::Unusable;
use crate::address::TlsFiles;
use rustls::crypto::ring;
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;

/// Trusts the authorities of the file that is named, else those that the machine trusts; shows our own
/// certificate where one is named. The files are read now, and not again.
///
/// # Errors
/// A file that cannot be read or holds nothing usable; nobody to trust.
pub(crate) fn configuration(files: &TlsFiles) -> Result<Arc<ClientConfig>, Unusable> {
    let roots = match &files.authorities {
        Some(path) => authorities(path)?,
        None => the_machines_authorities()?,
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Unusable::Encryption(error.to_string()))?
        .with_root_certificates(roots);
    let config = match (&files.certificate, &files.key) {
        (Some(certificate), Some(key)) => config
            .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
            .map_err(|error| wrong(certificate, &error.to_string()))?,
        (Some(_) | None, _) => config.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn the_machines_authorities() -> Result<RootCertStore, Unusable> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (trusted, _unreadable) = roots.add_parsable_certificates(found.certs);
    if trusted == 0 {
        let cause = "the machine trusts no certificate authority: name one with ca_file";
        return Err(Unusable::Encryption(cause.to_owned()));
    }
    Ok(roots)
}

fn authorities(path: &Path) -> Result<RootCertStore, Unusable> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        let added = roots.add(certificate);
        added.map_err(|error| wrong(path, &error.to_string()))?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Unusable> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| wrong(path, &told(&error)))?;
    if found.is_empty() {
        return Err(wrong(path, "no certificate in PEM"));
    }
    Ok(found)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Unusable> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| wrong(path, &told(&error)))
}

/// What is wrong with a file, without anything of its content: it may be a key.
fn told(error: &PemError) -> String {
    if let PemError::Io(cause) = error {
        cause.to_string()
    } else {
        "nothing usable in PEM".to_owned()
    }
}

fn wrong(path: &Path, cause: &str) -> Unusable {
    Unusable::Encryption(format!("{}: {cause}", path.display()))
}
