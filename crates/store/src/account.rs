//! Users, and what they may do.

use crate::{Store, StoreFailure};
use sqlx::Row;

/// What a login is checked against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// argon2id, PHC string.
    pub password_hash: String,
    /// A disabled user cannot log in.
    pub disabled: bool,
}

/// What a user may do in a building.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Reads.
    Viewer,
    /// Reads and acts.
    Operator,
}

impl Role {
    /// The word that the fleet file and the database use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Viewer, Self::Operator]
            .into_iter()
            .find(|role| role.as_str() == word)
    }
}

impl Store {
    /// What a login of this user is checked against, if there is such a user.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn login(&self, username: &str) -> Result<Option<Login>, StoreFailure> {
        let row = sqlx::query("select password_hash, disabled from app_user where username = $1")
            .bind(username)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| {
            Ok(Login {
                password_hash: row.try_get("password_hash")?,
                disabled: row.try_get("disabled")?,
            })
        })
        .transpose()
    }
}
