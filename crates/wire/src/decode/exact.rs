//! The exact path: the JSON Schema decides what is refused, where and why.

use crate::schema::SCHEMAS;
use crate::topic::RecordKind;
use domain::rejection::{Reason, Rejection};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The largest magnitude of an integer field (`decisions.md`: beyond it is `out_of_range`).
pub(super) const LARGEST_INTEGER: i32 = 2_147_483_647;

/// The longest detail, in characters: the longest rule of the schemas with room to spare.
const LONGEST_DETAIL: usize = 200;

/// What one kind of record is held to.
struct Rules {
    schema: Validator,
    /// The schema with bounds at every integer field. What the schema takes, this refuses only for
    /// an integer that is out of range.
    range: Validator,
}

static RULES: LazyLock<[Rules; SCHEMAS.len()]> =
    LazyLock::new(|| SCHEMAS.map(|(_, text)| rules(text)));

#[expect(
    clippy::expect_used,
    reason = "the schemas are compiled in, and a test reads them all"
)]
fn rules(text: &str) -> Rules {
    let schema: Value = serde_json::from_str(text).expect("a schema is JSON");
    let compile = |schema| jsonschema::draft202012::new(schema).expect("a schema is one");
    Rules {
        schema: compile(&schema),
        range: compile(&bounded(schema.clone())),
    }
}

/// The schema with the bounds of [`LARGEST_INTEGER`] added wherever it asks for an integer.
fn bounded(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(keywords) => {
            for (_, keyword) in keywords.iter_mut() {
                *keyword = bounded(keyword.take());
            }
            if keywords.get("type").is_some_and(asks_for_integer) {
                let bounds = json!([{"minimum": -LARGEST_INTEGER, "maximum": LARGEST_INTEGER}]);
                keywords.insert("allOf".to_owned(), bounds);
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = bounded(item.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    schema
}

fn asks_for_integer(kind: &Value) -> bool {
    kind == "integer"
        || kind
            .as_array()
            .is_some_and(|any| any.contains(&json!("integer")))
}

/// Why the document is refused: by its schema, or for an integer out of range; none if it is not.
pub(super) fn refusal(kind: RecordKind, document: &Value) -> Option<Rejection> {
    let rules = &RULES[kind as usize];
    if let Some((pointer, detail)) = first_error(&rules.schema, document) {
        return Some(Rejection::new(Reason::Schema, pointer, detail));
    }
    let (pointer, _) = first_error(&rules.range, document)?;
    let detail = format!("integer is beyond ±{LARGEST_INTEGER}");
    Some(Rejection::new(Reason::OutOfRange, pointer, detail))
}

/// The pointer and the rule of the error with the smallest pointer, so that the order of keys in
/// the payload does not matter.
fn first_error(validator: &Validator, document: &Value) -> Option<(String, String)> {
    if validator.is_valid(document) {
        return None;
    }
    let errors = validator.iter_errors(document);
    let error = errors
        .map(|error| (pointer(&error), error))
        .min_by(|one, other| {
            let keywords = || (one.1.schema_path().as_str()).cmp(other.1.schema_path().as_str());
            one.0.cmp(&other.0).then_with(keywords)
        });
    error.map(|(pointer, error)| (storable(&pointer), detail(&error)))
}

/// The place of an error; of a missing or unknown property: the property itself.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's list of keywords is open, and all others name their place themselves"
)]
fn pointer(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let property = match error.kind() {
        ValidationErrorKind::Required { property } => property.as_str(),
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            unexpected.iter().map(String::as_str).min()
        }
        _ => None,
    };
    match property {
        Some(property) => format!("{place}/{}", escaped(property)),
        None => place.to_owned(),
    }
}

/// The rule that an error tells of, without the payload's values.
fn detail(error: &ValidationError<'_>) -> String {
    if matches!(
        error.kind(),
        ValidationErrorKind::AdditionalProperties { .. }
    ) {
        return "property is not allowed here".to_owned();
    }
    let rule = error.masked().to_string();
    storable(&rule).chars().take(LONGEST_DETAIL).collect()
}

/// A property's name as a step of a JSON pointer.
pub(super) fn escaped(property: &str) -> String {
    property.replace('~', "~0").replace('/', "~1")
}

/// A text without NUL, which the database's text columns cannot hold.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
