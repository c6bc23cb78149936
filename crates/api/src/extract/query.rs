//! The query string, in which parameters repeat.

use crate::error::Problem;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;

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
