//! The refresh tokens that users were given: handed out, used once, cleared away.

use crate::instant::Instant;
use crate::login_attempt::LoginRefusal;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

/// A refresh token to be remembered until it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    /// The token's own identity.
    pub jti: Uuid,
    /// When it was made.
    pub issued_at: Timestamp,
    /// From when on it is worthless.
    pub expires_at: Timestamp,
}

/// Why a refresh token is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshRefusal {
    /// It was used or revoked.
    Blacklisted,
    /// Its user is disabled or does not exist any more.
    Inactive,
}

/// How many rows were cleared away, because they count for nothing any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Expired refresh tokens.
    pub refresh_tokens: u64,
    /// Failed logins that count no longer.
    pub login_failures: u64,
    /// Budgets of users who have not come for a while.
    pub budgets: u64,
}

/// Rows cleared away in one statement, so that none takes long.
const CLEARED_AT_ONCE: i64 = 10_000;

impl Store {
    /// Puts `successor` in the place of the token `used`, once: of all who try, over all processes,
    /// one succeeds.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn refresh(
        &self,
        username: &str,
        used: Uuid,
        successor: RefreshToken,
    ) -> Result<Result<(), RefreshRefusal>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        if !lock_active_user(&mut transaction, username).await? {
            transaction.rollback().await?;
            return Ok(Err(RefreshRefusal::Inactive));
        }
        let blacklisted = sqlx::query(include_str!("queries/use_refresh_token.sql"))
            .bind(used)
            .bind(username)
            .bind(Instant(successor.issued_at))
            .execute(&mut *transaction)
            .await?
            .rows_affected();
        if blacklisted == 0 {
            transaction.rollback().await?;
            return Ok(Err(RefreshRefusal::Blacklisted));
        }
        remember(&mut transaction, username, successor).await?;
        transaction.commit().await?;
        Ok(Ok(()))
    }

    /// Clears away what counts for nothing any more: refresh tokens that have expired at `now`, failed
    /// logins until `failed_before`, budgets whose window began before `budgets_before`. Any number of
    /// processes may do so at once.
    ///
    /// # Errors
    /// When the database does not answer; what was cleared by then stays so.
    pub async fn clear_accounts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        budgets_before: Timestamp,
    ) -> Result<Cleared, StoreFailure> {
        Ok(Cleared {
            refresh_tokens: self
                .clear(include_str!("queries/clear_refresh_tokens.sql"), now)
                .await?,
            login_failures: self
                .clear(
                    include_str!("queries/clear_login_failures.sql"),
                    failed_before,
                )
                .await?,
            budgets: self
                .clear(include_str!("queries/clear_budgets.sql"), budgets_before)
                .await?,
        })
    }

    async fn clear(&self, statement: &str, until: Timestamp) -> Result<u64, StoreFailure> {
        let mut cleared = 0;
        loop {
            let more = sqlx::query(statement)
                .bind(Instant(until))
                .bind(CLEARED_AT_ONCE)
                .execute(&self.pool)
                .await?
                .rows_affected();
            cleared += more;
            if more < CLEARED_AT_ONCE.unsigned_abs() {
                return Ok(cleared);
            }
        }
    }
}

/// Remembers a refresh token, unless `limit` of the user's are outstanding already. Logins of one user
/// are counted one after the other, also over several processes.
pub(crate) async fn hand_out(
    connection: &mut PgConnection,
    username: &str,
    token: RefreshToken,
    limit: i64,
) -> Result<Result<(), LoginRefusal>, StoreFailure> {
    // Disabled or deleted since the password was looked at.
    if !lock_active_user(connection, username).await? {
        return Ok(Err(LoginRefusal::Wrong));
    }
    sqlx::query("delete from refresh_token where username = $1 and expires_at <= $2")
        .bind(username)
        .bind(Instant(token.issued_at))
        .execute(&mut *connection)
        .await?;
    let outstanding: i64 = sqlx::query(include_str!("queries/count_outstanding.sql"))
        .bind(username)
        .fetch_one(&mut *connection)
        .await?
        .try_get(0)?;
    if outstanding >= limit {
        return Ok(Err(LoginRefusal::TooManyOutstanding));
    }
    remember(connection, username, token).await?;
    Ok(Ok(()))
}

/// Makes whoever else hands out or takes tokens of the user wait; false without such a user who may
/// log in. Always before any of the tokens is locked, so that nobody waits in a ring.
async fn lock_active_user(
    connection: &mut PgConnection,
    username: &str,
) -> Result<bool, StoreFailure> {
    let statement = "select from app_user where username = $1 and not disabled for no key update";
    let locked = sqlx::query(statement)
        .bind(username)
        .fetch_optional(connection)
        .await?;
    Ok(locked.is_some())
}

async fn remember(
    connection: &mut PgConnection,
    username: &str,
    token: RefreshToken,
) -> Result<(), StoreFailure> {
    sqlx::query(include_str!("queries/hand_out_refresh_token.sql"))
        .bind(token.jti)
        .bind(username)
        .bind(Instant(token.issued_at))
        .bind(Instant(token.expires_at))
        .execute(connection)
        .await?;
    Ok(())
}
