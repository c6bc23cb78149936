//! Certificates for a test's own servers and clients.

use embedded::ServerCertificate;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType, date_time_ymd,
};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ALL_VERSIONS, ClientConfig, RootCertStore, SupportedProtocolVersion};
use uuid::Uuid;

/// Who vouches for the certificates of a test.
pub struct Authority {
    certificate: CertificateDer<'static>,
    pem: String,
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
        // Another name than those it vouches for: OpenSSL would take them for their own issuers.
        let name = format!("authority {}", Uuid::new_v4());
        parameters.distinguished_name.push(DnType::CommonName, name);
        let certificate = parameters.self_signed(&key).unwrap();
        Self {
            certificate: certificate.der().clone(),
            pem: certificate.pem(),
            issuer: Issuer::new(parameters, key),
        }
    }

    /// Its own certificate in PEM: what it takes to trust it.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Writes that into a file of `folder`, and answers with its path.
    #[must_use]
    pub fn write(&self, folder: &Path) -> String {
        let path = folder.join(format!("authority-{}.pem", Uuid::new_v4()));
        std::fs::write(&path, &self.pem).unwrap();
        path.display().to_string()
    }

    /// A new pair of `localhost`.
    #[must_use]
    pub fn issue(&self) -> CertifiedPair {
        self.issue_for("localhost")
    }

    /// A new pair of another host, or of a client.
    #[must_use]
    pub fn issue_for(&self, name: &str) -> CertifiedPair {
        self.sign(&mut named(name))
    }

    /// A pair of `localhost` and of 127.0.0.1.
    #[must_use]
    pub fn issue_with_address(&self) -> CertifiedPair {
        let mut parameters = named("localhost");
        let address = SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST));
        parameters.subject_alt_names.push(address);
        self.sign(&mut parameters)
    }

    /// A pair of `localhost` that was good until long ago.
    #[must_use]
    pub fn issue_expired(&self) -> CertifiedPair {
        let mut parameters = named("localhost");
        parameters.not_after = date_time_ymd(2000, 1, 1);
        self.sign(&mut parameters)
    }

    fn sign(&self, parameters: &mut CertificateParams) -> CertifiedPair {
        let key = KeyPair::generate().unwrap();
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

fn named(name: &str) -> CertificateParams {
    let mut parameters = CertificateParams::new([name.to_owned()]).unwrap();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters
}

impl CertifiedPair {
    /// What a server needs that asks its clients for none.
    #[must_use]
    pub fn server(&self) -> ServerCertificate {
        ServerCertificate {
            certificate: self.certificate_pem.clone(),
            key: self.key_pem.clone(),
            clients: None,
        }
    }

    /// What a server needs that asks its clients for a certificate of `clients`.
    #[must_use]
    pub fn server_for(&self, clients: &Authority) -> ServerCertificate {
        ServerCertificate {
            clients: Some(clients.pem.clone()),
            ..self.server()
        }
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
