//! Attempts to log in, and the failures that make the next ones wait.

use crate::instant::Instant;
use crate::refresh_token::{self, RefreshToken};
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgExecutor, Row};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Classes of advisory locks: a transaction takes that of the name, then that of the address, always in
/// this order, so that none wait for each other in a ring.
const NAME_LOCK: i32 = 1;
const ADDRESS_LOCK: i32 = 2;

/// Who tries to log in, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginAttempt {
    username: String,
    name_sha256: [u8; 32],
    address: String,
}

/// How many failures are borne before attempts are refused whatever the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginLimit {
    /// Failures for one user name, whether there is such a user or not.
    pub by_name: i64,
    /// Failures from one address; of IPv6 from one /64 network.
    pub by_address: i64,
    /// For how long a failure counts.
    pub window: Duration,
}

/// Why an attempt to log in gets no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginRefusal {
    /// There were too many failures; attempts are looked at again from this moment on.
    TooManyFailures(Timestamp),
    /// The password is wrong, or the user unknown or disabled; counted as a failure.
    Wrong,
    /// As many tokens as a user may have are outstanding.
    TooManyOutstanding,
}

impl LoginAttempt {
    /// An attempt as `username` from `address`.
    #[must_use]
    pub fn new(username: String, address: IpAddr) -> Self {
        Self {
            name_sha256: Sha256::digest(&username).into(),
            username,
            address: counted_address(address),
        }
    }

    /// The name, as given.
    #[must_use]
    pub fn username(&self) -> &str {
        &self.username
    }
}

/// What counts as one address: a customer has one IPv4 address, but 2^64 of IPv6 at least.
fn counted_address(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

impl Store {
    /// Until when attempts like this one are refused whatever the password, if they are at `now`. For
    /// saving the work of checking a password; [`Store::decide_login`] decides.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn login_refused_until(
        &self,
        attempt: &LoginAttempt,
        limit: LoginLimit,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreFailure> {
        refused_until(&self.pool, attempt, limit, now).await
    }

    /// Decides on an attempt whose password was looked at: `token` is what a right one is to be given,
    /// `None` stands for a wrong one, which is counted. A user has at most `outstanding` tokens. Attempts
    /// of one name, and of one address, are decided one after the other, over all processes.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn decide_login(
        &self,
        attempt: &LoginAttempt,
        token: Option<RefreshToken>,
        limit: LoginLimit,
        outstanding: i64,
        now: Timestamp,
    ) -> Result<Result<(), LoginRefusal>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        lock(&mut transaction, attempt).await?;
        if let Some(until) = refused_until(&mut *transaction, attempt, limit, now).await? {
            transaction.rollback().await?;
            return Ok(Err(LoginRefusal::TooManyFailures(until)));
        }
        let decision = match token {
            Some(token) => {
                refresh_token::hand_out(&mut transaction, &attempt.username, token, outstanding)
                    .await?
            }
            None => Err(LoginRefusal::Wrong),
        };
        if decision == Err(LoginRefusal::Wrong) {
            sqlx::query(include_str!("queries/keep_login_failure.sql"))
                .bind(attempt.name_sha256.as_slice())
                .bind(&attempt.address)
                .bind(Instant(now))
                .bind(Instant(now.minus(limit.window)))
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(decision)
    }
}

async fn lock(connection: &mut PgConnection, attempt: &LoginAttempt) -> Result<(), StoreFailure> {
    let address_sha256: [u8; 32] = Sha256::digest(&attempt.address).into();
    // Two names or addresses that share a key wait for each other without need, and that is all.
    for (class, [a, b, c, d, ..]) in [
        (NAME_LOCK, attempt.name_sha256),
        (ADDRESS_LOCK, address_sha256),
    ] {
        sqlx::query("select pg_advisory_xact_lock($1, $2)")
            .bind(class)
            .bind(i32::from_be_bytes([a, b, c, d]))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

async fn refused_until(
    executor: impl PgExecutor<'_>,
    attempt: &LoginAttempt,
    limit: LoginLimit,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreFailure> {
    let decisive: Option<Instant> = sqlx::query(include_str!("queries/decisive_failure.sql"))
        .bind(attempt.name_sha256.as_slice())
        .bind(&attempt.address)
        .bind(Instant(now.minus(limit.window)))
        .bind(limit.by_name)
        .bind(limit.by_address)
        .fetch_one(executor)
        .await?
        .try_get("failed_at")?;
    Ok(decisive.map(|Instant(failed_at)| failed_at.plus(limit.window)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_customer_is_one_address() {
        let check = |address: &str, counted: &str| {
            assert_eq!(
                counted_address(address.parse().unwrap()),
                counted,
                "{address}"
            );
        };
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:db8:1:2::7", "2001:db8:1:2::/64");
        check("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64");
        check("2001:db8:1:3::7", "2001:db8:1:3::/64");
        check("::1", "::/64");
    }
}
