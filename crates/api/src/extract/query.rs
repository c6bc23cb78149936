//! The query string, in which parameters repeat.

use crate::error::{Problem, Violation};
use crate::limits::LARGEST_INTEGER;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use domain::time::Timestamp;

/// The parameters of the query string, decoded, in their order; those that nobody asks for are
/// passed over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Every value of a parameter.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let of_name = move |(key, value): &'a (String, String)| (key == name).then_some(&**value);
        self.0.iter().filter_map(of_name)
    }

    /// Every item of a parameter that may repeat and be a comma list.
    pub(crate) fn items<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.all(name)
            .flat_map(|value| value.split(','))
            .map(str::trim)
    }

    /// The value of a parameter that may be left out but not repeat, as `read` understands it; what
    /// it does not understand breaks the rule `code`, which `rule` tells.
    pub(crate) fn optional<T>(
        &self,
        name: &str,
        violations: &mut Vec<Violation>,
        (code, rule): (&'static str, &str),
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let mut values = self.all(name);
        let value = values.next()?;
        let field = format!("/{name}");
        if values.next().is_some() {
            let detail = format!("{name} can be given once only");
            violations.push(Violation::new(field, "repeated", detail));
            return None;
        }
        let understood = read(value);
        if understood.is_none() {
            violations.push(Violation::new(field, code, format!("{name} {rule}")));
        }
        understood
    }

    /// A point in time, in whole epoch seconds, that may be left out.
    pub(crate) fn optional_seconds(
        &self,
        name: &str,
        violations: &mut Vec<Violation>,
    ) -> Option<Timestamp> {
        let rule = ("not_epoch_seconds", "must be whole epoch seconds");
        self.optional(name, violations, rule, epoch_seconds)
    }
}

/// Reads whole seconds within the range of a body's integers; milliseconds are beyond it.
pub(crate) fn epoch_seconds(text: &str) -> Option<Timestamp> {
    let seconds: i32 = text.parse().ok()?;
    (seconds >= -LARGEST_INTEGER).then(|| Timestamp::from_seconds(seconds.into()))
}

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(Query(pairs)) = Query::from_request_parts(parts, state).await else {
            // Any query string is a list of pairs, if need be with empty values.
            return Err(Problem::Internal(
                "the query string is no list of pairs".to_owned(),
            ));
        };
        Ok(Self(pairs))
    }
}
