//! HTTPS by the process itself: a certificate chain and its key, read anew when the files change.
//!
//! Connections keep what they were opened with. New ones get the newest pair that could be read and
//! belongs together; the two files change one after the other, so a pair that does not is left for the
//! next look.

use crate::limits::CERTIFICATE_LOOK_INTERVAL;
use domain::time::Timestamp;
use ops::shutdown::Shutdown;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, InconsistentKeys, ServerConfig};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::{fmt, fs, io};
use thiserror::Error;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

/// Where certificate and key are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain in PEM, the process's own certificate first.
    pub certificate: PathBuf,
    /// Its private key in PEM: PKCS#8, PKCS#1 or SEC1.
    pub key: PathBuf,
}

/// Why certificate and key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TlsFailure {
    /// The chain cannot be read, or is none.
    #[error("certificate: {0}")]
    Certificate(String),
    /// The key cannot be read, or is none.
    #[error("key: {0}")]
    Key(String),
    /// Both are right, and belong to different certificates.
    #[error("the key belongs to another certificate")]
    Mismatch,
}

/// A certificate with its key, kept up to date by [`Tls::watch`]; clones share it.
#[derive(Clone)]
pub struct Tls(Arc<Shared>);

struct Shared {
    files: TlsFiles,
    pair: RwLock<Pair>,
}

/// What new connections are opened with.
#[derive(Clone)]
struct Pair {
    config: Arc<ServerConfig>,
    not_after: Timestamp,
    stamps: [Stamp; 2],
}

/// What tells a file that changed from one that did not, also where a link to it was turned.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Tls {
    /// Reads both files.
    ///
    /// # Errors
    /// When one of them cannot be read or used, or they do not belong together.
    pub fn read(files: TlsFiles) -> Result<Self, TlsFailure> {
        let pair = Pair::read(&files)?;
        Ok(Self(Arc::new(Shared {
            files,
            pair: RwLock::new(pair),
        })))
    }

    /// The moment after which the certificate is worth nothing.
    #[must_use]
    pub fn not_after(&self) -> Timestamp {
        self.pair().not_after
    }

    /// What opens a new connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.pair().config)
    }

    /// Takes over what the files hold whenever they change, until `shutdown`. What cannot be used is
    /// logged once, and looked at again until it can.
    pub(crate) async fn watch(&self, shutdown: &Shutdown) {
        let watch = async {
            let mut told = None;
            loop {
                sleep(CERTIFICATE_LOOK_INTERVAL).await;
                let tls = self.clone();
                match spawn_blocking(move || tls.look()).await {
                    Ok(looked) => tell(looked, &mut told),
                    Err(error) => tracing::error!(%error, "looking at the certificate failed"),
                }
            }
        };
        tokio::select! {
            () = shutdown.requested() => {}
            () = watch => {}
        }
    }

    /// Takes over what the files hold if they changed; the new end of validity if so.
    fn look(&self) -> Result<Option<Timestamp>, TlsFailure> {
        let files = &self.0.files;
        if stamps(files)? == self.pair().stamps {
            return Ok(None);
        }
        let pair = Pair::read(files)?;
        let not_after = pair.not_after;
        *self.0.pair.write().unwrap_or_else(PoisonError::into_inner) = pair;
        Ok(Some(not_after))
    }

    fn pair(&self) -> Pair {
        let pair = self.0.pair.read();
        pair.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Shows where the pair is from, and nothing of the key.
impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.files.fmt(formatter)
    }
}

/// Logs what changed, and every cause once.
fn tell(looked: Result<Option<Timestamp>, TlsFailure>, told: &mut Option<TlsFailure>) {
    match looked {
        Ok(None) => *told = None,
        Ok(Some(not_after)) => {
            *told = None;
            let not_after_seconds = not_after.seconds();
            tracing::info!(not_after_seconds, "new certificate taken over");
        }
        Err(failure) if told.as_ref() == Some(&failure) => {}
        Err(failure) => {
            tracing::warn!(cause = %failure, "new certificate not taken over, the old one stays");
            *told = Some(failure);
        }
    }
}

impl Pair {
    fn read(files: &TlsFiles) -> Result<Self, TlsFailure> {
        // Before the contents: what changes while they are read looks changed the next time.
        let stamps = stamps(files)?;
        let chain = chain(&files.certificate).map_err(TlsFailure::Certificate)?;
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .map_err(|error| TlsFailure::Key(cause(&error, "private key")))?;
        let not_after = not_after(&chain).map_err(TlsFailure::Certificate)?;
        Ok(Self {
            config: Arc::new(config(chain, key)?),
            not_after,
            stamps,
        })
    }
}

/// A configuration of its own for each pair: so no session of an old one is taken up again.
fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, TlsFailure> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsFailure::Certificate(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| refusal(&error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Which of the two files the library's refusal is about.
fn refusal(error: &Error) -> TlsFailure {
    if *error == Error::InconsistentKeys(InconsistentKeys::KeyMismatch) {
        TlsFailure::Mismatch
    } else if let Error::InvalidCertificate(error) = error {
        TlsFailure::Certificate(error.to_string())
    } else {
        TlsFailure::Key(error.to_string())
    }
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = |error| cause(&error, "certificate");
    let chain: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(read)?
        .collect::<Result<_, _>>()
        .map_err(read)?;
    if chain.is_empty() {
        return Err(cause(&pem::Error::NoItemsFound, "certificate"));
    }
    Ok(chain)
}

fn not_after(chain: &[CertificateDer<'_>]) -> Result<Timestamp, String> {
    let own = chain.first().map_or(&[][..], |it| it.as_ref());
    let (_, certificate) =
        x509_parser::parse_x509_certificate(own).map_err(|error| error.to_string())?;
    let seconds = certificate.validity().not_after.timestamp();
    Ok(Timestamp::from_seconds(seconds))
}

/// Why a PEM file gives nothing, without a word of what is in it.
fn cause(error: &pem::Error, item: &str) -> String {
    if let pem::Error::Io(error) = error {
        return error.to_string();
    }
    format!("no {item} in PEM")
}

fn stamps(files: &TlsFiles) -> Result<[Stamp; 2], TlsFailure> {
    let certificate = Stamp::of(&files.certificate);
    let key = Stamp::of(&files.key);
    Ok([
        certificate.map_err(|error| TlsFailure::Certificate(error.to_string()))?,
        key.map_err(|error| TlsFailure::Key(error.to_string()))?,
    ])
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

#[cfg(test)]
mod tests;
