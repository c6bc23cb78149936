//! Requests made from the OpenAPI document, good and mutated: every answer is one that it describes.

#[path = "http_fuzz/bodies.rs"]
mod bodies;
#[path = "http_fuzz/requests.rs"]
mod requests;
#[path = "http_fuzz/wishes.rs"]
mod wishes;

pub(crate) use bodies::mutated_body;

use crate::contract::{Contract, Operation};
use crate::openapi::examples::Seeded;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use requests::{Known, Request};
use std::collections::BTreeMap;
use testkit::Answer;
use uuid::Uuid;

/// Some ten seconds on two slow cores.
const REQUESTS: u32 = 2_000;
/// Buildings of each user: enough requests an hour for all.
const BUILDINGS: usize = 12;

/// The seed: always the same, so that a failure is the change's; another one by `WATTLINE_FUZZ_SEED`.
#[expect(
    clippy::disallowed_methods,
    reason = "a test has no settings; this one repeats or explores"
)]
fn seed() -> u64 {
    std::env::var("WATTLINE_FUZZ_SEED").map_or(20_231_114, |it| it.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_one_that_the_document_describes() {
    let seed = seed();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let contract = Contract::new();
    let buildings: Vec<Uuid> = (0..BUILDINGS).map(|_| Uuid::new_v4()).collect();
    let seeded = Seeded::with(&contract, &buildings).await;
    let mut known = Known::new(&contract, &seeded).await;
    let operations = contract.operations();
    let mut statuses: BTreeMap<(String, u16), u32> = BTreeMap::new();
    for number in 0..REQUESTS {
        let request = Request::make(&mut random, &operations, &known);
        let answer = request.send(&seeded.api).await;
        let operation = request.meant(&operations);
        let wrong = judge(&contract, &request, operation, &answer);
        assert!(
            wrong.is_empty(),
            "request {number} of WATTLINE_FUZZ_SEED={seed}: {request:?}\n{}: {}\n{wrong:#?}",
            answer.status,
            answer.text,
        );
        known.learn(operation, &answer);
        let id = operation.map_or_else(String::new, |it| it.id().to_owned());
        *statuses.entry((id, answer.status)).or_default() += 1;
    }
    for operation in &operations {
        let good = (200..300).any(|it| statuses.contains_key(&(operation.id().to_owned(), it)));
        assert!(
            good,
            "no good request for {}: {statuses:#?}",
            operation.id()
        );
    }
    for status in [200, 201, 204, 400, 401, 403, 404, 405, 409, 413] {
        let seen = statuses.keys().any(|(_, it)| *it == status);
        assert!(seen, "no request was answered with {status}: {statuses:#?}");
    }
}

/// What is wrong with an answer; `operation` is the one that the request is for, if there is one.
fn judge(
    contract: &Contract,
    request: &Request,
    operation: Option<&Operation>,
    answer: &Answer,
) -> Vec<String> {
    if answer.status >= 500 {
        return vec!["the service failed".to_owned()];
    }
    match operation {
        Some(operation) if request.method == "HEAD" => contract.wrong_to_head(operation, answer),
        None if request.method == "HEAD" => Vec::new(),
        Some(operation) => {
            let mut wrong = contract.wrong(operation, answer);
            if (200..300).contains(&answer.status) {
                wrong.extend(request.undocumented(contract, operation));
            }
            wrong
        }
        None if answer.status == 405 => contract.wrong_as_not_allowed(answer),
        None => contract.wrong_as_problem(answer),
    }
}
