//! What an operation says of itself: what the OpenAPI document and its page are made of.

use crate::error::Problem;
use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// What an operation is for, takes and answers. What follows from who may use it (the errors about
/// tokens, rate limit, building and role) is not said here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Description {
    /// Unique among all operations; the name by which generated clients call it.
    pub(crate) id: &'static str,
    /// The heading under which it stands.
    pub(crate) subject: &'static str,
    /// One line.
    pub(crate) summary: &'static str,
    /// The rules, in CommonMark.
    pub(crate) text: &'static str,
    /// Of query, path and headers, without the building.
    pub(crate) parameters: Vec<Parameter>,
    /// The body that it takes.
    pub(crate) request: Option<Content>,
    /// Every answer that is no problem.
    pub(crate) answers: Vec<Answer>,
    /// The rules that a request can break, without those that every body has.
    pub(crate) rules: Vec<Rule>,
    /// Further problems.
    pub(crate) problems: Vec<Problem>,
}

/// Where a parameter stands: in a request's path, in its query, or in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

impl Place {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
        }
    }
}

/// A parameter of query, path or header.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    pub(crate) text: &'static str,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
    pub(crate) example: Value,
}

impl Parameter {
    /// A uuid in the path.
    pub(crate) fn path_uuid(name: &'static str, text: &'static str, example: &str) -> Self {
        Self {
            name,
            place: Place::Path,
            text,
            required: true,
            schema: json_schema!({"type": "string", "format": "uuid"}),
            example: example.into(),
        }
    }

    /// Whole epoch seconds in the query, that may be left out.
    pub(crate) fn optional_seconds(name: &'static str, text: &'static str, example: i64) -> Self {
        Self {
            name,
            place: Place::Query,
            text,
            required: false,
            schema: json_schema!({
                "type": "integer", "minimum": -99_999_999_999_i64, "maximum": 99_999_999_999_i64,
            }),
            example: example.into(),
        }
    }
}

/// A body, of a request or of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) media: &'static str,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) example: Option<Value>,
}

impl Content {
    /// A JSON body of this type, with an example.
    pub(crate) fn json<T: JsonSchema>(example: Value) -> Self {
        Self {
            media: "application/json",
            schema: SchemaGenerator::subschema_for::<T>,
            example: Some(example),
        }
    }
}

/// A header that an answer has besides those that all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerHeader {
    /// Path of what was made.
    Location,
    /// The next page, if there is one.
    Link,
}

/// An answer that is no problem.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) text: &'static str,
    pub(crate) content: Option<Content>,
    pub(crate) headers: Vec<AnswerHeader>,
}

impl Answer {
    /// 200 with a JSON body.
    pub(crate) fn ok<T: JsonSchema>(text: &'static str, example: Value) -> Self {
        Self {
            status: StatusCode::OK,
            text,
            content: Some(Content::json::<T>(example)),
            headers: Vec::new(),
        }
    }

    /// 204, which has no body.
    pub(crate) const fn nothing(text: &'static str) -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            text,
            content: None,
            headers: Vec::new(),
        }
    }
}

/// A rule that a request can break, as `errors` of a 400 tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// JSON pointer; `{index}` stands for a place in a list.
    pub(crate) field: &'static str,
    pub(crate) code: &'static str,
    pub(crate) text: &'static str,
}

impl Rule {
    pub(crate) const fn new(field: &'static str, code: &'static str, text: &'static str) -> Self {
        Self { field, code, text }
    }

    /// The rules of a query parameter with whole epoch seconds, given once.
    pub(crate) fn of_epoch_seconds(field: &'static str) -> [Self; 3] {
        [
            Self::new(
                field,
                "not_an_integer",
                "the parameter must be whole seconds since the epoch",
            ),
            Self::new(
                field,
                "out_of_range",
                "the parameter must be in seconds, not in milliseconds",
            ),
            Self::new(field, "repeated", "the parameter may be given once only"),
        ]
    }
}
