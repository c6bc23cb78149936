//! The key file: a key a line, `kid base64(32 bytes)`, the newest first; `#` starts a comment line.

use crate::token::{Key, Keys};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rand::TryRng;
use rand::rngs::SysRng;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use thiserror::Error;
use uuid::Uuid;

/// Length of a secret: as long as the hash that signs, and random, so nobody guesses it.
const SECRET_BYTES: usize = 32;
/// Random bytes in a key's id: enough never to meet twice in one file.
const KID_BYTES: usize = 6;
/// Longest id that is read; every token carries it.
const MAX_KID_BYTES: usize = 64;
/// The owner alone reads and writes.
const MODE: u32 = 0o600;

/// A key file that cannot be used. Names lines, never their content.
#[derive(Debug, Error)]
pub enum KeyFileFailure {
    /// The file cannot be read or written.
    #[error("key file {}: {error}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line is not `kid base64(32 bytes)`, or its kid stands in the file already.
    #[error("key file line {line}: expected {expected}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// No line has a key with this id.
    #[error("the key file has no key {0}")]
    Unknown(String),
    /// The key signs: without it nobody could be given a token, and all who have one would be logged out.
    #[error("key {0} is the newest and signs: put a fresh one before it first")]
    Newest(String),
    /// No line has a key.
    #[error("the key file has no key: make one with `wattline admin token new-key`")]
    Empty,
    /// The system gives no random bytes.
    #[error("no random bytes for a key: {0}")]
    Randomness(String),
}

impl Keys {
    /// Reads the keys of a file; the first one signs.
    ///
    /// # Errors
    /// When the file cannot be read, has no key, or has a line that is none.
    pub fn read(path: &Path) -> Result<Self, KeyFileFailure> {
        Self::parse(&read_text(path)?)
    }

    /// Reads the keys of a file's text.
    ///
    /// # Errors
    /// When it has no key, or a line that is none.
    pub fn parse(text: &str) -> Result<Self, KeyFileFailure> {
        let mut keys: Vec<Key> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let refuse = |expected| KeyFileFailure::Line {
                line: line_number,
                expected,
            };
            let key = parse_line(line).map_err(refuse)?;
            if keys.iter().any(|other| other.kid == key.kid) {
                return Err(refuse("a key id that no other line has"));
            }
            keys.push(key);
        }
        let mut keys = keys.into_iter();
        let newest = keys.next().ok_or(KeyFileFailure::Empty)?;
        Ok(Self::new(newest, keys.collect()))
    }

    /// A line with a fresh key, without the line's end.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn generate_line() -> Result<String, KeyFileFailure> {
        let kid = URL_SAFE_NO_PAD.encode(random::<KID_BYTES>()?);
        let secret = STANDARD.encode(random::<SECRET_BYTES>()?);
        Ok(format!("{kid} {secret}"))
    }

    /// Puts a fresh key first into a key file, which is made when missing; gives its id. Whoever
    /// reads the file meanwhile sees the old one or the new one, which only its owner can read.
    ///
    /// # Errors
    /// When the file cannot be written, or what stands in it is no key file.
    pub fn new_key_first(path: &Path) -> Result<String, KeyFileFailure> {
        let line = Self::generate_line()?;
        let kid = kid_of(&line).unwrap_or_default().to_owned();
        edit(path, |old| {
            match Self::parse(old) {
                Ok(_) | Err(KeyFileFailure::Empty) => {}
                Err(failure) => return Err(failure),
            }
            Ok(format!("{line}\n{old}"))
        })?;
        Ok(kid)
    }

    /// The ids of a key file's keys, newest first: the first one signs, all verify.
    ///
    /// # Errors
    /// As [`Keys::read`].
    pub fn kids(path: &Path) -> Result<Vec<String>, KeyFileFailure> {
        let keys = Self::read(path)?;
        Ok(keys.all().map(|key| key.kid.clone()).collect())
    }

    /// Takes a key out of a key file: what it signed is worth nothing from then on (processes that
    /// run notice within a second or so). To log nobody out, wait until the last refresh token that it
    /// signed has expired: 60 days after a fresh key was put before it.
    ///
    /// # Errors
    /// When the file has no such key ([`KeyFileFailure::Unknown`]), when the key is the newest, be it
    /// the only one ([`KeyFileFailure::Newest`]), when the file cannot be written or is no key file.
    pub fn retire(path: &Path, kid: &str) -> Result<(), KeyFileFailure> {
        edit(path, |old| {
            let keys = Self::parse(old)?;
            if !keys.all().any(|key| key.kid == kid) {
                return Err(KeyFileFailure::Unknown(kid.to_owned()));
            }
            if keys.0.newest.kid == kid {
                return Err(KeyFileFailure::Newest(kid.to_owned()));
            }
            let kept = old.lines().filter(|line| kid_of(line) != Some(kid));
            Ok(kept.flat_map(|line| [line, "\n"]).collect())
        })
    }
}

/// The id in a line of a key file that is fit to be one; none in a comment.
fn kid_of(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    (!word.starts_with('#')).then_some(word)
}

