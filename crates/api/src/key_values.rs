//! The key-value reads: the newest registration of each key.

use crate::error::Problem;
use crate::extract::{Found, Member};
use crate::state::Api;
use axum::extract::State;
use domain::electricity::Read;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use store::KeyValue;

/// What a key was last registered with: a string, a number or a boolean.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KeyValue")]
pub(crate) struct KeyValueBody {
    key: String,
    #[schemars(schema_with = "scalar")]
    value: Value,
    datetime: i64,
}

/// `GET …/keyvalue/actual/`
pub(crate) async fn actual(
    State(api): State<Api>,
    member: Member,
) -> Result<Found<Vec<KeyValueBody>>, Problem> {
    newest(&api, member, Read::Actual).await
}

/// `GET …/keyvalue/latest/`
pub(crate) async fn latest(
    State(api): State<Api>,
    member: Member,
) -> Result<Found<Vec<KeyValueBody>>, Problem> {
    newest(&api, member, Read::Latest).await
}

async fn newest(
    api: &Api,
    member: Member,
    read: Read,
) -> Result<Found<Vec<KeyValueBody>>, Problem> {
    let key_values = api.store.latest_key_values(member.building).await?;
    let now = api.now();
    let bodies: Vec<KeyValueBody> = key_values
        .into_iter()
        .filter(|it| read.gives(it.time, now))
        .map(KeyValueBody::try_from)
        .collect::<Result<_, _>>()?;
    Ok(Found((!bodies.is_empty()).then_some(bodies)))
}

impl TryFrom<KeyValue> for KeyValueBody {
    type Error = Problem;

    fn try_from(it: KeyValue) -> Result<Self, Problem> {
        let value = serde_json::from_str(&it.value);
        Ok(Self {
            key: it.key,
            value: value.map_err(|_| Problem::Internal("a value is no JSON".to_owned()))?,
            datetime: it.time.seconds(),
        })
    }
}

fn scalar(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "number", "boolean"]})
}
