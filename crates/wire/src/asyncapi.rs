//! The AsyncAPI document of the MQTT and Kafka topics, made from the schemas and the topics' own names.

use crate::envelope::{DETAIL, POINTER, REASON, RECEIVED_AT, REDELIVERED, SOURCE, TRACEPARENT};
use crate::schema::{DESIRED, SCHEMAS};
use crate::topic::{KafkaTopics, RecordKind};
use domain::rejection::Reason;
use serde_json::{Map, Value, json};

const SCHEMA_FORMAT: &str = "application/schema+json;version=draft-2020-12";
const UUID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

const ABOUT: &str = "\
What the energy controllers of buildings send and receive over MQTT, and how their messages travel on \
over Kafka. A controller publishes and subscribes only below its own `v1/buildings/{building_uuid}/`. \
What is refused becomes a dead letter, never silence.";

/// The document, in AsyncAPI 3.0; written from the service's point of view: it receives what
/// controllers publish.
///
/// # Errors
/// When a schema that is compiled in is no JSON, which a test rules out.
pub fn document() -> Result<Value, serde_json::Error> {
    let mut channels = Map::new();
    let mut operations = Map::new();
    let mut messages = Map::new();
    let mut schemas = Map::new();
    for (kind, schema) in SCHEMAS {
        let name = kind.as_str();
        let schema: Value = serde_json::from_str(schema)?;
        messages.insert(name.to_owned(), mqtt_message(name, &schema, example(kind))?);
        messages.insert(record(name), kafka_message(name, &schema));
        schemas.insert(name.to_owned(), payload(schema));
        channels.insert(name.to_owned(), mqtt_channel(name, name));
        channels.insert(record(name), kafka_channel(&on_kafka(kind), &record(name)));
        let retained = kind == RecordKind::Presence;
        operations.insert(
            operation("receive", name),
            mqtt_operation("receive", name, retained),
        );
        operations.insert(
            operation("receive", &record(name)),
            kafka_operation(&record(name)),
        );
    }
    let desired: Value = serde_json::from_str(DESIRED)?;
    let example = include_str!("../../../schemas/examples/sent/desired.json");
    messages.insert(
        "desired".to_owned(),
        mqtt_message("desired", &desired, example)?,
    );
    schemas.insert("desired".to_owned(), payload(desired));
    channels.insert("desired".to_owned(), mqtt_channel("desired", "desired"));
    operations.insert(
        operation("send", "desired"),
        mqtt_operation("send", "desired", true),
    );
    messages.insert("deadLetter".to_owned(), dead_letter());
    let dead_letters = KafkaTopics::new("{prefix}").dead_letters().to_owned();
    channels.insert(
        "deadLetters".to_owned(),
        kafka_channel(&dead_letters, "deadLetter"),
    );
    operations.insert(
        operation("receive", "deadLetters"),
        kafka_operation("deadLetters"),
    );
    Ok(json!({
        "asyncapi": "3.0.0",
        "info": {"title": "wattline", "version": "1.0.0", "description": ABOUT},
        "defaultContentType": "application/json",
        "servers": {
            "mqtt": {"host": "127.0.0.1:1883", "protocol": "mqtt", "protocolVersion": "5.0"},
            "kafka": {"host": "127.0.0.1:9092", "protocol": "kafka"},
        },
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages, "schemas": schemas},
    }))
}

/// The name of a kind's message on Kafka.
fn record(name: &str) -> String {
    format!("{name}Record")
}

/// The topic of a kind on Kafka, its prefix a parameter.
fn on_kafka(kind: RecordKind) -> String {
    KafkaTopics::new("{prefix}").of(kind).to_owned()
}

fn operation(action: &str, channel: &str) -> String {
    let mut letters = channel.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    let capital: String = first.into_iter().chain(letters).collect();
    format!("{action}{capital}")
}

/// One valid payload of each kind.
const fn example(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Telemetry => {
            include_str!("../../../schemas/examples/valid/telemetry-full.json")
        }
        RecordKind::Readings => include_str!("../../../schemas/examples/valid/readings.json"),
        RecordKind::KeyValues => include_str!("../../../schemas/examples/valid/keyvalues.json"),
        RecordKind::Reported => include_str!("../../../schemas/examples/valid/reported.json"),
        RecordKind::Presence => include_str!("../../../schemas/examples/valid/presence.json"),
    }
}

