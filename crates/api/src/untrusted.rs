//! What strangers send, read as the service reads it, without a service around it: this is where fuzz targets come in.

use crate::error::Problem;
use crate::extract::{JsonText, Parameters};
use crate::token::{Keys, TokenKind};
use crate::{actions, comfort, electricity, grid_limits, meter_readings};
use axum::http::Uri;
use domain::control::State;
use domain::sensor::SensorKind;
use domain::time::Timestamp;
use std::collections::HashMap;
use store::{Facts, Sensor};
use uuid::Uuid;

/// How a request is answered without asking the database for more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is taken.
    Taken,
    /// It is refused; for a 400, the places of the rules that it breaks.
    Refused(Vec<String>),
    /// The service would say that it failed: never to be seen.
    Failed(String),
}

/// Whose token it is, if it is an access token, or a refresh token, that is worth something at `now`.
#[must_use]
pub fn token_user(keys: &Keys, token: &str, refreshes: bool, now: Timestamp) -> Option<String> {
    let kind = if refreshes {
        TokenKind::Refresh
    } else {
        TokenKind::Access
    };
    let claims = keys.verify(kind, token, now).ok()?;
    Some(claims.sub)
}

/// How each read that has parameters would answer an address with these, in a building with these sensors.
#[must_use]
pub fn reads(uri: &Uri, sensors: &[Sensor]) -> Vec<Answer> {
    let parameters = match Parameters::of(uri) {
        Ok(parameters) => parameters,
        Err(problem) => return vec![answer(Err(problem))],
    };
    vec![
        answer(electricity::asked::Asked::of(&parameters, sensors).map(drop)),
        answer(comfort::asked::Asked::of(&parameters, sensors).map(drop)),
        answer(meter_readings::asked::Asked::of(&parameters).map(drop)),
        answer(grid_limits::asked::Listed::of(&parameters).map(drop)),
    ]
}

/// How an action with this body would be answered, in a building with these sensors where nothing is in force.
#[must_use]
pub fn action(body: &[u8], sensors: &HashMap<Uuid, SensorKind>, now: Timestamp) -> Answer {
    let judged = JsonText::of(body.to_vec()).and_then(|read| {
        let state = State::default();
        let facts = Facts {
            state: &state,
            sensors,
        };
        actions::asked::Asked::of(read.fields, now).judge(facts)
    });
    answer(judged.map(drop))
}

fn answer(outcome: Result<(), Problem>) -> Answer {
    match outcome {
        Ok(()) => Answer::Taken,
        Err(Problem::Invalid(violations)) => {
            Answer::Refused(violations.into_iter().map(|it| it.field).collect())
        }
        Err(Problem::Internal(cause) | Problem::Unavailable(cause)) => Answer::Failed(cause),
        Err(_) => Answer::Refused(Vec::new()),
    }
}
