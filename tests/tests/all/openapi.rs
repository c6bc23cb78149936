//! The OpenAPI document: what the code says, kept, served, and true.

#[path = "openapi/examples.rs"]
pub(crate) mod examples;
#[path = "openapi/structure.rs"]
mod structure;

use crate::WATTLINE;
use crate::contract::{Contract, printed};
use examples::Seeded;
use std::path::Path;
use std::process::Command;
use testkit::Method;

fn kept(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../schemas")
        .join(name);
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn the_kept_openapi_document_is_the_one_that_the_code_makes() {
    assert!(
        printed() == kept("openapi.json"),
        "the operations have changed: wattline openapi > schemas/openapi.json"
    );
}

#[test]
fn the_kept_asyncapi_document_is_the_one_that_the_code_makes() {
    let output = Command::new(WATTLINE).arg("asyncapi").output().unwrap();
    assert!(output.status.success());
    assert!(
        String::from_utf8(output.stdout).unwrap() == kept("asyncapi.json"),
        "the topics have changed: wattline asyncapi > schemas/asyncapi.json"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_served_without_a_token_with_and_without_a_last_slash() {
    let contract = Contract::new();
    let seeded = Seeded::new(&contract).await;
    for path in ["/openapi.json", "/openapi.json/"] {
        let answer = seeded.stranger.send(Method::GET, path, None).await;
        assert_eq!((answer.status, &answer.body), (200, &contract.document));
        assert_eq!(answer.header("content-type"), "application/json");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_tells_every_operation_and_needs_nothing_but_itself() {
    let contract = Contract::new();
    let seeded = Seeded::new(&contract).await;
    let answer = seeded.stranger.send(Method::GET, "/docs", None).await;
    assert_eq!(answer.status, 200);
    for operation in contract.operations() {
        let anchor = format!("id=\"{}\"", operation.id());
        assert!(answer.text.contains(&anchor), "{anchor}");
    }
    for outside in [
        "<script", "<img", "<link", "@import", "url(", "src=", "=\"http", "=\"//",
    ] {
        assert!(!answer.text.contains(outside), "{outside}");
    }
    let policy = answer.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
}
