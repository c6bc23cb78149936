//! The document holds to AsyncAPI 3.0, to the topics and to the schemas.

use super::*;
use crate::topic::{MqttTopic, Topic, parse_topic};
use std::collections::BTreeSet;
use uuid::Uuid;

fn made() -> Value {
    document().unwrap()
}

fn members(value: &Value) -> Vec<(&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members
        .map(|(name, value)| (name.as_str(), value))
        .collect()
}

/// Every reference of the document, but those within a schema, which are the schema's own.
fn references(value: &Value, found: &mut Vec<String>) {
    if let Some(target) = value["$ref"].as_str() {
        found.push(target.to_owned());
    }
    for (name, member) in members(value) {
        if name != "schema" {
            references(member, found);
        }
    }
    for item in value.as_array().into_iter().flatten() {
        references(item, found);
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = made();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 30, "{found:?}");
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
}

#[test]
fn a_channel_declares_the_parameters_of_its_address_and_its_messages() {
    let document = made();
    for (name, channel) in members(&document["channels"]) {
        let address = channel["address"].as_str().unwrap();
        let named: BTreeSet<&str> = address
            .split('{')
            .skip(1)
            .map(|rest| rest.split('}').next().unwrap())
            .collect();
        let declared: BTreeSet<&str> = members(&channel["parameters"])
            .iter()
            .map(|it| it.0)
            .collect();
        assert_eq!(named, declared, "{name}");
        assert!(!members(&channel["messages"]).is_empty(), "{name}");
        assert!(!channel["servers"].as_array().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn every_channel_has_one_operation_with_messages_of_its_own() {
    let document = made();
    let mut channels = BTreeSet::new();
    for (name, operation) in members(&document["operations"]) {
        let channel = operation["channel"]["$ref"].as_str().unwrap();
        assert!(channels.insert(channel.to_owned()), "{name}");
        let action = if name == "sendDesired" {
            "send"
        } else {
            "receive"
        };
        assert_eq!(operation["action"], action, "{name}");
        for message in operation["messages"].as_array().unwrap() {
            let target = message["$ref"].as_str().unwrap();
            assert!(
                target.starts_with(&format!("{channel}/messages/")),
                "{name}"
            );
        }
    }
    assert_eq!(channels.len(), members(&document["channels"]).len());
}

#[test]
fn every_schema_is_one_and_accepts_its_message_s_example() {
    let document = made();
    for (name, payload) in members(&document["components"]["schemas"]) {
        assert_eq!(payload["schemaFormat"], SCHEMA_FORMAT);
        assert!(jsonschema::meta::is_valid(&payload["schema"]), "{name}");
        let validator = jsonschema::validator_for(&payload["schema"]).unwrap();
        let example = &document["components"]["messages"][name]["examples"][0]["payload"];
        let errors: Vec<_> = validator
            .iter_errors(example)
            .map(|it| it.to_string())
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    for (name, message) in members(&document["components"]["messages"]) {
        if let Some(headers) = message.get("headers") {
            assert!(jsonschema::meta::is_valid(headers), "{name}");
        }
    }
}

#[test]
fn addresses_are_the_topics_that_the_service_uses() {
    let document = made();
    let building = Uuid::nil();
    let address = |name: &str| {
        let address = document["channels"][name]["address"].as_str().unwrap();
        address
            .replace("{building_uuid}", &building.to_string())
            .replace("{prefix}", "p")
    };
    let topics = KafkaTopics::new("p");
    for kind in RecordKind::ALL {
        let name = kind.as_str();
        assert_eq!(address(name), MqttTopic::format(kind, building));
        assert_eq!(address(&record(name)), topics.of(kind));
        let Topic {
            kind: read,
            building: named,
        } = parse_topic(&address(name));
        assert_eq!((read, named), (Some(kind), Ok(building)));
    }
    assert_eq!(address("desired"), MqttTopic::desired(building));
    assert_eq!(address("deadLetters"), topics.dead_letters());
    assert_eq!(
        members(&document["channels"]).len(),
        2 * RecordKind::ALL.len() + 2
    );
}
