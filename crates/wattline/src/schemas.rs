//! `wattline schemas`: one JSON object of the JSON Schemas, by record name.

use crate::failure::Failure;
use crate::output;
use serde_json::{Map, Value};
use wire::schema::SCHEMAS;

pub(crate) fn run() -> Result<(), Failure> {
    let mut schemas = Map::new();
    for (kind, text) in SCHEMAS {
        let schema: Value = serde_json::from_str(text)
            .map_err(|error| Failure::Running(format!("schema of {}: {error}", kind.as_str())))?;
        schemas.insert(kind.as_str().to_owned(), schema);
    }
    Ok(output::line(&format!("{:#}", Value::Object(schemas)))?)
}
