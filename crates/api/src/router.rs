//! Every path of the API, and who may use it.

use crate::error::Problem;
use crate::extract::{authenticate, require_membership};
use crate::state::Api;
use crate::{buildings, electricity, grid_limits, login, sensors};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

/// The whole API. A path belongs to one of three groups, and its group decides who may use it.
pub(crate) fn router(api: Api) -> Router {
    // Everybody.
    let open = Router::new().route("/public-api/token/", post(login::log_in));

    // Every user who is logged in; to everybody else, a path that is none is as closed as the others.
    let of_user = Router::new()
        .route("/public-api/buildings/", get(buildings::list))
        .route("/public-api/{*nowhere}", any(async || Problem::NotFound));

    // Users who are linked to the building; viewers only with GET and HEAD.
    let of_building = [
        ("/sensors/", get(sensors::list)),
        ("/electricity/actual/", get(electricity::actual)),
        ("/electricity/latest/", get(electricity::latest)),
        (
            "/electricity/sensors/actual/",
            get(electricity::sensors_actual),
        ),
        (
            "/electricity/sensors/latest/",
            get(electricity::sensors_latest),
        ),
        (
            "/schedules/grid_limits/",
            get(grid_limits::list).post(grid_limits::create),
        ),
        (
            "/schedules/grid_limits/bulk-delete/",
            post(grid_limits::bulk_delete),
        ),
        (
            "/schedules/grid_limits/{grid_limit}/",
            get(grid_limits::one).delete(grid_limits::delete),
        ),
    ];
    let member = from_fn_with_state(api.clone(), require_membership);
    let of_building = of_building
        .into_iter()
        .fold(Router::new(), |router, (path, methods)| {
            // On the methods and not on the path: a method that the path has not is 405, not 403.
            router.route(path, methods.route_layer(member.clone()))
        });

    let authenticated = of_user
        .nest("/public-api/buildings/{building}", of_building)
        .route_layer(from_fn_with_state(api.clone(), authenticate));

    open.merge(authenticated).with_state(api)
}

#[cfg(test)]
mod tests;
