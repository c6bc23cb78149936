//! What happens by itself, when its time has come.

use super::{Cause, Changed, Ended, State, Surroundings};
use crate::control::desired::{Desired, Fallback};
use crate::time::Timestamp;
use std::collections::BTreeMap;
use uuid::Uuid;

impl State {
    /// Lets happen what is due at `now`, however long ago it was, and takes over the surroundings.
    pub fn advance(&mut self, surroundings: &Surroundings, now: Timestamp) -> Changed {
        let before = self.desired.clone();
        let mut ended = Vec::new();
        self.end_inverters(now, &mut ended);
        self.end_setpoints(now, &mut ended);
        self.end_sockets(now, &mut ended);
        let desired = &mut self.desired;
        if let Some(over) = desired.battery.take_if(|it| it.until <= now) {
            ended.push(time_over(over.action_uuid, over.until));
        }
        if let Some(over) = desired.grid_target.take_if(|it| it.until <= now) {
            ended.push(time_over(over.action_uuid, over.until));
        }
        let blocks = desired.fcr.extract_if(.., |it| it.stop <= now);
        ended.extend(blocks.map(|it| time_over(it.action_uuid, it.stop)));
        let is_over = |until: Option<Timestamp>| until.filter(|until| *until <= now);
        self.without_entry.retain(|it| match is_over(it.until) {
            Some(until) => {
                ended.push(time_over(it.action_uuid, until));
                false
            }
            None => true,
        });
        ended.sort_by_key(|it| it.at);
        self.refresh(surroundings, now);
        Changed {
            new_revision: self.desired != before,
            done: false,
            ended,
        }
    }

    /// When something happens by itself next, after `now`.
    #[must_use]
    pub fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let desired = &self.desired;
        let single = [
            desired.inverters.and_then(|it| it.end).map(|end| end.0),
            desired
                .setpoints
                .as_ref()
                .and_then(|it| it.end.as_ref())
                .map(|end| end.0),
            desired.battery.map(|it| it.until),
            desired.grid_target.map(|it| it.until),
        ];
        let lists = desired.ev_sockets.iter().map(|it| it.until);
        let lists = lists.chain(desired.fcr.iter().map(|it| it.stop));
        let lists = lists.chain(self.without_entry.iter().filter_map(|it| it.until));
        let ends = single.into_iter().flatten().chain(lists).min();
        // A limit's end takes it out of the document; its begin matters to a grid target only.
        let limits = desired.grid_limits.iter();
        let limit_ends = limits.clone().map(|it| it.end).min();
        let begins = limits.map(|it| it.start).filter(|start| *start > now).min();
        let begins = begins.filter(|_| desired.grid_target.is_some());
        [ends, limit_ends, begins].into_iter().flatten().min()
    }

    /// What follows from the surroundings.
    pub(super) fn refresh(&mut self, surroundings: &Surroundings, now: Timestamp) {
        let Desired {
            inverters,
            grid_target,
            grid_limits,
            ..
        } = &mut self.desired;
        let lasting = surroundings.grid_limits.iter().filter(|it| it.end > now);
        *grid_limits = lasting.copied().collect();
        grid_limits.sort_by_key(|it| (it.start, it.grid_limit_uuid));
        if let Some(target) = grid_target {
            target.effective = target.power.within(grid_limits, now);
        }
        if let Some(inverters) = inverters {
            inverters.consumption_compensated = surroundings.consumption_compensated;
        }
    }

    fn end_inverters(&mut self, now: Timestamp, ended: &mut Vec<Ended>) {
        let Some(inverters) = &mut self.desired.inverters else {
            return;
        };
        let Some((until, fallback)) = inverters.end.take_if(|(until, _)| *until <= now) else {
            return;
        };
        ended.push(time_over(inverters.action_uuid, until));
        match fallback {
            Fallback::To(power) => inverters.power = power,
            Fallback::FullPercentage | Fallback::UnlimitedWatts => self.desired.inverters = None,
        }
    }

    fn end_setpoints(&mut self, now: Timestamp, ended: &mut Vec<Ended>) {
        let Some(setpoints) = &mut self.desired.setpoints else {
            return;
        };
        if let Some((until, fallback)) = setpoints.end.take_if(|(until, _)| *until <= now) {
            ended.push(time_over(setpoints.action_uuid, until));
            setpoints.values = fallback;
        }
    }

    fn end_sockets(&mut self, now: Timestamp, ended: &mut Vec<Ended>) {
        let sockets = &mut self.desired.ev_sockets;
        let mut last: BTreeMap<Uuid, Timestamp> = BTreeMap::new();
        for over in sockets.extract_if(.., |it| it.until <= now) {
            let at = last.entry(over.action_uuid).or_insert(over.until);
            *at = over.until.max(*at);
        }
        let over = last.into_iter();
        let over = over.filter(|(action, _)| !self.has_socket_of(*action));
        ended.extend(over.map(|(action, at)| time_over(action, at)));
    }
}

const fn time_over(action_uuid: Uuid, at: Timestamp) -> Ended {
    Ended {
        action_uuid,
        at,
        cause: Cause::TimeOver,
    }
}
