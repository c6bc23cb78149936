//! The OpenAPI document: made from the table of operations and from what each says of itself, so
//! that none can be missing in it.

mod headers;
mod page;
mod problems;
mod schemas;
mod serve;

use crate::description::{Answer, Content, Parameter};
use crate::error;
use crate::example;
use crate::router::{Access, Operation, operations};
use schemas::Schemas;
use serde_json::{Map, Value, json};
pub(crate) use serve::{json, page};

/// The interface specification's own label.
const INTERFACE_VERSION: &str = "0.0.0";

const ABOUT: &str = "\
Reads what the energy controllers of buildings send, tells them what users wish, and manages the grid \
limit schedule.

- Every path ends in `/`; one without it is answered like the one with it. HEAD is answered like GET, \
without a body.
- Times are epoch seconds, UTC, unless a property says otherwise. An interval is told by its start.
- Every error is `application/problem+json` (RFC 9457) with a stable `code`. A method that a path has \
not is 405 with `Allow`; a path that does not exist is 404, and 401 without a valid token.
- A building that does not exist and one that the user is not linked to are answered alike: 404.
- Unknown query parameters are passed over; unknown properties of a body are refused.
- Requests with a valid access token count against the user's hour: 500 for each linked building, at \
least 500.";

/// The document; always the same for one binary.
#[must_use]
pub fn document() -> Value {
    let mut schemas = Schemas::new();
    schemas.answers.subschema_for::<error::Document<'static>>();
    let mut shared = Shared::default();
    shared.responses.insert(
        "MethodNotAllowed".to_owned(),
        problems::method_not_allowed(),
    );
    let mut paths: Map<String, Value> = Map::new();
    let mut tags: Vec<&str> = Vec::new();
    for operation in operations() {
        let subject = (operation.describe)().subject;
        if !tags.contains(&subject) {
            tags.push(subject);
        }
        let method = operation.method.as_str().to_ascii_lowercase();
        let path = paths
            .entry(documented_path(operation.path))
            .or_insert_with(|| json!({}));
        path[method] = self::operation(&operation, &mut schemas, &mut shared);
    }
    json!({
        "openapi": "3.1.1",
        "info": {"title": "wattline", "version": INTERFACE_VERSION, "description": ABOUT},
        "servers": [{"url": "/"}],
        "tags": tags.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {
                "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                "description": "The access token of `POST /public-api/token/`; valid 15 minutes.",
            }},
            "headers": headers::components(),
            "responses": shared.responses,
            "schemas": schemas.components(),
        },
    })
}

/// A file's path is told without the slash that the router gives it.
fn documented_path(path: &str) -> String {
    match path.strip_suffix(".json/") {
        Some(file) => format!("{file}.json"),
        None => path.to_owned(),
    }
}

fn operation(operation: &Operation, schemas: &mut Schemas, shared: &mut Shared) -> Value {
    let description = (operation.describe)();
    let acts = operation.access == Access::Building && !operation.method.is_safe();
    let text = if acts {
        format!("{} Only for operators of the building.", description.text)
    } else {
        description.text.to_owned()
    };
    let security = match operation.access {
        Access::Open => json!([]),
        Access::User | Access::Building => json!([{"bearer": []}]),
    };
    let mut told = json!({
        "operationId": description.id,
        "tags": [description.subject],
        "summary": description.summary,
        "description": text,
        "security": security,
    });
    let building = (operation.access == Access::Building)
        .then(|| Parameter::path_uuid("building", "The building's uuid.", example::BUILDING));
    let parameters: Vec<Value> = building
        .iter()
        .chain(&description.parameters)
        .map(parameter)
        .collect();
    if !parameters.is_empty() {
        told["parameters"] = parameters.into();
    }
    if let Some(request) = &description.request {
        let schema = (request.schema)(&mut schemas.requests);
        told["requestBody"] = json!({"required": true, "content": content(request, schema.into())});
    }
    let mut responses = Map::new();
    for answer in &description.answers {
        let told = self::answer(operation.access, answer, schemas);
        responses.insert(answer.status.as_str().to_owned(), told);
    }
    for problem in problems::responses(operation.access, &operation.method, &description) {
        let status = problem.status.as_str().to_owned();
        responses.insert(status, shared.reference(problem.name, problem.told));
    }
    told["responses"] = responses.into();
    told
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": parameter.place.as_str(),
        "description": parameter.text,
        "required": parameter.required,
        "schema": parameter.schema,
        "example": parameter.example,
    })
}

fn answer(access: Access, answer: &Answer, schemas: &mut Schemas) -> Value {
    let mut told = json!({
        "description": answer.text,
        "headers": headers::of(access, answer.status, &answer.headers),
    });
    if let Some(body) = &answer.content {
        let schema = (body.schema)(&mut schemas.answers);
        told["content"] = content(body, schema.into());
    }
    told
}

fn content(content: &Content, schema: Value) -> Value {
    let mut told = json!({"schema": schema});
    if let Some(example) = &content.example {
        told["example"] = example.clone();
    }
    json!({content.media: told})
}

/// Error answers that several operations have, each told once.
#[derive(Default)]
struct Shared {
    responses: Map<String, Value>,
}

impl Shared {
    /// A reference to this answer, which is kept under its name; an answer that has none, or not the
    /// same content as another of its name, stands for itself.
    fn reference(&mut self, name: Option<String>, response: Value) -> Value {
        let Some(name) = name else {
            return response;
        };
        let known = self
            .responses
            .entry(&*name)
            .or_insert_with(|| response.clone());
        if *known == response {
            json!({"$ref": format!("#/components/responses/{name}")})
        } else {
            response
        }
    }
}
