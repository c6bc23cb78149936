//! `wattline openapi` and `wattline asyncapi`: the documents of the HTTP API and of the topics.

use crate::failure::Failure;
use crate::output;

/// Prints the OpenAPI document.
pub(crate) fn run_openapi() -> Result<(), Failure> {
    Ok(output::line(&format!("{:#}", api::openapi()))?)
}

/// Prints the AsyncAPI document.
pub(crate) fn run_asyncapi() -> Result<(), Failure> {
    let document = wire::asyncapi::document()
        .map_err(|error| Failure::Running(format!("a compiled schema: {error}")))?;
    Ok(output::line(&format!("{document:#}"))?)
}
