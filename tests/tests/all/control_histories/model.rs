//! What must be in force, computed from the history alone. It keeps no state: for each slot (inverters,
//! battery, grid target, each socket, setpoints, each block) it looks which action came last, until
//! when that holds, and whether it was refused.

#[path = "model/in_force.rs"]
mod in_force;

use crate::control_histories::history::History;
use domain::control::{Action, Cause, Fate, InverterTimeout, Outcome, SetpointValue, Status};
use domain::time::Timestamp;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What an action is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Inverters,
    Battery,
    Grid,
    Socket(Uuid),
    Setpoints,
    Block(Timestamp),
}

/// One action in one slot.
#[derive(Clone, Debug)]
struct Hold<'a> {
    action_uuid: Uuid,
    action: &'a Action,
    until: Option<Timestamp>,
    /// When the next one in the slot came.
    next: Option<Timestamp>,
    /// Whether there was anything to do.
    idle: bool,
}

/// A setpoints command: what held with it, whether it has an entry, and when its kill switch fires.
struct Command {
    values: Vec<SetpointValue>,
    end: Option<(Timestamp, Vec<SetpointValue>)>,
}

pub(crate) struct Model<'a> {
    history: &'a History,
    holds: BTreeMap<Slot, Vec<Hold<'a>>>,
}

/// An action counts from the second in which it was taken.
fn end(at: Timestamp, seconds: i32) -> Timestamp {
    Timestamp::from_seconds(at.micros().div_euclid(1_000_000) + i64::from(seconds))
}

impl<'a> Model<'a> {
    pub(crate) fn of(history: &'a History) -> Self {
        let mut model = Self {
            history,
            holds: BTreeMap::new(),
        };
        let mut sticky = None;
        let mut minutes = 0;
        for (from, action_uuid, action, _) in history.actions() {
            let mut hold = |slot, until| {
                model.hold(slot, from, action_uuid, action, until);
            };
            match action {
                Action::Inverters { timeout, .. } => {
                    sticky = match timeout {
                        InverterTimeout::Sticky => sticky,
                        InverterTimeout::Seconds(seconds) => Some(*seconds),
                        InverterTimeout::Cleared => None,
                    };
                    hold(Slot::Inverters, sticky.map(|it| end(from, it)));
                }
                Action::Battery { timeout_s, .. } => {
                    hold(Slot::Battery, Some(end(from, *timeout_s)));
                }
                Action::GridTarget { duration_s, .. } => {
                    hold(Slot::Grid, Some(end(from, *duration_s)));
                }
                Action::EvSockets(wishes) => {
                    for wish in wishes {
                        let until = end(from, wish.timeout_s);
                        hold(Slot::Socket(wish.sensor_uuid), Some(until));
                    }
                }
                Action::Setpoints {
                    fallback_timeout_minutes,
                    ..
                } => {
                    minutes = fallback_timeout_minutes.unwrap_or(minutes);
                    let until = (minutes > 0).then(|| end(from, minutes * 60));
                    hold(Slot::Setpoints, until);
                }
                Action::FcrPlan { start, stop, .. } => hold(Slot::Block(*start), Some(*stop)),
                Action::GridTargetCancel => model.cancel(Slot::Grid, from, action_uuid, action),
                Action::FcrCancel { start } => {
                    model.cancel(Slot::Block(*start), from, action_uuid, action);
                }
            }
        }
        model
    }

    fn hold(
        &mut self,
        slot: Slot,
        from: Timestamp,
        action_uuid: Uuid,
        action: &'a Action,
        until: Option<Timestamp>,
    ) {
        let holds = self.holds.entry(slot).or_default();
        if let Some(last) = holds.iter_mut().rev().find(|it| !it.idle) {
            last.next = Some(from);
        }
        holds.push(Hold {
            action_uuid,
            action,
            until,
            next: None,
            idle: false,
        });
    }

    /// A cancellation takes the place of what is in force, for as long as that would have been.
    fn cancel(&mut self, slot: Slot, at: Timestamp, action_uuid: Uuid, action: &'a Action) {
        let holds = self.holds.get(&slot).map_or(&[][..], Vec::as_slice);
        let last = holds.iter().rev().find(|it| !it.idle).cloned();
        let cancelled = last.filter(|last| {
            let is_cancellation = matches!(
                last.action,
                Action::GridTargetCancel | Action::FcrCancel { .. }
            );
            !is_cancellation && !self.is_over(last, at)
        });
        match cancelled {
            Some(cancelled) => self.hold(slot, at, action_uuid, action, cancelled.until),
            None => self.holds.entry(slot).or_default().push(Hold {
                action_uuid,
                action,
                until: Some(at),
                next: None,
                idle: true,
            }),
        }
    }

    /// Whether its time is over or it was refused before `at`.
    fn is_over(&self, hold: &Hold<'_>, at: Timestamp) -> bool {
        let refused = self.refused_at(hold.action_uuid);
        hold.until.is_some_and(|until| until <= at) || refused.is_some_and(|it| it <= at)
    }

