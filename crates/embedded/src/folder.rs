//! Folders that servers can work in.

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path};

use tempfile::TempDir;

use crate::StartFailure;

/// Makes a folder for servers that is removed when dropped. Its path is short enough for a unix socket
/// (107 bytes) and it can be entered by the user that PostgreSQL runs as; what a server puts inside is still
/// its own.
pub fn temporary_folder() -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix("wattline-")
        .permissions(fs::Permissions::from_mode(0o711))
        .tempdir()
}

/// Makes `folder` and what is missing above it, and gives its absolute path.
pub(crate) fn make(folder: &Path) -> Result<std::path::PathBuf, StartFailure> {
    fs::create_dir_all(folder)
        .and_then(|()| folder.canonicalize())
        .map_err(StartFailure::about(folder))
}
