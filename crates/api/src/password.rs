//! Password hashes: argon2id, as PHC strings.

use argon2::password_hash::phc::{Output, PasswordHash};
use argon2::password_hash::{self, PasswordHasher};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use thiserror::Error;

/// A hash that cannot be made or read; says nothing about whether a password is right.
#[derive(Debug, Error)]
pub enum PasswordFailure {
    /// The password is too long, or the system gives no randomness.
    #[error("cannot hash a password: {0}")]
    Hash(password_hash::Error),
    /// What is stored is no argon2id hash.
    #[error("a stored password hash is none of argon2id")]
    Stored,
}

/// Hashes a password with a fresh salt; blocks for some 20 ms.
///
/// # Errors
/// When the system gives no randomness.
pub fn hash(password: &str) -> Result<String, PasswordFailure> {
    let hashed: PasswordHash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(PasswordFailure::Hash)?;
    Ok(hashed.to_string())
}

/// Whether `password` is the one that `stored` is the hash of; blocks for some 20 ms.
///
/// # Errors
/// When `stored` is not an argon2id hash.
pub fn verify(password: &str, stored: &str) -> Result<bool, PasswordFailure> {
    Workspace::default().verify(password, stored)
}

/// The memory that checks work in, 19 MiB a check. Kept from one check to the next: allocated anew by
/// ever other threads, it would stay with the allocator many times over.
#[derive(Default)]
pub(crate) struct Workspace(Vec<Block>);

impl Workspace {
    /// As [`verify`], in this memory.
    pub(crate) fn verify(&mut self, password: &str, stored: &str) -> Result<bool, PasswordFailure> {
        let unreadable = |_| PasswordFailure::Stored;
        let stored = PasswordHash::new(stored).map_err(unreadable)?;
        if stored.algorithm != argon2::ARGON2ID_IDENT {
            return Err(PasswordFailure::Stored);
        }
        let (Some(salt), Some(expected)) = (stored.salt, stored.hash) else {
            return Err(PasswordFailure::Stored);
        };
        let version = match stored.version {
            Some(version) => Version::try_from(version).map_err(|_| PasswordFailure::Stored)?,
            None => Version::default(),
        };
        let params = Params::try_from(&stored).map_err(|_| PasswordFailure::Stored)?;
        self.0.resize(params.block_count(), Block::default());
        let mut output = vec![0; expected.len()];
        Argon2::new(Algorithm::Argon2id, version, params)
            .hash_password_into_with_memory(
                password.as_bytes(),
                &salt,
                &mut output,
                self.0.as_mut_slice(),
            )
            .map_err(|_| PasswordFailure::Stored)?;
        // Outputs compare in constant time.
        let output = Output::new(&output).map_err(unreadable)?;
        Ok(output == expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_is_right() {
        let stored = hash("correct horse").unwrap();
        assert!(stored.starts_with("$argon2id$"), "{stored}");
        assert!(verify("correct horse", &stored).unwrap());
        assert!(!verify("correct horse ", &stored).unwrap());
        assert!(!verify("", &stored).unwrap());
        assert_ne!(hash("correct horse").unwrap(), stored);
    }

    #[test]
    fn what_is_no_argon2id_hash_is_a_failure_and_not_a_wrong_password() {
        let stored = hash("x").unwrap();
        for broken in [
            "",
            "x",
            "$argon2id$",
            &stored.replace("argon2id", "argon2i"),
        ] {
            assert!(verify("x", broken).is_err(), "{broken}");
        }
    }
}
