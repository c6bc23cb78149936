//! Users, what they may do, and the refresh tokens that they were given.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::Row;
use uuid::Uuid;

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

/// A refresh token to be remembered until it is used or expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    /// The token's own identity.
    pub jti: Uuid,
    /// When it was made.
    pub issued_at: Timestamp,
    /// From when on it is worthless.
    pub expires_at: Timestamp,
}

/// Why a user gets no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginRefusal {
    /// As many tokens as a user may have are outstanding.
    TooManyOutstanding,
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

    /// Remembers a refresh token, unless `limit` of the user's are outstanding already. Logins of one
    /// user are counted one after the other, also over several processes.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn hand_out_refresh_token(
        &self,
        username: &str,
        token: RefreshToken,
        limit: i64,
    ) -> Result<Result<(), LoginRefusal>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query("select from app_user where username = $1 for update")
            .bind(username)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("delete from refresh_token where username = $1 and expires_at <= $2")
            .bind(username)
            .bind(Instant(token.issued_at))
            .execute(&mut *transaction)
            .await?;
        let outstanding: i64 = sqlx::query(include_str!("queries/count_outstanding.sql"))
            .bind(username)
            .fetch_one(&mut *transaction)
            .await?
            .try_get(0)?;
        if outstanding >= limit {
            return Ok(Err(LoginRefusal::TooManyOutstanding));
        }
        sqlx::query(include_str!("queries/hand_out_refresh_token.sql"))
            .bind(token.jti)
            .bind(username)
            .bind(Instant(token.issued_at))
            .bind(Instant(token.expires_at))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(Ok(()))
    }

    /// What a user may do in a building; `None` when the user is not linked to it, is disabled, or
    /// one of the two does not exist.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn role_of(
        &self,
        username: &str,
        building: Uuid,
    ) -> Result<Option<Role>, StoreFailure> {
        let row = sqlx::query(include_str!("queries/role_of.sql"))
            .bind(username)
            .bind(building)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let word: String = row.try_get("role")?;
        Ok(Role::parse(&word))
    }
}
