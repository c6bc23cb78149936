//! What an action's body asks for, and every rule that it breaks.

mod family;
mod fcr;
mod inverters;
mod power;
mod setpoints;
mod sockets;

use crate::error::{Problem, Violation};
use crate::extract::Fields;
use crate::limits::LARGEST_INTEGER;
use domain::control::action::SHORTEST_TIMEOUT_S;
use domain::control::{Action, SetpointValue};
use domain::sensor::SensorKind;
use domain::time::Timestamp;
use std::ops::RangeInclusive;
use store::Facts;
use uuid::Uuid;

/// What every power may be.
const WATTS: RangeInclusive<i32> = 0..=LARGEST_INTEGER;

/// What timeouts of inverters, battery and car sockets may be.
const TIMEOUT_S: RangeInclusive<i32> = SHORTEST_TIMEOUT_S..=LARGEST_INTEGER;

/// A body that was read: what it asks for, and what is wrong with it so far.
#[derive(Debug)]
pub(crate) struct Asked {
    fields: Fields,
    action: Option<Action>,
    found: Found,
    /// JSON pointer of what makes the body one of its family.
    place: String,
}

/// What the rules need to be held against that only the database knows.
#[derive(Debug, Default)]
struct Found {
    /// Sensors, each with the kind that it must have and its place in the body.
    sensors: Vec<(Uuid, SensorKind, String)>,
    kill_switch: Option<KillSwitch>,
}

/// What a setpoints command says of the kill switch; see `State::lacks_fallback`.
#[derive(Debug)]
struct KillSwitch {
    fallback_timeout_minutes: Option<i32>,
    fallback: Option<Vec<SetpointValue>>,
    /// JSON pointer of the fallback setpoints.
    place: String,
}

impl Asked {
    /// Reads a body.
    pub(crate) fn of(mut fields: Fields, now: Timestamp) -> Self {
        let mut found = Found::default();
        let place = family::tell(&mut fields);
        let actions = [
            inverters::take(&mut fields),
            power::take_battery(&mut fields),
            power::take_grid_target(&mut fields),
            sockets::take(&mut fields, &mut found),
            setpoints::take(&mut fields, &mut found),
            fcr::take(&mut fields, now),
        ];
        Self {
            action: actions.into_iter().flatten().next(),
            fields,
            found,
            place,
        }
    }

    /// Remembers what else is wrong with the request.
    pub(super) fn refuse(&mut self, violation: Violation) {
        self.fields.refuse(violation);
    }

    /// The sensors that the body names.
    pub(super) fn sensors(&self) -> Vec<Uuid> {
        self.found.sensors.iter().map(|it| it.0).collect()
    }

    /// JSON pointer of what makes the body one of its family.
    pub(super) fn place(&self) -> String {
        self.place.clone()
    }

    /// The action, if no rule is broken, those included that need the database.
    pub(crate) fn judge(mut self, facts: Facts<'_>) -> Result<Action, Problem> {
        for (sensor, needed, place) in self.found.sensors {
            match facts.sensors.get(&sensor) {
                Some(kind) if *kind == needed => {}
                Some(kind) => {
                    let (kind, needed) = (kind.as_str(), needed.as_str());
                    let rule = format!("{sensor} is of kind {kind} and must be of kind {needed}");
                    self.fields
                        .refuse(Violation::new(place, "wrong_kind", rule));
                }
                None => {
                    let rule = format!("the building has no sensor {sensor}");
                    self.fields
                        .refuse(Violation::new(place, "unknown_sensor", rule));
                }
            }
        }
        if let Some(kill_switch) = self.found.kill_switch {
            let minutes = kill_switch.fallback_timeout_minutes;
            let fallback = kill_switch.fallback.as_deref();
            if facts.state.lacks_fallback(minutes, fallback) {
                let rule = "fallback_setpoints must be there, now or before, where \
                            fallback_timeout_minutes is above 0";
                let violation = Violation::new(kill_switch.place, "required", rule);
                self.fields.refuse(violation);
            }
        }
        self.fields.finish(self.action)
    }
}
