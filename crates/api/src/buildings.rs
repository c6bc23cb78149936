//! `GET /public-api/buildings/`: the buildings that the user is linked to, and one of them.

use crate::error::Problem;
use crate::extract::{Member, User};
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use store::{Building, Presence};
use uuid::Uuid;

/// A building.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Building")]
pub(crate) struct BuildingBody {
    uuid: Uuid,
    name: String,
    /// IANA name; rules where a day starts.
    timezone: String,
    /// Changes how curtailment behaves.
    consumption_compensated_curtailment: bool,
}

/// A building and whether its controller is connected.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BuildingWithPresence")]
pub(crate) struct BuildingWithPresenceBody {
    #[serde(flatten)]
    building: BuildingBody,
    /// Null when nothing was ever heard of it.
    presence: Option<PresenceBody>,
}

/// Whether a building's controller is connected.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Presence")]
struct PresenceBody {
    online: bool,
    /// Since when it has been said to be so without interruption; epoch seconds.
    since: i64,
}

/// `GET /public-api/buildings/`
pub(crate) async fn list(
    State(api): State<Api>,
    user: User,
) -> Result<Json<Vec<BuildingBody>>, Problem> {
    let buildings = api.store.buildings_of(&user.username).await?;
    Ok(Json(
        buildings.into_iter().map(BuildingBody::from).collect(),
    ))
}

/// `GET /public-api/buildings/{building}/`
pub(crate) async fn one(
    State(api): State<Api>,
    member: Member,
) -> Result<Json<BuildingWithPresenceBody>, Problem> {
    let found = api.store.building_of(member.building).await?;
    let (building, presence) = found.ok_or(Problem::NotFound)?;
    Ok(Json(BuildingWithPresenceBody {
        building: BuildingBody::from(building),
        presence: presence.map(PresenceBody::from),
    }))
}

impl From<Presence> for PresenceBody {
    fn from(presence: Presence) -> Self {
        Self {
            online: presence.online,
            since: presence.since.seconds(),
        }
    }
}

impl From<Building> for BuildingBody {
    fn from(building: Building) -> Self {
        Self {
            uuid: building.uuid,
            name: building.name,
            timezone: building.timezone,
            consumption_compensated_curtailment: building.consumption_compensated_curtailment,
        }
    }
}
