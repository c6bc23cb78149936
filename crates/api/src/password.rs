//! Password hashes: argon2id, as PHC strings.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{self, PasswordHasher, PasswordVerifier};
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
    let stored = PasswordHash::new(stored).map_err(|_| PasswordFailure::Stored)?;
    if stored.algorithm != argon2::ARGON2ID_IDENT {
        return Err(PasswordFailure::Stored);
    }
    match Argon2::default().verify_password(password.as_bytes(), &stored) {
        Ok(()) => Ok(true),
        Err(password_hash::Error::PasswordInvalid) => Ok(false),
        Err(_) => Err(PasswordFailure::Stored),
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
