//! Certificates for a test's own HTTPS.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ALL_VERSIONS, ClientConfig, RootCertStore, SupportedProtocolVersion};

/// Who vouches for the certificates of a test.
pub struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate of `localhost` and its key.
#[derive(Clone, Debug)]
pub struct CertifiedPair {
    /// The certificate in PEM.
    pub certificate_pem: String,
    /// The certificate in DER, as a client sees it.
    pub certificate_der: Vec<u8>,
    /// The private key in PEM.
    pub key_pem: String,
}

/// Where a process is told to find its pair.
#[derive(Clone, Debug)]
pub struct PairFiles {
    /// The certificate's.
    pub certificate: PathBuf,
    /// The key's.
    pub key: PathBuf,
}

impl Authority {
    /// A new one, that nobody trusts but its own [`Authority::client`].
    #[must_use]
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new([]).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).unwrap();
        Self {
            certificate: certificate.der().clone(),
            issuer: Issuer::new(parameters, key),
        }
    }

    /// A new pair.
    #[must_use]
    pub fn issue(&self) -> CertifiedPair {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        CertifiedPair {
            certificate_pem: certificate.pem(),
            certificate_der: certificate.der().to_vec(),
            key_pem: key.serialize_pem(),
        }
    }

    /// What a client needs to trust its certificates, with these versions of TLS or all.
    pub(crate) fn client(
        &self,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let versions = if versions.is_empty() {
            ALL_VERSIONS
        } else {
            versions
        };
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        // As browsers offer them.
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl PairFiles {
    /// Files in `folder`, not written yet.
    #[must_use]
    pub fn within(folder: &Path) -> Self {
        Self {
            certificate: folder.join("cert.pem"),
            key: folder.join("key.pem"),
        }
    }

    /// Replaces both, the certificate first.
    pub fn write(&self, pair: &CertifiedPair) {
        self.write_certificate(pair);
        self.write_key(pair);
    }

    /// Replaces the certificate at once.
    pub fn write_certificate(&self, pair: &CertifiedPair) {
        replace(&self.certificate, &pair.certificate_pem);
    }

    /// Replaces the key at once.
    pub fn write_key(&self, pair: &CertifiedPair) {
        replace(&self.key, &pair.key_pem);
    }
}

fn replace(path: &Path, text: &str) {
    let next = path.with_extension("next");
    std::fs::write(&next, text).unwrap();
    std::fs::rename(next, path).unwrap();
}
