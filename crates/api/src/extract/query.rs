//! The query string, in which parameters repeat.

use crate::error::{Problem, Violation};
use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
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

    /// Reads a parameter that may be given once: `None` when it is not there, and when it breaks a
    /// rule, which is then told among the violations.
    pub(crate) fn once<T>(
        &self,
        name: &str,
        violations: &mut Vec<Violation>,
        read: impl FnOnce(&str) -> Result<T, BrokenRule>,
    ) -> Option<T> {
        let mut values = self.all(name);
        let first = values.next()?;
        let value = match values.next() {
            Some(_) => Err(("repeated", "may be given once only")),
            None => read(first),
        };
        match value {
            Ok(value) => Some(value),
            Err((code, rule)) => {
                let detail = format!("{name} {rule}");
                violations.push(Violation::new(format!("/{name}"), code, detail));
                None
            }
        }
    }

    /// The parameters of an address.
    pub(crate) fn of(uri: &Uri) -> Result<Self, Problem> {
        let Ok(Query(pairs)) = Query::try_from_uri(uri) else {
            // Any query string is a list of pairs, if need be with empty values.
            return Err(Problem::Internal(
                "the query string is no list of pairs".to_owned(),
            ));
        };
        Ok(Self(pairs))
    }

    /// The parameters of a query string.
    #[cfg(test)]
    pub(crate) fn parse(query: &str) -> Self {
        let uri: Uri = format!("/?{query}").parse().unwrap();
        Self(Query::try_from_uri(&uri).unwrap().0)
    }
}

/// The code of the rule that a parameter breaks, and what it says, after the parameter's name.
pub(crate) type BrokenRule = (&'static str, &'static str);

/// A time this far from 1970 is in milliseconds: in seconds it is the year 5138.
const FIRST_MILLISECONDS: u64 = 100_000_000_000;

/// Reads a moment in whole epoch seconds.
pub(crate) fn epoch_seconds(text: &str) -> Result<Timestamp, BrokenRule> {
    match text.parse::<i64>() {
        Ok(seconds) if seconds.unsigned_abs() < FIRST_MILLISECONDS => {
            Ok(Timestamp::from_seconds(seconds))
        }
        Ok(_) => Err(("out_of_range", "must be in seconds, not in milliseconds")),
        Err(_) => Err(("not_an_integer", "must be whole seconds since the epoch")),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::of(&parts.uri)
    }
}
