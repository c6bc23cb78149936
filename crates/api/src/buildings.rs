//! `GET /public-api/buildings/`: the buildings that the user is linked to.

use crate::error::Problem;
use crate::extract::User;
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use store::Building;
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

pub(crate) async fn list(
    State(api): State<Api>,
    user: User,
) -> Result<Json<Vec<BuildingBody>>, Problem> {
    let buildings = api.store.buildings_of(&user.username).await?;
    Ok(Json(
        buildings.into_iter().map(BuildingBody::from).collect(),
    ))
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