    /// Every slot of an action.
    fn holds_of(&self, action_uuid: Uuid) -> impl Iterator<Item = &Hold<'a>> {
        let all = self.holds.values().flatten();
        all.filter(move |hold| hold.action_uuid == action_uuid)
    }

    /// When and why the action would be over if the controller said nothing.
    fn natural_end(&self, action_uuid: Uuid) -> Option<(Timestamp, Cause)> {
        let mut last: Option<(Timestamp, bool)> = None;
        for hold in self.holds_of(action_uuid) {
            let (at, replaced) = match (hold.until, hold.next) {
                (Some(until), Some(next)) if until <= next => (until, false),
                (_, Some(next)) => (next, true),
                (Some(until), None) => (until, false),
                (None, None) => return None,
            };
            last = last.max(Some((at, replaced)));
        }
        last.map(|(at, replaced)| match replaced {
            true => (at, Cause::Replaced),
            false => (at, Cause::TimeOver),
        })
    }

    /// When the controller refused it, if it had not answered before and it was in force.
    fn refused_at(&self, action_uuid: Uuid) -> Option<Timestamp> {
        let fate = self.answered(action_uuid);
        fate.filter(|(status, _)| *status == Status::Rejected)
            .map(|(_, at)| at)
    }

    /// The controller's answer, and when it came.
    fn answered(&self, action_uuid: Uuid) -> Option<(Status, Timestamp)> {
        let (from, _, _, revision) = self
            .history
            .actions()
            .find(|(_, uuid, _, _)| *uuid == action_uuid)?;
        if self.holds_of(action_uuid).all(|hold| hold.idle) {
            return Some((Status::Confirmed, from));
        }
        let end = self.natural_end(action_uuid);
        for (at, reported, outcomes) in self.history.reports().filter(|(at, _, _)| *at > from) {
            if end.is_some_and(|(end, _)| end <= at) {
                return None;
            }
            if reported >= revision && !self.has_entry(action_uuid) {
                return Some((Status::Confirmed, at));
            }
            let answer = outcomes.iter().find(|(uuid, _)| *uuid == action_uuid);
            if let Some((_, outcome)) = answer {
                let status = match outcome {
                    Outcome::Accepted => Status::Confirmed,
                    Outcome::Partial => Status::Partial,
                    Outcome::Rejected => Status::Rejected,
                };
                return Some((status, at));
            }
        }
        None
    }

    /// Whether the action stands in the document while it is in force.
    fn has_entry(&self, action_uuid: Uuid) -> bool {
        self.holds_of(action_uuid).any(|hold| match hold.action {
            Action::GridTargetCancel | Action::FcrCancel { .. } => false,
            Action::Setpoints { .. } => {
                let command = self.command(action_uuid);
                !command.values.is_empty() || command.end.is_some()
            }
            Action::Inverters { .. }
            | Action::Battery { .. }
            | Action::GridTarget { .. }
            | Action::EvSockets(_)
            | Action::FcrPlan { .. } => true,
        })
    }

    /// What users must see of an action at `now`.
    pub(crate) fn fate(&self, action_uuid: Uuid, now: Timestamp) -> Fate {
        let answered = self.answered(action_uuid).filter(|(_, at)| *at <= now);
        let idle = self.holds_of(action_uuid).all(|hold| hold.idle);
        let done = idle || !self.has_entry(action_uuid);
        if let Some((status, at)) = answered
            && (status == Status::Rejected || done)
        {
            return Fate {
                status,
                ended_at: Some(at),
            };
        }
        let end = self.natural_end(action_uuid).filter(|(at, _)| *at <= now);
        let status = match (answered, end) {
            (Some((status, _)), _) => status,
            (None, Some((_, Cause::TimeOver))) => Status::Expired,
            (None, Some((_, Cause::Replaced))) => Status::Superseded,
            (None, None) if self.was_delivered(action_uuid, now) => Status::Delivered,
            (None, None) => Status::Accepted,
        };
        Fate {
            status,
            ended_at: end.map(|(at, _)| at),
        }
    }

    fn was_delivered(&self, action_uuid: Uuid, now: Timestamp) -> bool {
        let mut actions = self.history.actions();
        let Some((from, _, _, revision)) = actions.find(|(_, uuid, _, _)| *uuid == action_uuid)
        else {
            return false;
        };
        let mut reports = self.history.reports();
        reports.any(|(at, reported, _)| from < at && at <= now && reported >= revision)
    }

    /// What a setpoints command said, with what it took over from those before.
    fn command(&self, action_uuid: Uuid) -> Command {
        let (mut values, mut fallback) = (Vec::new(), Vec::new());
        let holds = self.holds.get(&Slot::Setpoints);
        for hold in holds.into_iter().flatten() {
            let Action::Setpoints {
                values: new,
                fallback: new_fallback,
                ..
            } = hold.action
            else {
                continue;
            };
            if let Some(new_fallback) = new_fallback {
                fallback.clone_from(new_fallback);
            }
            if let Some(new) = new {
                values.clone_from(new);
            }
            if hold.action_uuid == action_uuid {
                let end = hold.until.map(|until| (until, fallback));
                return Command { values, end };
            }
            // What the next one finds: nothing where this brought what it found and was refused, the
            // fallback where it fired.
            if new.is_some() && self.refused_at(hold.action_uuid).is_some() {
                values.clear();
            }
            if hold
                .until
                .is_some_and(|until| hold.next.is_some_and(|next| until <= next))
            {
                values.clone_from(&fallback);
            }
        }
        Command { values, end: None }
    }
}
