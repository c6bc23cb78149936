//! Charging power of single car sockets.

use super::{Found, TIMEOUT_S, WATTS};
use crate::extract::Fields;
use domain::control::Action;
use domain::control::action::{MOST_SOCKETS, SocketWish};
use domain::sensor::SensorKind;
use std::collections::HashSet;
use uuid::Uuid;

pub(super) const CONTAINER: &str = "ev_sockets_update";
const SENSOR: &str = "sensor_uuid";
const CHARGE: &str = "ev_socket_set_power_charge_watts";
const TIMEOUT: &str = "ev_socket_set_power_timeout";

/// Takes what the body says of car sockets, if it says anything.
pub(super) fn take(fields: &mut Fields, found: &mut Found) -> Option<Action> {
    let items = fields.objects(CONTAINER, &(1..=MOST_SOCKETS))?;
    let mut seen = HashSet::with_capacity(items.len());
    let mut take_wish = |mut item: Fields| {
        let sensor = take_sensor(&mut item, SensorKind::EvSocket, &mut seen, found);
        let charge_watts = item.required_integer_within(CHARGE, &WATTS);
        let timeout_s = item.required_integer_within(TIMEOUT, &TIMEOUT_S);
        fields.close(item);
        wish(sensor, charge_watts, timeout_s)
    };
    // Every item is looked at, whatever is wrong with those before.
    let wishes: Vec<_> = items.into_iter().map(|it| take_wish(it?)).collect();
    let wishes: Option<_> = wishes.into_iter().collect();
    wishes.map(Action::EvSockets)
}

fn wish(
    sensor: Option<Uuid>,
    charge_watts: Option<i32>,
    timeout_s: Option<i32>,
) -> Option<SocketWish> {
    Some(SocketWish {
        sensor_uuid: sensor?,
        charge_watts: charge_watts?,
        timeout_s: timeout_s?,
    })
}

/// Takes the sensor of an item, which must be of this kind and none of those that were seen.
pub(super) fn take_sensor(
    item: &mut Fields,
    kind: SensorKind,
    seen: &mut HashSet<Uuid>,
    found: &mut Found,
) -> Option<Uuid> {
    let sensor = item.required_uuid(SENSOR)?;
    if seen.insert(sensor) {
        found.sensors.push((sensor, kind, item.pointer(SENSOR)));
    } else {
        item.violate(SENSOR, "repeated", "is there already");
    }
    Some(sensor)
}
