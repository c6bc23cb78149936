//! `POST /public-api/token/`: a token pair for a user name and a password.

use crate::error::Problem;
use crate::extract::{ClientAddress, JsonObject};
use crate::limits::{
    FAILED_LOGIN_WINDOW, FAILED_LOGINS_BY_ADDRESS, FAILED_LOGINS_BY_NAME,
    OUTSTANDING_REFRESH_TOKENS, PASSWORD_CHECKS_AT_ONCE,
};
use crate::password::{self, PasswordFailure, Workspace};
use crate::state::Api;
use crate::token::TokenPair;
use axum::Json;
use axum::extract::State;
use domain::time::Timestamp;
use ops::metrics::Counter;
use std::sync::{Arc, Mutex, PoisonError};
use store::{Login, LoginAttempt, LoginLimit, LoginRefusal, RefreshToken};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

const LOGIN_LIMIT: LoginLimit = LoginLimit {
    by_name: FAILED_LOGINS_BY_NAME,
    by_address: FAILED_LOGINS_BY_ADDRESS,
    window: FAILED_LOGIN_WINDOW,
};

pub(crate) async fn log_in(
    State(api): State<Api>,
    ClientAddress(address): ClientAddress,
    JsonObject(mut fields): JsonObject,
) -> Result<Json<TokenPair>, Problem> {
    let username = fields.required_string("username");
    let password = fields.required_string("password");
    let (username, password) = fields.finish(username.zip(password))?;
    let attempt = LoginAttempt::new(username, address);
    let (issued, now) = check(&api, &attempt, password).await?;
    let (pair, token) = issued.unzip();
    let limit = OUTSTANDING_REFRESH_TOKENS;
    api.store
        .decide_login(&attempt, token, LOGIN_LIMIT, limit, now)
        .await?
        .map_err(|refusal| refuse(&api, refusal, now))?;
    pair.map(Json).ok_or(Problem::AuthenticationFailed)
}

/// What a right password is to be given, nothing for a wrong one, and the moment of the check. Attempts
/// that are refused in any case are not worth a check.
async fn check(
    api: &Api,
    attempt: &LoginAttempt,
    password: String,
) -> Result<(Option<(TokenPair, RefreshToken)>, Timestamp), Problem> {
    let now = api.now();
    let refused = api.store.login_refused_until(attempt, LOGIN_LIMIT, now);
    if let Some(until) = refused.await? {
        let refusal = LoginRefusal::TooManyFailures(until);
        return Err(refuse(api, refusal, now));
    }
    let login = stored_login(api, attempt.username()).await?;
    let right = api.passwords.check(password, login).await?;
    let now = api.now();
    let issue = || TokenPair::issue(&api.keys, attempt.username(), now);
    Ok((right.then(issue).transpose()?, now))
}

fn refuse(api: &Api, refusal: LoginRefusal, now: Timestamp) -> Problem {
    let (reason, problem) = match refusal {
        LoginRefusal::Wrong => ("wrong", Problem::AuthenticationFailed),
        LoginRefusal::TooManyFailures(until) => {
            let wait_s = until.seconds_from(now);
            ("too_many_failures", Problem::TooManyFailedLogins(wait_s))
        }
        LoginRefusal::TooManyOutstanding => {
            ("too_many_outstanding", Problem::TooManyOutstandingTokens)
        }
    };
    api.metrics
        .update(|update| update.add_labelled(Counter::ApiRefusedLogins, reason, 1));
    problem
}

async fn stored_login(api: &Api, username: &str) -> Result<Option<Login>, Problem> {
    // The database's texts hold no NUL, so no user has it in the name.
    if username.contains('\0') {
        return Ok(None);
    }
    Ok(api.store.login(username).await?)
}

/// Checks passwords, a bounded number at once, and an unknown user's at the same cost as a wrong one.
pub(crate) struct PasswordChecks {
    places: Arc<Semaphore>,
    /// Memory that no check is using; at most one for each place.
    workspaces: Arc<Mutex<Vec<Workspace>>>,
    /// What the password of nobody is checked against.
    nobody: String,
}

impl PasswordChecks {
    pub(crate) fn new() -> Result<Self, PasswordFailure> {
        Ok(Self {
            places: Arc::new(Semaphore::new(PASSWORD_CHECKS_AT_ONCE)),
            workspaces: Arc::default(),
            nobody: password::hash("")?,
        })
    }

    /// Whether the password is that of a user who exists and is not disabled.
    async fn check(&self, password: String, login: Option<Login>) -> Result<bool, Problem> {
        let may_log_in = login.as_ref().is_some_and(|login| !login.disabled);
        let stored = login.map_or_else(|| self.nobody.clone(), |login| login.password_hash);
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|error| Problem::Internal(error.to_string()))?;
        let workspaces = Arc::clone(&self.workspaces);
        let check = move || {
            let idle = || workspaces.lock().unwrap_or_else(PoisonError::into_inner);
            let mut workspace = idle().pop().unwrap_or_default();
            let checked = workspace.verify(&password, &stored);
            idle().push(workspace);
            // Held here, since the check goes on when the request is given up.
            drop(place);
            checked
        };
        let right = spawn_blocking(check)
            .await
            .map_err(|error| Problem::Internal(format!("password check: {error}")))??;
        Ok(right && may_log_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_of_an_enabled_user_logs_in() {
        let checks = PasswordChecks::new().unwrap();
        let password_hash = password::hash("secret").unwrap();
        let login = |disabled| {
            let password_hash = password_hash.clone();
            Some(Login {
                password_hash,
                disabled,
            })
        };
        assert_eq!(
            checks.check("secret".to_owned(), login(false)).await,
            Ok(true)
        );
        assert_eq!(
            checks.check("Secret".to_owned(), login(false)).await,
            Ok(false)
        );
        assert_eq!(
            checks.check("secret".to_owned(), login(true)).await,
            Ok(false)
        );
        assert_eq!(checks.check("secret".to_owned(), None).await, Ok(false));
        // Nobody's password is known, and logs nobody in.
        assert_eq!(checks.check(String::new(), None).await, Ok(false));
    }
}
