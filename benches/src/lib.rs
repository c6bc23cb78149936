#![doc = include_str!("../README.md")]

pub mod columns;
pub mod cost;
pub mod figures;
pub mod files;
pub mod records;
pub mod role;
pub mod side_by_side;
pub mod typed;

/// Any error, with words that tell what went wrong.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What the bench tells a contender, by the name of the environment variable; the page has them all.
///
/// # Errors
/// The name, when it is not told.
#[expect(
    clippy::disallowed_methods,
    reason = "what the bench tells a contender; no setting of the service"
)]
pub fn told(name: &str) -> Outcome<String> {
    std::env::var(name).map_err(|error| format!("{name}: {error}").into())
}
