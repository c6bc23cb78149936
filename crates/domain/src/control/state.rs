//! A building's control state: what is desired of it, and what must be remembered besides.
//!
//! Everything ends at a whole second: an action counts from the second in which it was taken, as its
//! `created_at` tells it.

mod setpoints;
mod sockets;
mod transition;

use super::action::{Action, InverterTimeout};
use super::desired::{
    Battery, Desired, Fallback, FcrBlock, GridTarget, InverterPower, Inverters, SetpointValue,
};
use crate::grid_limit::GridLimit;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Most entries of a desired document: sockets, setpoints, blocks and occurrences together. With it
/// a document stays within the 256 KiB that a broker takes.
pub const MOST_ENTRIES: usize = 1_000;

/// What is desired of a building, and what must be remembered besides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct State {
    desired: Desired,
    /// The inverter timeout that was given last, seconds.
    inverter_timeout_s: Option<i32>,
    /// The kill switch's time, minutes; 0 when it is disabled.
    kill_switch_minutes: i32,
    /// The setpoints that were last said to hold when it fires.
    kill_switch_fallback: Vec<SetpointValue>,
    /// Whose the setpoints in force are: later commands may have left them.
    setpoints_of: Option<Uuid>,
    /// Actions in force that have no entry in the document.
    without_entry: Vec<WithoutEntry>,
}

/// An action that asked for nothing that stays, such as a cancellation: it is done when the
/// controller has the document, or over with what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithoutEntry {
    action_uuid: Uuid,
    about: About,
    until: Option<Timestamp>,
}

/// What an action without entry is about; a newer one about the same takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum About {
    GridTarget,
    Setpoints,
    Fcr(Timestamp),
}

/// What of a building's other facts goes into its control state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The building's flag `consumption_compensated_curtailment`.
    pub consumption_compensated: bool,
    /// Its occurrences; those that have ended may be among them.
    pub grid_limits: Vec<GridLimit>,
}

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// Whether there is a new document to be published.
    pub new_revision: bool,
    /// Whether the applied action is done already, since there was nothing to do.
    pub done: bool,
    /// Which actions are over, in the order of time. One whose fallback was in force may be named
    /// again when that is replaced: it was over before.
    pub ended: Vec<Ended>,
}

/// An action that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which.
    pub action_uuid: Uuid,
    /// Since when.
    pub at: Timestamp,
    /// Why.
    pub cause: Cause,
}

/// Why an action is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its time has passed.
    TimeOver,
    /// A newer one took its place, or cancelled it.
    Replaced,
}

impl State {
    /// What is desired now.
    #[must_use]
    pub const fn desired(&self) -> &Desired {
        &self.desired
    }

    /// How many entries the document has, to be held against [`MOST_ENTRIES`].
    #[must_use]
    pub fn entries(&self) -> usize {
        let setpoints = self.desired.setpoints.as_ref().map_or(0, |setpoints| {
            let fallback = setpoints.end.as_ref().map_or(0, |(_, values)| values.len());
            setpoints.values.len() + fallback
        });
        let desired = &self.desired;
        desired.ev_sockets.len() + desired.fcr.len() + desired.grid_limits.len() + setpoints
    }

    /// The actions in force that are done as soon as the controller has the document.
    #[must_use]
    pub fn without_entry(&self) -> Vec<Uuid> {
        self.without_entry.iter().map(|it| it.action_uuid).collect()
    }

    /// Takes an action that the rules allow; what is due at `now` happens first.
    pub fn apply(
        &mut self,
        action_uuid: Uuid,
        action: &Action,
        surroundings: &Surroundings,
        now: Timestamp,
    ) -> Changed {
        let mut changed = self.advance(surroundings, now);
        let before = changed.ended.len();
        let took = self.take(action_uuid, action, now, &mut changed.ended);
        changed.ended[before..]
            .iter_mut()
            .for_each(|it| it.at = now);
        self.refresh(surroundings, now);
        changed.new_revision |= took;
        changed.done = !took;
        changed
    }

    /// Takes out what a controller has refused to do, or has done for good; answers whether there is a
    /// new document. A kill switch goes on, since it guards what held before.
    pub fn withdraw(&mut self, action_uuid: Uuid) -> bool {
        let before = self.desired.clone();
        let is_it = |of: Uuid| of == action_uuid;
        let desired = &mut self.desired;
        desired.inverters.take_if(|it| is_it(it.action_uuid));
        desired.battery.take_if(|it| is_it(it.action_uuid));
        desired.grid_target.take_if(|it| is_it(it.action_uuid));
        desired.ev_sockets.retain(|it| !is_it(it.action_uuid));
        desired.fcr.retain(|it| !is_it(it.action_uuid));
        self.withdraw_setpoints(action_uuid);
        self.without_entry.retain(|it| !is_it(it.action_uuid));
        self.desired != before
    }

