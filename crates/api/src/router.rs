//! Every operation of the API, in one table, and who may use it.
//!
//! The router is made from the table, so that no operation can stand in it without saying who may use
//! it and what it does; tests walk the table and hold every operation to what it says.

use crate::admission::admit;
use crate::description::Description;
use crate::error::Problem;
use crate::extract::{authorise, refuse_large_body};
use crate::state::Api;
use crate::{
    actions, buildings, comfort, described, electricity, grid_limits, key_values, login,
    meter_readings, openapi, refresh, sensors,
};
use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{self, MethodRouter};
use tower::Layer;

/// Who may use an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody, without a token.
    Open,
    /// Every user who is logged in.
    User,
    /// Users who are linked to the building that the path names as `{building}`: viewers with GET and
    /// HEAD, operators with every method.
    Building,
}

/// What a method of a path does, and who may use it.
#[derive(Clone, Debug)]
pub struct Operation {
    /// GET stands for HEAD too.
    pub method: Method,
    /// From `/public-api/` on, with its last slash; parameters in braces.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
    /// What the OpenAPI document says of it.
    pub(crate) describe: fn() -> Description,
    route: MethodRouter<Api>,
}

/// Every operation, in the order in which people read them.
#[rustfmt::skip]
#[must_use]
pub fn operations() -> Vec<Operation> {
    use Access::{Building, Open, User};
    vec![
        post("/public-api/token/", Open, login::log_in, described::tokens::log_in),
        post("/public-api/token/refresh/", Open, refresh::refresh, described::tokens::refresh),

        get("/public-api/buildings/", User, buildings::list, described::buildings::list),

        get("/public-api/buildings/{building}/", Building, buildings::one, described::buildings::one),
        get("/public-api/buildings/{building}/sensors/", Building, sensors::list, described::buildings::sensors),
        get("/public-api/buildings/{building}/electricity/actual/", Building, electricity::actual, described::electricity::actual),
        get("/public-api/buildings/{building}/electricity/latest/", Building, electricity::latest, described::electricity::latest),
        get("/public-api/buildings/{building}/electricity/sensors/actual/", Building, electricity::sensors_actual, described::electricity::sensors_actual),
        get("/public-api/buildings/{building}/electricity/sensors/latest/", Building, electricity::sensors_latest, described::electricity::sensors_latest),
        get("/public-api/buildings/{building}/electricity/meterreadings/", Building, meter_readings::of_interval, described::meter_readings::of_interval),
        get("/public-api/buildings/{building}/electricity/meterreadings/actual/", Building, meter_readings::actual, described::meter_readings::actual),
        get("/public-api/buildings/{building}/electricity/meterreadings/latest/", Building, meter_readings::latest, described::meter_readings::latest),
        get("/public-api/buildings/{building}/keyvalue/actual/", Building, key_values::actual, described::key_values::actual),
        get("/public-api/buildings/{building}/keyvalue/latest/", Building, key_values::latest, described::key_values::latest),
        get("/public-api/buildings/{building}/comfort/history/day/", Building, comfort::history_of_day, described::comfort::history_of_day),

        get("/public-api/buildings/{building}/actions/", Building, actions::list, described::actions::list),
        post("/public-api/buildings/{building}/actions/", Building, actions::create, described::actions::create),
        get("/public-api/buildings/{building}/actions/{action_uuid}/", Building, actions::one, described::actions::one),

        get("/public-api/buildings/{building}/schedules/grid_limits/", Building, grid_limits::list, described::grid_limits::list),
        post("/public-api/buildings/{building}/schedules/grid_limits/", Building, grid_limits::create, described::grid_limits::create),
        post("/public-api/buildings/{building}/schedules/grid_limits/bulk-delete/", Building, grid_limits::bulk_delete, described::grid_limits::bulk_delete),
        get("/public-api/buildings/{building}/schedules/grid_limits/{grid_limit_uuid}/", Building, grid_limits::one, described::grid_limits::one),
        delete("/public-api/buildings/{building}/schedules/grid_limits/{grid_limit_uuid}/", Building, grid_limits::delete, described::grid_limits::delete),

        get("/public-api/openapi.json/", Open, openapi::json, described::documentation::document),
        get("/public-api/docs/", Open, openapi::page, described::documentation::page),
    ]
}

fn get<H: Handler<T, Api>, T: 'static>(
    path: &'static str,
    access: Access,
    handler: H,
    describe: fn() -> Description,
) -> Operation {
    Operation {
        method: Method::GET,
        path,
        access,
        describe,
        route: routing::get(handler),
    }
}

fn post<H: Handler<T, Api>, T: 'static>(
    path: &'static str,
    access: Access,
    handler: H,
    describe: fn() -> Description,
) -> Operation {
    Operation {
        method: Method::POST,
        path,
        access,
        describe,
        route: routing::post(handler),
    }
}

fn delete<H: Handler<T, Api>, T: 'static>(
    path: &'static str,
    access: Access,
    handler: H,
    describe: fn() -> Description,
) -> Operation {
    Operation {
        method: Method::DELETE,
        path,
        access,
        describe,
        route: routing::delete(handler),
    }
}

/// The whole API. What is not open, paths and methods that do not exist included, is reached through
/// [`admit`] only; then each operation asks [`authorise`].
pub(crate) fn router(api: Api) -> Router {
    let mut open = Router::new();
    let mut closed = Router::new().fallback(async || Problem::NotFound);
    for Operation {
        path,
        access,
        route,
        ..
    } in operations()
    {
        let route = route
            .route_layer(from_fn(refuse_large_body))
            .route_layer(from_fn_with_state(access, authorise));
        match access {
            Access::Open => open = open.route(path, route),
            Access::User | Access::Building => closed = closed.route(path, route),
        }
    }
    let closed = closed.with_state(api.clone());
    let admitted = from_fn_with_state(api.clone(), admit).layer(closed);
    open.fallback_service(admitted).with_state(api)
}

#[cfg(test)]
mod tests;
