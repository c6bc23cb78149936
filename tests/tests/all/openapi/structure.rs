//! The document holds to OpenAPI 3.1.

use crate::contract::Contract;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Calls `look` with every value of the document and its pointer.
fn walk(pointer: &str, value: &Value, look: &mut impl FnMut(&str, &Value)) {
    look(pointer, value);
    for (name, member) in value.as_object().into_iter().flatten() {
        let name = name.replace('~', "~0").replace('/', "~1");
        walk(&format!("{pointer}/{name}"), member, look);
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        walk(&format!("{pointer}/{index}"), item, look);
    }
}

#[test]
fn the_document_has_what_openapi_3_1_demands() {
    let document = Contract::new().document;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let fields = ["openapi", "info", "servers", "tags", "paths", "components"];
    let present: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(present, fields);
    for section in document["components"].as_object().unwrap().values() {
        for name in section.as_object().unwrap().keys() {
            let legal = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
            assert!(name.chars().all(legal), "{name}");
        }
    }
}

#[test]
fn every_reference_resolves() {
    let document = Contract::new().document;
    let mut references = 0;
    walk("", &document, &mut |pointer, value| {
        if let Some(target) = value["$ref"].as_str() {
            references += 1;
            let target = target.strip_prefix('#').unwrap();
            assert!(document.pointer(target).is_some(), "{pointer}: {target}");
        }
    });
    assert!(references > 100, "{references}");
}

#[test]
fn every_component_is_referred_to() {
    let document = Contract::new().document;
    let mut named = BTreeSet::new();
    walk("", &document, &mut |_, value| {
        named.extend(value["$ref"].as_str().map(str::to_owned));
    });
    for section in ["responses", "schemas"] {
        for name in document["components"][section].as_object().unwrap().keys() {
            let target = format!("#/components/{section}/{name}");
            // Every path has it, so no operation does.
            assert!(
                named.contains(&target) || name == "MethodNotAllowed",
                "{target}"
            );
        }
    }
}

#[test]
fn operations_are_told_apart_and_declare_the_parameters_of_their_paths() {
    let contract = Contract::new();
    let mut ids = BTreeSet::new();
    let mut shapes = BTreeSet::new();
    let tags: Vec<&Value> = contract.document["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| &tag["name"])
        .collect();
    for operation in contract.operations() {
        assert!(ids.insert(operation.id().to_owned()), "{}", operation.id());
        let braces = operation.path.split('{').skip(1);
        let named: Vec<&str> = braces.map(|it| it.split('}').next().unwrap()).collect();
        let shape = named
            .iter()
            .fold(operation.path.clone(), |path, name| path.replace(name, ""));
        assert!(
            shapes.insert((operation.method.clone(), shape)),
            "{}",
            operation.path
        );
        let path = operation.parameters("path");
        let declared: Vec<&str> = path.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(named, declared, "{}", operation.path);
        assert!(path.iter().all(|it| it["required"] == true));
        let query = operation.parameters("query");
        let all = operation.told["parameters"].as_array().map_or(0, Vec::len);
        let headers = operation.parameters("header").len();
        assert_eq!(
            all,
            path.len() + query.len() + headers,
            "{}",
            operation.id()
        );
        for field in ["summary", "description"] {
            assert!(
                operation.told[field].is_string(),
                "{} {field}",
                operation.id()
            );
        }
        let of_operation = operation.told["tags"].as_array().unwrap();
        assert!(of_operation.iter().all(|tag| tags.contains(&tag)) && of_operation.len() == 1);
        assert_eq!(
            operation.told["security"],
            if operation.needs_a_token() {
                json!([{"bearer": []}])
            } else {
                json!([])
            },
        );
        let takes_a_body = ["POST", "PUT", "PATCH"].contains(&operation.method.as_str());
        assert_eq!(
            operation.request().is_some(),
            takes_a_body,
            "{}",
            operation.id()
        );
    }
}

#[test]
fn every_answer_is_told_with_its_headers_and_its_errors_follow_from_the_access() {
    let contract = Contract::new();
    for operation in contract.operations() {
        let id = operation.id();
        let responses = operation.told["responses"].as_object().unwrap();
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{id}"
        );
        for (status, response) in responses {
            let response = contract.resolve(response);
            assert!(response["description"].is_string(), "{id} {status}");
            assert!(
                response["headers"]["X-Request-Id"].is_object(),
                "{id} {status}"
            );
            assert_eq!(
                response.get("content").is_none(),
                status == "204",
                "{id} {status}"
            );
        }
        let has = |status: &str| responses.contains_key(status);
        let acts = operation.is_of_a_building() && operation.method != "GET";
        assert!(has("413") && has("500") && has("503"), "{id}");
        assert!(
            has("401") && has("429") || !operation.needs_a_token(),
            "{id}"
        );
        assert_eq!(has("404"), operation.is_of_a_building(), "{id}");
        assert_eq!(has("403"), acts || id == "logIn", "{id}");
        assert!(has("400") || operation.request().is_none(), "{id}");
    }
}

#[test]
fn every_schema_is_one_and_every_example_fits_its_own() {
    let contract = Contract::new();
    let mut schemas = 0;
    let mut examples = 0;
    walk("", &contract.document, &mut |pointer, value| {
        if let Some(schema) = value.get("schema") {
            schemas += 1;
            let mut whole = json!({"components": contract.document["components"]});
            whole["allOf"] = json!([schema]);
            assert!(jsonschema::draft202012::meta::is_valid(schema), "{pointer}");
            assert!(jsonschema::draft202012::new(&whole).is_ok(), "{pointer}");
            let several = value["examples"].as_object().into_iter().flatten();
            let several = several.map(|(_, example)| &example["value"]);
            for example in value.get("example").into_iter().chain(several) {
                examples += 1;
                let errors = contract.errors(schema, example);
                assert!(errors.is_empty(), "{pointer}: {errors:?}");
            }
        }
    });
    assert!(
        schemas > 50 && examples > 50,
        "{schemas} schemas, {examples} examples"
    );
    for (name, schema) in contract.document["components"]["schemas"]
        .as_object()
        .unwrap()
    {
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{name}");
    }
}

#[test]
fn every_json_body_has_an_example_but_the_document_itself() {
    let contract = Contract::new();
    for operation in contract.operations() {
        let id = operation.id();
        if let Some(request) = operation.request() {
            assert!(request.get("example").is_some(), "{id}");
        }
        for response in operation.told["responses"].as_object().unwrap().values() {
            let response = contract.resolve(response);
            for (media, content) in response["content"].as_object().into_iter().flatten() {
                let told = content.get("example").is_some() || content.get("examples").is_some();
                assert!(
                    told || id == "readOpenApi" || id == "readDocumentation",
                    "{id} {media}"
                );
            }
        }
    }
}