    /// Answers whether there is anything new to tell the controller.
    fn take(
        &mut self,
        action_uuid: Uuid,
        action: &Action,
        now: Timestamp,
        ended: &mut Vec<Ended>,
    ) -> bool {
        match action {
            Action::Inverters {
                power,
                timeout,
                fallback,
            } => {
                let end = self.inverter_end(*power, *timeout, *fallback, now);
                let new = Inverters {
                    action_uuid,
                    power: *power,
                    end,
                    consumption_compensated: false,
                };
                replaced(
                    self.desired.inverters.replace(new).map(|it| it.action_uuid),
                    ended,
                );
            }
            Action::Battery { power, timeout_s } => {
                let new = Battery {
                    action_uuid,
                    power: *power,
                    until: end_after(now, *timeout_s),
                };
                replaced(
                    self.desired.battery.replace(new).map(|it| it.action_uuid),
                    ended,
                );
            }
            Action::GridTarget { power, duration_s } => {
                let new = GridTarget {
                    action_uuid,
                    power: *power,
                    effective: *power,
                    until: end_after(now, *duration_s),
                };
                let old = self.desired.grid_target.replace(new);
                replaced(old.map(|it| it.action_uuid), ended);
                self.replace_without_entry(About::GridTarget, ended);
            }
            Action::GridTargetCancel => return self.cancel_grid_target(action_uuid, ended),
            Action::EvSockets(wishes) => self.take_sockets(action_uuid, wishes, now, ended),
            Action::Setpoints {
                fallback_timeout_minutes,
                values,
                fallback,
            } => {
                self.set_kill_switch(*fallback_timeout_minutes, fallback.as_deref());
                self.take_setpoints(action_uuid, values.as_deref(), now, ended);
            }
            Action::FcrPlan {
                start,
                stop,
                power_watts,
            } => {
                self.remove_block(*start, ended);
                self.desired.fcr.push(FcrBlock {
                    action_uuid,
                    power_watts: *power_watts,
                    start: *start,
                    stop: *stop,
                });
                self.desired.fcr.sort_by_key(|it| it.start);
            }
            Action::FcrCancel { start } => return self.cancel_block(action_uuid, *start, ended),
        }
        true
    }

    fn inverter_end(
        &mut self,
        power: InverterPower,
        timeout: InverterTimeout,
        fallback: Option<InverterPower>,
        now: Timestamp,
    ) -> Option<(Timestamp, Fallback)> {
        match timeout {
            InverterTimeout::Sticky => {}
            InverterTimeout::Seconds(seconds) => self.inverter_timeout_s = Some(seconds),
            InverterTimeout::Cleared => self.inverter_timeout_s = None,
        }
        let fallback = match (fallback, power) {
            // To a controller it is the same: nothing is desired any more.
            (Some(InverterPower::Percentage(all)), _) if all >= 100.0 => Fallback::FullPercentage,
            (Some(fallback), _) => Fallback::To(fallback),
            (None, InverterPower::Percentage(_)) => Fallback::FullPercentage,
            (None, InverterPower::Watts(_)) => Fallback::UnlimitedWatts,
        };
        let seconds = self.inverter_timeout_s?;
        Some((end_after(now, seconds), fallback))
    }

    fn cancel_grid_target(&mut self, action_uuid: Uuid, ended: &mut Vec<Ended>) -> bool {
        let Some(cancelled) = self.desired.grid_target.take() else {
            return false;
        };
        replaced(Some(cancelled.action_uuid), ended);
        self.without_entry.push(WithoutEntry {
            action_uuid,
            about: About::GridTarget,
            until: Some(cancelled.until),
        });
        true
    }

    fn cancel_block(
        &mut self,
        action_uuid: Uuid,
        start: Timestamp,
        ended: &mut Vec<Ended>,
    ) -> bool {
        let planned = self
            .desired
            .fcr
            .iter()
            .find(|it| it.start == start)
            .copied();
        let Some(planned) = planned else {
            return false;
        };
        self.remove_block(start, ended);
        self.without_entry.push(WithoutEntry {
            action_uuid,
            about: About::Fcr(start),
            until: Some(planned.stop),
        });
        true
    }

    fn remove_block(&mut self, start: Timestamp, ended: &mut Vec<Ended>) {
        for block in self.desired.fcr.extract_if(.., |it| it.start == start) {
            replaced(Some(block.action_uuid), ended);
        }
        self.replace_without_entry(About::Fcr(start), ended);
    }

    fn replace_without_entry(&mut self, about: About, ended: &mut Vec<Ended>) {
        for old in self.without_entry.extract_if(.., |it| it.about == about) {
            replaced(Some(old.action_uuid), ended);
        }
    }
}

/// Notes that an action was replaced; [`State::apply`] sets the time.
fn replaced(action_uuid: Option<Uuid>, ended: &mut Vec<Ended>) {
    ended.extend(action_uuid.map(|action_uuid| Ended {
        action_uuid,
        at: Timestamp::from_seconds(0),
        cause: Cause::Replaced,
    }));
}

/// The whole second at which something is over that lasts this long.
fn end_after(now: Timestamp, seconds: i32) -> Timestamp {
    Timestamp::from_seconds(now.seconds().saturating_add(i64::from(seconds)))
}

#[cfg(test)]
mod tests;
