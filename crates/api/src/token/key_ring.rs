//! The signing keys of a process that runs, as its key file has them.

use crate::limits::KEY_FILE_INTERVAL;
use crate::token::{Claims, Issued, KeyFileFailure, Keys, SigningFailure, TokenKind, TokenRefusal};
use domain::time::Timestamp;
use ops::shutdown::Shutdown;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::time::sleep;

/// The keys of a key file, read again when the file changes; clones share them. A file that cannot be
/// used leaves the keys as they are.
#[derive(Clone, Debug)]
pub struct KeyRing(Arc<FollowedFile>);

#[derive(Debug)]
struct FollowedFile {
    path: PathBuf,
    keys: RwLock<Keys>,
    /// What the file was like when it was looked at last; held while it is read, so that an older
    /// content never takes the place of a newer one.
    looked_at: Mutex<Result<Stamp, String>>,
}

/// What changes with every change of a file, that of its owner and mode included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    changed_s: i64,
    changed_ns: i64,
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let file = fs::metadata(path)?;
        Ok(Self {
            device: file.dev(),
            inode: file.ino(),
            bytes: file.len(),
            changed_s: file.ctime(),
            changed_ns: file.ctime_nsec(),
        })
    }
}

impl KeyRing {
    /// Reads a key file.
    ///
    /// # Errors
    /// When the file cannot be read, has no key, or has a line that is none.
    pub fn open(path: &Path) -> Result<Self, KeyFileFailure> {
        // Before it is read: a change meanwhile is seen as one at the next look.
        let stamp = Stamp::of(path).map_err(|error| error.to_string());
        let keys = Keys::read(path)?;
        Ok(Self(Arc::new(FollowedFile {
            path: path.to_owned(),
            keys: RwLock::new(keys),
            looked_at: Mutex::new(stamp),
        })))
    }

    /// Looks at the file again and again until `shutdown`.
    pub(crate) async fn watch(&self, shutdown: &Shutdown) {
        let look = async {
            loop {
                sleep(KEY_FILE_INTERVAL).await;
                self.look();
            }
        };
        tokio::select! {
            () = shutdown.requested() => {}
            () = look => {}
        }
    }

    /// Reads the file if it has changed. Blocks for as long as a look at a small file takes.
    fn look(&self) {
        let mut looked_at = self
            .0
            .looked_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let stamp = Stamp::of(&self.0.path).map_err(|error| error.to_string());
        if *looked_at == stamp {
            return;
        }
        looked_at.clone_from(&stamp);
        // Told once for each change: the same state of the file is not looked at again.
        match Keys::read(&self.0.path) {
            Ok(keys) => {
                tracing::info!(?keys, "the key file has changed");
                *self.0.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
            }
            Err(failure) => {
                tracing::error!(%failure, "going on with the keys of before");
            }
        }
    }

    fn current(&self) -> Keys {
        self.0
            .keys
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// As [`Keys::issue`], signed by the newest key.
    pub(crate) fn issue(
        &self,
        kind: TokenKind,
        username: &str,
        now: Timestamp,
    ) -> Result<Issued, SigningFailure> {
        self.current().issue(kind, username, now)
    }

    /// As [`Keys::verify`]. A key that is not known may have come into the file this very moment and
    /// been used by another process: the file is looked at before the token is refused.
    pub(crate) fn verify(
        &self,
        kind: TokenKind,
        token: &str,
        now: Timestamp,
    ) -> Result<Claims, TokenRefusal> {
        match self.current().verify(kind, token, now) {
            Err(TokenRefusal::UnknownKey) => {
                self.look();
                self.current().verify(kind, token, now)
            }
            verified => verified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);

    fn key_file() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        Keys::new_key_first(&path).unwrap();
        (folder, path)
    }

    fn token(path: &Path) -> String {
        let keys = Keys::read(path).unwrap();
        keys.issue(TokenKind::Access, "ada", NOW).unwrap().token
    }

    fn accepts(ring: &KeyRing, token: &str) -> bool {
        ring.verify(TokenKind::Access, token, NOW).is_ok()
    }

    #[test]
    fn a_key_that_another_process_signs_with_already_is_known_at_once() {
        let (_folder, path) = key_file();
        let ring = KeyRing::open(&path).unwrap();
        let old = token(&path);
        Keys::new_key_first(&path).unwrap();
        let new = token(&path);
        assert!(accepts(&ring, &new) && accepts(&ring, &old));
        let signed = ring.issue(TokenKind::Access, "ada", NOW).unwrap().token;
        assert!(
            Keys::read(&path)
                .unwrap()
                .verify(TokenKind::Access, &signed, NOW)
                .is_ok()
        );
    }

    #[test]
    fn a_retired_key_is_worth_nothing_after_the_next_look() {
        let (_folder, path) = key_file();
        let old = token(&path);
        let kid = Keys::kids(&path).unwrap().remove(0);
        Keys::new_key_first(&path).unwrap();
        let ring = KeyRing::open(&path).unwrap();
        assert!(accepts(&ring, &old));
        Keys::retire(&path, &kid).unwrap();
        ring.look();
        assert!(!accepts(&ring, &old));
    }

    #[test]
    fn a_broken_or_missing_file_leaves_the_keys_as_they_are_until_it_is_mended() {
        let (_folder, path) = key_file();
        let ring = KeyRing::open(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let old = token(&path);
        let breaks: [&dyn Fn(); 2] = [&|| fs::write(&path, "nonsense\n").unwrap(), &|| {
            fs::remove_file(&path).unwrap()
        }];
        for break_it in breaks {
            break_it();
            ring.look();
            assert!(accepts(&ring, &old));
        }
        let line = Keys::generate_line().unwrap();
        fs::write(&path, format!("{line}\n{text}")).unwrap();
        assert!(accepts(&ring, &token(&path)) && accepts(&ring, &old));
    }

    #[test]
    fn a_change_of_owner_or_mode_alone_is_a_change() {
        let (_folder, path) = key_file();
        let before = Stamp::of(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_ne!(Stamp::of(&path).unwrap(), before);
    }
}
