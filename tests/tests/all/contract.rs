//! The OpenAPI document as a judge: whether an answer is one that it describes.

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, Mutex};
use testkit::Answer;

/// The document, as the binary under test prints it.
pub(crate) fn printed() -> String {
    let output = Command::new(crate::WATTLINE)
        .arg("openapi")
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// An operation of the document.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// In capitals.
    pub(crate) method: String,
    /// With its parameters in braces.
    pub(crate) path: String,
    pub(crate) told: Value,
}

impl Operation {
    pub(crate) fn id(&self) -> &str {
        self.told["operationId"].as_str().unwrap()
    }

    pub(crate) fn needs_a_token(&self) -> bool {
        !self.told["security"].as_array().unwrap().is_empty()
    }

    pub(crate) fn is_of_a_building(&self) -> bool {
        self.path.contains("{building}")
    }

    /// The parameters that stand in `place`.
    pub(crate) fn parameters(&self, place: &str) -> Vec<&Value> {
        let all = self.told["parameters"].as_array().into_iter().flatten();
        all.filter(|it| it["in"] == place).collect()
    }

    /// The JSON body that it takes, if it takes one.
    pub(crate) fn request(&self) -> Option<&Value> {
        self.told.pointer("/requestBody/content/application~1json")
    }

    /// Its path with each parameter's value as `value` gives it.
    pub(crate) fn path_with(&self, mut value: impl FnMut(&str) -> String) -> String {
        let mut path = self.path.clone();
        for parameter in self.parameters("path") {
            let name = parameter["name"].as_str().unwrap();
            path = path.replace(&format!("{{{name}}}"), &value(name));
        }
        path.strip_prefix("/public-api").unwrap().to_owned()
    }

    /// Its path with the examples of its parameters.
    pub(crate) fn example_path(&self) -> String {
        self.path_with(|name| {
            let parameters = self.parameters("path");
            let parameter = parameters.iter().find(|it| it["name"] == name).unwrap();
            parameter["example"].as_str().unwrap().to_owned()
        })
    }
}