/// Replaces the text of a key file, empty when the file is missing, by what `change` makes of it. One
/// edit after the other, over all processes: none takes away the key that another one has just put in.
fn edit(
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, KeyFileFailure>,
) -> Result<(), KeyFileFailure> {
    let fail = |error| KeyFileFailure::Io {
        path: path.to_owned(),
        error,
    };
    // A link keeps pointing where it points.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    // The folder and not the file, which is another one after each edit; unlocked when closed.
    let folder = File::open(folder.unwrap_or(Path::new("."))).map_err(fail)?;
    folder.lock().map_err(fail)?;
    let old = match read_text(path) {
        Ok(text) => text,
        Err(KeyFileFailure::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            String::new()
        }
        Err(failure) => return Err(failure),
    };
    let fresh = change(&old)?;
    replace(path, &fresh)
        .and_then(|()| folder.sync_all())
        .map_err(fail)
}

fn read_text(path: &Path) -> Result<String, KeyFileFailure> {
    fs::read_to_string(path).map_err(|error| KeyFileFailure::Io {
        path: path.to_owned(),
        error,
    })
}

fn parse_line(line: &str) -> Result<Key, &'static str> {
    let mut words = line.split_whitespace();
    let (Some(kid), Some(secret), None) = (words.next(), words.next(), words.next()) else {
        return Err("a key id, a space and the base64 of 32 bytes");
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if kid.len() > MAX_KID_BYTES || !kid.bytes().all(plain) {
        return Err("a key id of at most 64 letters, digits, '-', '_' and '.'");
    }
    match STANDARD.decode(secret) {
        Ok(secret) if secret.len() == SECRET_BYTES => Ok(Key::new(kid, &secret)),
        Ok(_) | Err(_) => Err("the base64 of 32 bytes after the key id"),
    }
}

fn random<const N: usize>() -> Result<[u8; N], KeyFileFailure> {
    let mut bytes = [0; N];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| KeyFileFailure::Randomness(error.to_string()))?;
    Ok(bytes)
}

/// Writes a file beside the old one, and puts it in its place once it is on the disk.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path
        .file_name()
        .ok_or(io::ErrorKind::InvalidFilename)?
        .to_string_lossy();
    let owner = fs::metadata(path).ok().map(|old| (old.uid(), old.gid()));
    let fresh = path.with_file_name(format!(".{name}.{}", Uuid::new_v4().simple()));
    let written = write_fresh(&fresh, text, owner).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() && fresh.exists() {
        fs::remove_file(&fresh)?;
    }
    written
}

fn write_fresh(path: &Path, text: &str, owner: Option<(u32, u32)>) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    let made = file.metadata()?;
    if let Some((user, group)) = owner.filter(|it| *it != (made.uid(), made.gid())) {
        // An administrator's edit must leave the file to the service's own user.
        fchown(&file, Some(user), Some(group))?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const SECRET: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

    #[test]
    fn a_key_file_is_read_newest_first() {
        let text = format!("# keys\n\nb {SECRET}\n  a\t{SECRET}  \n");
        let keys = Keys::parse(&text).unwrap();
        assert_eq!(format!("{keys:?}"), r#"["b", "a"]"#);
    }

    #[test]
    fn a_broken_line_is_named_and_its_content_is_not_told() {
        let check = |text: &str, line: &str| {
            let told = Keys::parse(text).unwrap_err().to_string();
            assert!(told.contains(line), "{told}");
            assert!(!told.contains("AAAA"), "{told}");
        };
        check("", "no key");
        check("# only words\n", "no key");
        check(
            &format!("a {SECRET}\na {SECRET}"),
            "line 2: expected a key id that no other",
        );
        check("a", "line 1");
        check(SECRET, "line 1");
        check(&format!("a {SECRET} more"), "line 1");
        check(
            &format!("a/b {SECRET}"),
            "line 1: expected a key id of at most",
        );
        check("a AAAA", "line 1: expected the base64 of 32 bytes");
        check("a ????", "line 1: expected the base64 of 32 bytes");
    }

    #[test]
    fn a_new_key_comes_first_and_only_the_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let first = Keys::new_key_first(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let second = Keys::new_key_first(&path).unwrap();
        let keys = Keys::read(&path).unwrap();
        assert_eq!(format!("{keys:?}"), format!("{:?}", [second, first]));
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_no_key_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        fs::write(&path, "[section]\n").unwrap();
        assert!(Keys::new_key_first(&path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "[section]\n");
        assert!(Keys::read(&folder.path().join("none")).is_err());
    }

    #[test]
    fn an_old_key_is_retired_and_the_one_that_signs_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let text = format!("# c is of May\nc {SECRET}\n\n  b {SECRET}\na {SECRET}");
        fs::write(&path, text).unwrap();
        let refused = |kid| Keys::retire(&path, kid).unwrap_err().to_string();
        assert!(refused("c").contains("newest"));
        assert!(refused("#").contains("no key #"));
        assert!(refused("d").contains("no key d"));
        Keys::retire(&path, "b").unwrap();
        let kept = format!("# c is of May\nc {SECRET}\n\na {SECRET}\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), kept);
        Keys::retire(&path, "a").unwrap();
        assert_eq!(Keys::kids(&path).unwrap(), ["c"]);
        assert!(refused("c").contains("newest"));
        assert!(Keys::retire(&folder.path().join("none"), "a").is_err());
    }

    #[test]
    fn keys_that_are_made_at_once_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let mut made: Vec<String> = std::thread::scope(|scope| {
            let make = || Keys::new_key_first(&path).unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let mut kept = Keys::kids(&path).unwrap();
        made.sort();
        kept.sort();
        assert_eq!(kept, made);
    }
}
