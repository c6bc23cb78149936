//! `…/schedules/grid_limits/`: the occurrences of a building's grid limit schedule.

pub(crate) mod asked;

use crate::error::{Problem, Violation};
use crate::extract::{Acting, JsonObject, Member, Page, Parameters, PathUuid, item_pointer};
use crate::limits::{GRID_LIMITS_A_PAGE, GRID_LIMITS_DELETED_AT_ONCE};
use crate::state::Api;
use asked::{Listed, creation};
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use domain::control::state::MOST_ENTRIES;
use domain::grid_limit::GridLimit;
use schemars::JsonSchema;
use serde::Serialize;
use store::{CreationRefusal, DeletionRefusal};
use uuid::Uuid;

/// An occurrence of the grid limit schedule; times in epoch seconds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GridLimit")]
pub(crate) struct GridLimitBody {
    grid_limit_uuid: Uuid,
    start_time: i64,
    end_time: i64,
    /// Most power from the grid.
    #[schemars(range(min = 0))]
    delivery_limit_watts: i32,
    /// Most power to the grid.
    #[schemars(range(min = 0))]
    return_delivery_limit_watts: i32,
}

const UUIDS: &str = "grid_limit_uuids";
const TOO_EARLY: (&str, &str) = (
    "too_early",
    "starts in less than 15 minutes, or has started",
);

/// `POST …/schedules/grid_limits/`
pub(crate) async fn create(
    State(api): State<Api>,
    member: Member,
    acting: Acting,
    JsonObject(fields): JsonObject,
) -> Result<impl IntoResponse, Problem> {
    let now = api.now();
    let limit = creation(fields, Uuid::new_v4(), now)?;
    let (building, who) = (member.building, acting.who());
    let created = api.store.create_grid_limit(building, limit, who, now);
    match created.await? {
        Ok(()) => {}
        Err(CreationRefusal::NoBuilding) => return Err(Problem::NotFound),
        Err(CreationRefusal::Full) => return Err(Problem::Invalid(vec![full()])),
    }
    let location = format!("{}{}/", path(member), limit.grid_limit_uuid);
    let body = Json(GridLimitBody::from(limit));
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], body))
}

/// `GET …/schedules/grid_limits/`
pub(crate) async fn list(
    State(api): State<Api>,
    member: Member,
    parameters: Parameters,
) -> Result<Page<GridLimitBody>, Problem> {
    let listed = Listed::of(&parameters)?;
    // One more than fits tells whether there is a next page.
    let asked = listed.asked(api.now(), GRID_LIMITS_A_PAGE.saturating_add(1));
    let mut limits = api.store.grid_limits(member.building, asked).await?;
    let more = limits.len() > GRID_LIMITS_A_PAGE;
    limits.truncate(GRID_LIMITS_A_PAGE);
    let last = limits.last().filter(|_| more);
    Ok(Page {
        next: last.map(|last| format!("{}?{}", path(member), listed.behind(last))),
        items: limits.into_iter().map(GridLimitBody::from).collect(),
    })
}

/// `GET …/schedules/grid_limits/{grid_limit_uuid}/`
pub(crate) async fn one(
    State(api): State<Api>,
    member: Member,
    PathUuid(grid_limit): PathUuid,
) -> Result<Json<GridLimitBody>, Problem> {
    let limit = api.store.grid_limit(member.building, grid_limit).await?;
    let limit = limit.ok_or(Problem::NotFound)?;
    Ok(Json(GridLimitBody::from(limit)))
}

/// `DELETE …/schedules/grid_limits/{grid_limit_uuid}/`
pub(crate) async fn delete(
    State(api): State<Api>,
    member: Member,
    acting: Acting,
    PathUuid(grid_limit): PathUuid,
) -> Result<StatusCode, Problem> {
    let field = |_| "/grid_limit_uuid".to_owned();
    delete_all(&api, member, &acting, &[grid_limit], field).await
}

/// `POST …/schedules/grid_limits/bulk-delete/`
pub(crate) async fn bulk_delete(
    State(api): State<Api>,
    member: Member,
    acting: Acting,
    JsonObject(mut fields): JsonObject,
) -> Result<StatusCode, Problem> {
    let uuids = fields.required_uuids(UUIDS, GRID_LIMITS_DELETED_AT_ONCE);
    let uuids = fields.finish(uuids)?;
    let field = |index| item_pointer(UUIDS, index);
    delete_all(&api, member, &acting, &uuids, field).await
}

/// Deletes all of them or none; `field` names the place in the request that a uuid has by its index.
async fn delete_all(
    api: &Api,
    member: Member,
    acting: &Acting,
    uuids: &[Uuid],
    field: impl Fn(usize) -> String,
) -> Result<StatusCode, Problem> {
    let (who, now) = (acting.who(), api.now());
    let deleted = api
        .store
        .delete_grid_limits(member.building, uuids, who, now);
    match deleted.await? {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(DeletionRefusal::Unknown) => Err(Problem::NotFound),
        Err(DeletionRefusal::TooEarly(early)) => {
            let (code, rule) = TOO_EARLY;
            let named = uuids.iter().enumerate();
            let named = named.filter(|(_, uuid)| early.contains(uuid));
            let violation =
                |(index, uuid)| Violation::new(field(index), code, format!("{uuid} {rule}"));
            Err(Problem::Invalid(named.map(violation).collect()))
        }
    }
}

fn full() -> Violation {
    let rule =
        format!("the building would have more than {MOST_ENTRIES} occurrences, sockets and blocks");
    Violation::new("/start_timestamp", "too_many", rule)
}

fn path(member: Member) -> String {
    format!(
        "/public-api/buildings/{}/schedules/grid_limits/",
        member.building
    )
}

impl From<GridLimit> for GridLimitBody {
    fn from(limit: GridLimit) -> Self {
        Self {
            grid_limit_uuid: limit.grid_limit_uuid,
            start_time: limit.start.seconds(),
            end_time: limit.end.seconds(),
            delivery_limit_watts: limit.delivery_limit_watts,
            return_delivery_limit_watts: limit.return_delivery_limit_watts,
        }
    }
}