/// The document, ready to judge.
pub(crate) struct Contract {
    pub(crate) document: Value,
    /// Its components, in which no object has a property that is not named.
    closed: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Contract {
    pub(crate) fn new() -> Self {
        let document: Value = serde_json::from_str(&printed()).unwrap();
        let mut closed = document["components"].clone();
        for schema in closed["schemas"].as_object_mut().unwrap().values_mut() {
            if schema.get("properties").is_some() {
                schema["additionalProperties"] = json!(false);
            }
        }
        Self {
            document,
            closed,
            validators: Mutex::default(),
        }
    }

    pub(crate) fn operations(&self) -> Vec<Operation> {
        let mut operations = Vec::new();
        for (path, methods) in self.document["paths"].as_object().unwrap() {
            for (method, told) in methods.as_object().unwrap() {
                operations.push(Operation {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    told: told.clone(),
                });
            }
        }
        operations
    }

    pub(crate) fn operation(&self, id: &str) -> Operation {
        let mut operations = self.operations().into_iter();
        operations.find(|it| it.id() == id).unwrap()
    }

    /// What a value with `$ref` refers to; any other value itself.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(target) => {
                let pointer = target.strip_prefix('#').unwrap();
                self.document
                    .pointer(pointer)
                    .unwrap_or_else(|| panic!("{target}"))
            }
            None => value,
        }
    }

    /// What is wrong with a value by a schema of the document; empty when nothing is.
    pub(crate) fn errors(&self, schema: &Value, value: &Value) -> Vec<String> {
        let validator = self.validator(schema);
        let errors = validator.iter_errors(value);
        errors
            .map(|it| format!("{}: {it}", it.instance_path()))
            .collect()
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let made = validators.entry(schema.to_string()).or_insert_with(|| {
            let whole = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "components": self.closed, "allOf": [schema],
            });
            let mut options = jsonschema::options();
            options = options.should_validate_formats(true);
            Arc::new(options.build(&whole).unwrap())
        });
        Arc::clone(made)
    }

    /// What is wrong with an answer to an operation; empty when the document describes it.
    pub(crate) fn wrong(&self, operation: &Operation, answer: &Answer) -> Vec<String> {
        let Some(told) = operation.told["responses"].get(answer.status.to_string()) else {
            return vec![format!("{} is not documented", answer.status)];
        };
        self.wrong_as(self.resolve(told), answer)
    }

    /// The same for an answer to HEAD, which is GET's without its body.
    pub(crate) fn wrong_to_head(&self, operation: &Operation, answer: &Answer) -> Vec<String> {
        let Some(told) = operation.told["responses"].get(answer.status.to_string()) else {
            return vec![format!("{} is not documented", answer.status)];
        };
        let mut wrong = self.wrong_headers(&self.resolve(told)["headers"], answer);
        if !answer.text.is_empty() {
            wrong.push("a body to HEAD".to_owned());
        }
        wrong
    }

    /// The same for an answer that should be a method's that the path has not.
    pub(crate) fn wrong_as_not_allowed(&self, answer: &Answer) -> Vec<String> {
        self.wrong_as(
            &self.document["components"]["responses"]["MethodNotAllowed"],
            answer,
        )
    }

    /// The same for an answer that should be any problem.
    pub(crate) fn wrong_as_problem(&self, answer: &Answer) -> Vec<String> {
        let problem = json!({
            "headers": {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}},
            "content": {"application/problem+json": {
                "schema": {"$ref": "#/components/schemas/Problem"},
            }},
        });
        self.wrong_as(&problem, answer)
    }

    fn wrong_as(&self, told: &Value, answer: &Answer) -> Vec<String> {
        let mut wrong = self.wrong_headers(&told["headers"], answer);
        let Some(content) = told["content"].as_object() else {
            if !answer.text.is_empty() {
                wrong.push("a body where none is documented".to_owned());
            }
            return wrong;
        };
        let media = answer.header("content-type");
        let Some(content) = content.get(media) else {
            wrong.push(format!("media type {media:?} is not documented"));
            return wrong;
        };
        let body = if media.contains("json") {
            answer.body.clone()
        } else {
            answer.text.clone().into()
        };
        wrong.extend(self.errors(&content["schema"], &body));
        wrong
    }

    fn wrong_headers(&self, told: &Value, answer: &Answer) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, header) in told.as_object().unwrap_or(&Map::new()) {
            let header = self.resolve(header);
            let Some(text) = answer.headers.get(&name.to_ascii_lowercase()) else {
                if header["required"] == true {
                    wrong.push(format!("header {name} is missing"));
                }
                continue;
            };
            let value = match header["schema"]["type"].as_str() {
                Some("integer") => text.parse::<i64>().map_or(Value::Null, Value::from),
                _ => text.clone().into(),
            };
            let errors = self.errors(&header["schema"], &value);
            wrong.extend(errors.into_iter().map(|it| format!("header {name}{it}")));
        }
        wrong
    }
}

#[test]
fn the_judge_finds_what_is_wrong() {
    let contract = Contract::new();
    let operation = contract.operation("listBuildings");
    let told = &operation.told["responses"]["200"]["content"]["application/json"]["example"];
    let headers = [
        "x-request-id",
        "ratelimit-limit",
        "ratelimit-remaining",
        "ratelimit-reset",
    ];
    let headers = headers.map(|name| (name.to_owned(), "1".to_owned()));
    let media = ("content-type".to_owned(), "application/json".to_owned());
    let good = Answer {
        status: 200,
        headers: headers.into_iter().chain([media]).collect(),
        body: told.clone(),
        text: told.to_string(),
    };
    let judged = |change: &dyn Fn(&mut Answer)| {
        let mut answer = good.clone();
        change(&mut answer);
        contract.wrong(&operation, &answer).len()
    };
    let with_header = |name: &str, value: &str| {
        judged(&|it: &mut Answer| {
            it.headers.insert(name.to_owned(), value.to_owned());
        })
    };
    assert_eq!(judged(&|_| {}), 0);
    assert_eq!(judged(&|it| it.status = 418), 1);
    assert_eq!(judged(&|it| it.body[0]["owner"] = json!("ada")), 1);
    assert_eq!(judged(&|it| it.body[0]["uuid"] = json!("x")), 1);
    assert_eq!(judged(&|it| it.body[0]["name"] = Value::Null), 1);
    assert_eq!(judged(&|it| it.body = json!({})), 1);
    assert_eq!(judged(&|it| it.headers.clear()), 5);
    assert_eq!(with_header("content-type", "text/plain"), 1);
    assert_eq!(with_header("ratelimit-reset", "soon"), 1);
}
