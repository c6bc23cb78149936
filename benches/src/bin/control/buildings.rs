//! The buildings, and who may act in them.

use serde_json::{Value, json};
use uuid::Uuid;

/// Buildings of one user: the budget of each user is 500 requests an hour for each.
pub(crate) const USERS_BUILDINGS: u32 = 20;
/// Password of every user.
pub(crate) const PASSWORD: &str = "a password for one machine";

/// A building with one car socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Building {
    pub(crate) uuid: Uuid,
    pub(crate) socket: Uuid,
}

/// So many.
pub(crate) fn buildings(count: u32) -> Vec<Building> {
    let building = |_| Building {
        uuid: Uuid::new_v4(),
        socket: Uuid::new_v4(),
    };
    (0..count).map(building).collect()
}

/// The name of the user of the buildings from `20 * number` on.
pub(crate) fn username(number: u32) -> String {
    format!("user-{number}")
}

/// All of them, and an operator for each twenty of the first `acted`.
pub(crate) fn fleet_file(buildings: &[Building], acted: u32) -> Value {
    let building = |it: &Building| {
        json!({"uuid": it.uuid, "name": "Building", "timezone": "Europe/Amsterdam", "sensor_hubs": [
            {"uuid": Uuid::new_v4(), "name": "Hub", "kind": "hub", "sensors": [
                {"sensor_uuid": it.socket, "name": "Socket", "kind": "ev_socket"}]}]})
    };
    let acted = &buildings[..buildings.len().min(acted as usize)];
    let users = (0..).zip(acted.chunks(USERS_BUILDINGS as usize));
    let user = |(number, buildings): (u32, &[Building])| {
        let link = |it: &Building| json!({"uuid": it.uuid, "role": "operator"});
        let links: Vec<Value> = buildings.iter().map(link).collect();
        json!({"username": username(number), "password": PASSWORD, "buildings": links})
    };
    json!({
        "buildings": buildings.iter().map(building).collect::<Vec<_>>(),
        "users": users.map(user).collect::<Vec<_>>(),
    })
}
