//! Schemas of bodies, made from their types.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// Makes the schemas of a document: one generator for what is sent to the service and one for what it
/// sends, since an optional property means another thing in each.
pub(super) struct Schemas {
    pub(super) requests: SchemaGenerator,
    pub(super) answers: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = || {
            let mut settings = SchemaSettings::draft2020_12();
            settings.definitions_path = "/components/schemas".into();
            settings.with_transform(LeftOutMeansNotNull)
        };
        Self {
            requests: settings().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }

    /// Everything that was referred to, by name.
    pub(super) fn components(mut self) -> Map<String, Value> {
        let mut components = self.requests.take_definitions(true);
        components.extend(self.answers.take_definitions(true));
        components.sort_keys();
        components
    }
}

/// A property that may be left out is never null: what the service sends has it or not, what it takes
/// may have it or not.
#[derive(Clone, Copy, Debug)]
struct LeftOutMeansNotNull;

impl Transform for LeftOutMeansNotNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let required = schema.get("required").and_then(Value::as_array).cloned();
        let required = required.unwrap_or_default();
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            if !required.contains(&Value::from(name.as_str())) {
                forbid_null(property);
            }
        }
    }
}

fn forbid_null(property: &mut Value) {
    let Some(property) = property.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            property.remove("anyOf");
            property.extend(only);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde::Serialize;
    use serde_json::json;

    #[derive(Serialize, JsonSchema)]
    struct Part {
        name: String,
    }

    #[derive(Serialize, JsonSchema)]
    struct Whole {
        #[serde(skip_serializing_if = "Option::is_none")]
        number: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        part: Option<Part>,
        null_or_text: Option<String>,
    }

    #[test]
    fn a_property_that_is_left_out_is_never_null_and_one_that_is_always_there_may_be() {
        let mut schemas = Schemas::new();
        schemas.answers.subschema_for::<Whole>();
        let components = schemas.components();
        let expected = json!({
            "type": "object",
            "properties": {
                "number": {"type": "integer", "format": "int64"},
                "part": {"$ref": "#/components/schemas/Part"},
                "null_or_text": {"type": ["string", "null"]},
            },
            "required": ["null_or_text"],
        });
        assert_eq!(components["Whole"], expected);
    }
}
