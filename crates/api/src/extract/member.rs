//! The building in the path, and what the user may do there: decided here and nowhere else.

use crate::error::Problem;
use crate::extract::parse_uuid;
use crate::router::Access;
use crate::state::Api;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
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
    path: Result<RawPathParams, RawPathParamsRejection>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match access {
        Access::Open | Access::User => {}
        Access::Building => {
            let link = request.extensions().get::<Link>().copied();
            let Link { building, role } = link.ok_or_else(not_of_a_building)?;
            // What cannot exist is told before what may not be done.
            if !path.is_ok_and(|path| names_uuids_only(&path)) {
                return Err(Problem::NotFound);
            }
            if role < needed(request.method()) {
                return Err(Problem::PermissionDenied);
            }
            request.extensions_mut().insert(Member { building });
        }
    }
    Ok(next.run(request).await)
}

/// Below a building, all that a path names is named by uuids.
fn names_uuids_only(path: &RawPathParams) -> bool {
    path.iter().all(|(_, text)| parse_uuid(text).is_some())
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
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn_with_state;
    use axum::routing;
    use tower::ServiceExt;

    #[tokio::test]
    async fn what_is_no_uuid_in_the_path_is_404_to_a_viewer_too() {
        let building = Uuid::from_u128(10);
        let route = routing::delete(async || "").get(async || "");
        let route = route.route_layer(from_fn_with_state(Access::Building, authorise));
        let router = Router::new().route("/{building}/{object}/", route);
        let check = async |method: Method, object: &str, role, status: u16| {
            let uri = format!("/{building}/{object}/");
            let request = Request::builder().method(method).uri(&uri);
            let request = request.extension(Link { building, role });
            let request = request.body(Body::empty()).unwrap();
            let answer = router.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{role:?} {uri}");
        };
        let uuid = building.to_string();
        check(Method::GET, &uuid, Role::Viewer, 200).await;
        check(Method::DELETE, &uuid, Role::Viewer, 403).await;
        check(Method::DELETE, &uuid, Role::Operator, 200).await;
        for odd in ["x", "%ff", "%20", &uuid.replace('-', "")] {
            check(Method::GET, odd, Role::Viewer, 404).await;
            check(Method::DELETE, odd, Role::Viewer, 404).await;
            check(Method::DELETE, odd, Role::Operator, 404).await;
        }
    }

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
