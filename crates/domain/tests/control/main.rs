//! The control state against a model that knows the whole history and computes everything from it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, with its place"
)]

mod history;
mod machine;
mod model;
mod random;
