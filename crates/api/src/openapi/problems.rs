//! Which problems an operation can answer with, and what the document says of them.

use crate::description::{Description, Rule};
use crate::error::{Problem, Violation};
use crate::openapi::headers;
use crate::router::Access;
use axum::http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The request id of examples.
const REQUEST_ID: &str = "3f0c7a52-8f6e-4f0b-9d0e-6a4b1c2d3e4f";

/// What every body can break.
const RULES_OF_BODIES: [Rule; 4] = [
    Rule::new("", "not_json", "the body must be JSON"),
    Rule::new("", "not_an_object", "the body must be a JSON object"),
    Rule::new("", "incomplete", "the body ended early"),
    Rule::new(
        "/{property}",
        "unknown_property",
        "{property} is not a property of this request",
    ),
];

/// The rules that requests of an operation can break.
pub(super) fn rules(description: &Description) -> Vec<Rule> {
    let of_body = description.request.iter().flat_map(|_| RULES_OF_BODIES);
    description.rules.iter().copied().chain(of_body).collect()
}

/// The problems that an operation can answer with, besides broken rules, by status.
fn by_status(
    access: Access,
    method: &Method,
    description: &Description,
) -> BTreeMap<StatusCode, Vec<Problem>> {
    let mut problems = vec![
        Problem::BodyTooLarge,
        Problem::BodyTooSlow,
        Problem::Internal(String::new()),
        Problem::Unavailable(String::new()),
    ];
    let of_users = [
        Problem::NotAuthenticated,
        Problem::TokenNotValid("Token is expired"),
        Problem::TooManyRequests(1_800),
    ];
    match access {
        Access::Open => {}
        Access::User => problems.extend(of_users),
        Access::Building => {
            problems.extend(of_users);
            problems.push(Problem::NotFound);
            if !method.is_safe() {
                problems.push(Problem::PermissionDenied);
            }
        }
    }
    problems.extend(description.problems.iter().cloned());
    let mut by_status: BTreeMap<StatusCode, Vec<Problem>> = BTreeMap::new();
    for problem in problems {
        by_status.entry(problem.status()).or_default().push(problem);
    }
    by_status
}

/// An error answer.
pub(super) struct Response {
    pub(super) status: StatusCode,
    /// The name that it has among all operations of the same access; none where it is the operation's
    /// own.
    pub(super) name: Option<String>,
    pub(super) told: Value,
}

/// The error answers of an operation, by rising status.
pub(super) fn responses(
    access: Access,
    method: &Method,
    description: &Description,
) -> Vec<Response> {
    let own = |status| description.problems.iter().any(|it| it.status() == status);
    let of_problems = by_status(access, method, description);
    let of_problems = of_problems.into_iter().map(|(status, problems)| Response {
        status,
        name: (!own(status)).then(|| name(access, status)),
        told: response(access, status, &problems),
    });
    let rules = rules(description);
    let of_rules = (!rules.is_empty()).then(|| broken_rules(access, &rules));
    let mut responses: Vec<Response> = of_problems.chain(of_rules).collect();
    responses.sort_by_key(|response| response.status);
    responses
}

/// Answers to those who need no token have other headers.
fn name(access: Access, status: StatusCode) -> String {
    let title = status.canonical_reason().unwrap_or("Problem");
    let title: String = title.split(' ').collect();
    if access == Access::Open && !status.is_server_error() {
        format!("{title}WithoutToken")
    } else {
        title
    }
}

/// The answer to a method that the path has not.
pub(super) fn method_not_allowed() -> Value {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    response(Access::Open, status, &[Problem::Other(status)])
}

fn response(access: Access, status: StatusCode, problems: &[Problem]) -> Value {
    let details: Vec<_> = problems.iter().map(Problem::detail).collect();
    let codes: Vec<_> = problems.iter().map(Problem::code).collect();
    let example = |problem: &Problem| {
        let value = problem.body(REQUEST_ID);
        (problem.code().to_owned(), json!({"value": value}))
    };
    let examples: Map<String, Value> = problems.iter().map(example).collect();
    json!({
        "description": sentences(details.iter().map(|it| it.as_ref())),
        "headers": headers::of(access, status, &[]),
        "content": {"application/problem+json": {
            "schema": {
                "allOf": [{"$ref": "#/components/schemas/Problem"}],
                "properties": {"status": {"const": status.as_u16()}, "code": {"enum": codes}},
            },
            "examples": examples,
        }},
    })
}

fn broken_rules(access: Access, rules: &[Rule]) -> Response {
    let violation = |rule: &Rule| Violation::new(rule.field, rule.code, rule.text);
    let problem = Problem::Invalid(rules.iter().take(1).map(violation).collect());
    let status = problem.status();
    let mut codes: Vec<&str> = rules.iter().map(|rule| rule.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let line = |rule: &Rule| format!("- `{}` `{}`: {}\n", rule.field, rule.code, rule.text);
    let list: String = rules.iter().map(line).collect();
    let told = json!({
        "description": format!("The request breaks rules; `errors` names them all:\n\n{list}"),
        "headers": headers::of(access, status, &[]),
        "content": {"application/problem+json": {
            "schema": {
                "allOf": [{"$ref": "#/components/schemas/Problem"}],
                "properties": {
                    "status": {"const": status.as_u16()},
                    "code": {"const": problem.code()},
                    "errors": {"items": {"properties": {"code": {"enum": codes}}}},
                },
                "required": ["errors"],
            },
            "examples": {problem.code(): {"value": problem.body(REQUEST_ID)}},
        }},
    });
    Response {
        status,
        name: None,
        told,
    }
}

/// Details begin small and have no full stop; a description is made of sentences.
fn sentences<'a>(details: impl Iterator<Item = &'a str>) -> String {
    let sentence = |detail: &str| {
        let mut characters = detail.chars();
        let first = characters.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(characters).chain(['.']).collect()
    };
    let sentences: Vec<String> = details.map(sentence).collect();
    sentences.join(" ")
}