fn payload(schema: Value) -> Value {
    json!({"schemaFormat": SCHEMA_FORMAT, "schema": schema})
}

fn schema_reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn mqtt_message(name: &str, schema: &Value, example: &str) -> Result<Value, serde_json::Error> {
    let example: Value = serde_json::from_str(example)?;
    Ok(json!({
        "name": name,
        "title": schema["title"],
        "contentType": "application/json",
        "payload": schema_reference(name),
        "examples": [{"payload": example}],
    }))
}

fn mqtt_channel(name: &str, message: &str) -> Value {
    json!({
        "address": format!("v1/buildings/{{building_uuid}}/{name}"),
        "servers": [{"$ref": "#/servers/mqtt"}],
        "parameters": {"building_uuid": {
            "description": "The building's uuid in lower case, with hyphens.",
        }},
        "messages": {message: {"$ref": format!("#/components/messages/{message}")}},
    })
}

fn mqtt_operation(action: &str, channel: &str, retained: bool) -> Value {
    json!({
        "action": action,
        "channel": {"$ref": format!("#/channels/{channel}")},
        "messages": [{"$ref": format!("#/channels/{channel}/messages/{channel}")}],
        "bindings": {"mqtt": {"qos": 1, "retain": retained, "bindingVersion": "0.2.0"}},
    })
}

fn kafka_message(name: &str, schema: &Value) -> Value {
    json!({
        "name": record(name),
        "title": schema["title"],
        "summary": "The payload's own bytes, as the controller sent them.",
        "contentType": "application/json",
        "headers": headers(&[]),
        "payload": schema_reference(name),
        "bindings": {"kafka": key()},
    })
}

fn dead_letter() -> Value {
    let codes = Reason::ALL.map(Reason::as_str);
    let refused = [
        (REASON, json!({"type": "string", "enum": codes})),
        (
            POINTER,
            json!({"type": "string", "description": "JSON pointer; empty for the whole payload."}),
        ),
        (
            DETAIL,
            json!({"type": "string", "description": "The rule, for people."}),
        ),
    ];
    json!({
        "name": "deadLetter",
        "title": "What the bridge refused",
        "summary": "The payload's own bytes, whatever they are.",
        "contentType": "application/octet-stream",
        "headers": headers(&refused),
        "bindings": {"kafka": key()},
    })
}

/// The headers of a message on Kafka; `required` are those beyond the ones that all have.
fn headers(required: &[(&str, Value)]) -> Value {
    let mut properties = json!({
        SOURCE: {"type": "string", "description": "The MQTT topic."},
        RECEIVED_AT: {
            "type": "string", "format": "date-time",
            "description": "When the bridge received the message.",
        },
        TRACEPARENT: {
            "type": "string",
            "description": "The trace context, where the controller sent one.",
        },
        REDELIVERED: {
            "const": "true", "description": "Where MQTT marked the message as sent before.",
        },
    });
    let mut names = vec![SOURCE, RECEIVED_AT];
    for (name, schema) in required {
        properties[*name] = schema.clone();
        names.push(name);
    }
    json!({"type": "object", "required": names, "properties": properties})
}

fn key() -> Value {
    json!({
        "key": {
            "type": "string", "pattern": UUID,
            "description": "The building's uuid; none where the topic names no building.",
        },
        "bindingVersion": "0.5.0",
    })
}

fn kafka_channel(address: &str, message: &str) -> Value {
    json!({
        "address": address,
        "servers": [{"$ref": "#/servers/kafka"}],
        "parameters": {"prefix": {
            "description": "WATTLINE_KAFKA_TOPIC_PREFIX.", "default": "wattline",
        }},
        "messages": {message: {"$ref": format!("#/components/messages/{message}")}},
    })
}

fn kafka_operation(channel: &str) -> Value {
    // A channel of records is called like its message, but for the one of dead letters.
    let message = if channel == "deadLetters" {
        "deadLetter"
    } else {
        channel
    };
    json!({
        "action": "receive",
        "channel": {"$ref": format!("#/channels/{channel}")},
        "messages": [{"$ref": format!("#/channels/{channel}/messages/{message}")}],
    })
}

#[cfg(test)]
mod tests;
