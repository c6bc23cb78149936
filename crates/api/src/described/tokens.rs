//! The token endpoints.

use crate::description::{Answer, Content, Description, Rule};
use crate::error::Problem;
use crate::example;
use crate::limits::FAILED_LOGIN_WINDOW;
use crate::token::TokenPair;
use schemars::JsonSchema;
use serde_json::{Value, json};

/// A user name and a password.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "bodies are taken apart by extract::fields; this is their schema"
)]
struct Credentials {
    username: String,
    password: String,
}

/// A refresh token.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "bodies are taken apart by extract::fields; this is their schema"
)]
struct Refresh {
    /// The newest refresh token that the user was given.
    refresh: String,
}

pub(crate) fn log_in() -> Description {
    Description {
        id: "logIn",
        subject: "Tokens",
        summary: "Gives a token pair for a user name and a password",
        text: "An access token is valid for 15 minutes, a refresh token for 60 days. A user has at \
               most 50 outstanding refresh tokens: refreshing replaces one, logging in adds one. After \
               5 failed logins with one name, or 20 from one address, within 15 minutes every attempt \
               is 429 until the window has passed.",
        request: Some(Content::json::<Credentials>(json!({
            "username": "ada", "password": "correct horse battery staple",
        }))),
        answers: vec![Answer::ok::<TokenPair>("A token pair.", pair())],
        rules: vec![
            Rule::new("/username", "required", "username must be there"),
            Rule::new("/username", "not_a_string", "username must be a string"),
            Rule::new("/password", "required", "password must be there"),
            Rule::new("/password", "not_a_string", "password must be a string"),
        ],
        problems: vec![
            Problem::AuthenticationFailed,
            Problem::TooManyOutstandingTokens,
            Problem::TooManyFailedLogins(FAILED_LOGIN_WINDOW.as_secs()),
        ],
        ..Description::default()
    }
}

pub(crate) fn refresh() -> Description {
    Description {
        id: "refreshTokens",
        subject: "Tokens",
        summary: "Gives a token pair for a refresh token, which is used up",
        text: "A refresh token can be used once; a later use is 401. Of two concurrent uses one \
               succeeds.",
        request: Some(Content::json::<Refresh>(
            json!({"refresh": example::REFRESH_TOKEN}),
        )),
        answers: vec![Answer::ok::<TokenPair>("A new token pair.", pair())],
        rules: vec![
            Rule::new("/refresh", "required", "refresh must be there"),
            Rule::new("/refresh", "not_a_string", "refresh must be a string"),
        ],
        problems: vec![Problem::TokenNotValid("Token is blacklisted")],
        ..Description::default()
    }
}

fn pair() -> Value {
    json!({"access": example::ACCESS_TOKEN, "refresh": example::REFRESH_TOKEN})
}
