//! An action and its fate, as users see them.

use crate::error::Problem;
use domain::control::Status;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use store::{ActionStep, KeptAction};
use uuid::Uuid;
use wire::json;

/// An action and what became of it; times in epoch seconds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Action")]
pub(crate) struct ActionBody {
    action_uuid: Uuid,
    /// How far it has come.
    #[schemars(schema_with = "status")]
    status: &'static str,
    created_at: i64,
    /// Who asked.
    username: String,
    /// The body as it was sent.
    #[schemars(schema_with = "object")]
    action: Value,
    /// Null while it is in force.
    ended_at: Option<i64>,
    /// In the order of time.
    history: Vec<StepBody>,
}

/// A step of an action's fate.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActionStep")]
struct StepBody {
    #[schemars(schema_with = "status")]
    status: &'static str,
    at: i64,
    /// Why, for people.
    detail: String,
}

impl TryFrom<KeptAction> for ActionBody {
    type Error = Problem;

    fn try_from(it: KeptAction) -> Result<Self, Problem> {
        let action = json::parse(it.body.as_bytes());
        Ok(Self {
            action_uuid: it.action_uuid,
            status: it.status.as_str(),
            created_at: it.created_at.seconds(),
            username: it.username,
            action: action.map_err(|_| Problem::Internal("an action is no JSON".to_owned()))?,
            ended_at: it.ended_at.map(|it| it.seconds()),
            history: it.history.into_iter().map(StepBody::from).collect(),
        })
    }
}

impl From<ActionStep> for StepBody {
    fn from(step: ActionStep) -> Self {
        Self {
            status: step.status.as_str(),
            at: step.at.seconds(),
            detail: step.detail,
        }
    }
}

fn status(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": Status::ALL.map(Status::as_str)})
}

fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object"})
}
