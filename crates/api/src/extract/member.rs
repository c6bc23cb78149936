//! The building in the path, and what the user may do there: decided here and nowhere else.

use crate::error::Problem;
use crate::extract::{User, parse_uuid};
use crate::state::Api;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use store::Role;
use uuid::Uuid;

/// A user's access to a building: proof that the user may do there what the request asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// The building in the path.
    pub(crate) building: Uuid,
}

/// Lets only users through who are linked to the building in the path; to all others it does not
/// exist. What is not GET or HEAD acts, which is the operator's.
pub(crate) async fn require_membership(
    State(api): State<Api>,
    user: User,
    path: Result<RawPathParams, RawPathParamsRejection>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    // A path that is not UTF-8 names no building.
    let building = path
        .ok()
        .and_then(|path| building(&path))
        .ok_or(Problem::NotFound)?;
    let role = api
        .store
        .role_of(&user.username, building)
        .await?
        .ok_or(Problem::NotFound)?;
    if role < needed(request.method()) {
        return Err(Problem::PermissionDenied);
    }
    request.extensions_mut().insert(Member { building });
    Ok(next.run(request).await)
}

fn building(path: &RawPathParams) -> Option<Uuid> {
    let (_, text) = path.iter().find(|(name, _)| *name == "building")?;
    parse_uuid(text)
}

fn needed(method: &Method) -> Role {
    if method.is_safe() {
        Role::Viewer
    } else {
        Role::Operator
    }
}

impl FromRequestParts<Api> for Member {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Problem> {
        let member = parts.extensions.get::<Self>().copied();
        member.ok_or_else(|| Problem::Internal("the path is not a building's".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_only_read_needs_an_operator() {
        let check = |method: Method, role| assert_eq!(needed(&method), role, "{method}");
        check(Method::GET, Role::Viewer);
        check(Method::HEAD, Role::Viewer);
        check(Method::POST, Role::Operator);
        check(Method::DELETE, Role::Operator);
        check(Method::PUT, Role::Operator);
        check(Method::PATCH, Role::Operator);
        assert!(Role::Viewer < Role::Operator);
    }
}
