//! The building in the path, and what the user may do there: decided here and nowhere else.

use crate::error::Problem;
use crate::router::Access;
use crate::state::Api;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use store::Role;
use uuid::Uuid;

/// A user's link to the building in the path, as it is in the database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// The building.
    pub(crate) building: Uuid,
    /// What the user may do there.
    pub(crate) role: Role,
}

/// A user's access to a building: proof that the user may do there what the request asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// The building in the path.
    pub(crate) building: Uuid,
}

/// Lets requests through to an operation of this access. What is not GET or HEAD acts, which in a
/// building is the operator's.
pub(crate) async fn authorise(
    State(access): State<Access>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match access {
        Access::Open | Access::User => {}
        Access::Building => {
            let link = request.extensions().get::<Link>().copied();
            let Link { building, role } = link.ok_or_else(not_of_a_building)?;
            if role < needed(request.method()) {
                return Err(Problem::PermissionDenied);
            }
            request.extensions_mut().insert(Member { building });
        }
    }
    Ok(next.run(request).await)
}

fn not_of_a_building() -> Problem {
    Problem::Internal("the operation is not below a building's path".to_owned())
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
        member.ok_or_else(not_of_a_building)
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
