//! What a server needs to speak TLS, and its files.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::StartFailure;

/// A server's certificate and key, and whose clients it asks for a certificate; all in PEM.
#[derive(Clone, Debug)]
pub struct ServerCertificate {
    /// The certificate, behind it what leads to an authority.
    pub certificate: String,
    /// Its private key (PKCS #8).
    pub key: String,
    /// The authority whose certificates clients must show; without it they show none.
    pub clients: Option<String>,
}

/// Where a server finds them.
#[derive(Clone, Debug)]
pub(crate) struct CertificateFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) clients: Option<PathBuf>,
}

impl ServerCertificate {
    /// Writes the files into `folder`; only the owner may read the key.
    pub(crate) fn write(&self, folder: &Path) -> Result<CertificateFiles, StartFailure> {
        let files = CertificateFiles {
            certificate: folder.join("server.crt"),
            key: folder.join("server.key"),
            clients: self.clients.as_ref().map(|_| folder.join("clients.crt")),
        };
        write(&files.certificate, &self.certificate)?;
        write(&files.key, &self.key)?;
        if let (Some(path), Some(authority)) = (&files.clients, &self.clients) {
            write(path, authority)?;
        }
        Ok(files)
    }
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), StartFailure> {
    const OWNER_ONLY: u32 = 0o600;
    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(OWNER_ONLY)))
        .map_err(StartFailure::about(path))
}
