//! Folders that servers can work in.

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path};

use tempfile::TempDir;

use crate::StartFailure;

/// How the folders of [`temporary_folder`] begin.
const PREFIX: &str = "wattline-";

/// The file that names the process to which a folder belongs.
const OWNER: &str = "owner";

/// Makes a folder for servers that is removed when dropped. Its path is short enough for a unix socket
/// (107 bytes) and it can be entered by the user that PostgreSQL runs as; what a server puts inside is still
/// its own. Folders of processes that ended without dropping theirs are removed first.
pub fn temporary_folder() -> io::Result<TempDir> {
    remove_abandoned(&std::env::temp_dir());
    let folder = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(fs::Permissions::from_mode(0o711))
        .tempdir()?;
    fs::write(folder.path().join(OWNER), std::process::id().to_string())?;
    Ok(folder)
}

/// Best effort: another user's folders, and one that is just being made, are left alone.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let named = path.file_name().and_then(|name| name.to_str());
        if named.is_some_and(|name| name.starts_with(PREFIX))
            && is_abandoned(&path)
            && let Err(error) = fs::remove_dir_all(&path)
        {
            tracing::debug!(folder = %path.display(), %error, "abandoned folder stays");
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    let owner = fs::read_to_string(folder.join(OWNER)).ok();
    let owner = owner.and_then(|text| text.trim().parse::<u32>().ok());
    owner.is_some_and(|owner| !Path::new("/proc").join(owner.to_string()).exists())
}

/// Bytes that an ordinary user may still write on the disk that holds `folder`.
///
/// # Errors
/// When the folder cannot be asked about.
pub fn free_bytes(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Makes `folder` and what is missing above it, and gives its absolute path.
pub(crate) fn make(folder: &Path) -> Result<std::path::PathBuf, StartFailure> {
    fs::create_dir_all(folder)
        .and_then(|()| folder.canonicalize())
        .map_err(StartFailure::about(folder))
}
