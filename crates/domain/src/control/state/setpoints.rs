//! Setpoints and their kill switch.

use super::{About, Ended, State, WithoutEntry, end_after, replaced};
use crate::control::desired::{SetpointValue, Setpoints};
use crate::time::Timestamp;
use uuid::Uuid;

const SECONDS_PER_MINUTE: i32 = 60;

impl State {
    /// Whether a setpoints command would leave the kill switch armed with nothing to fall back to.
    /// `None` leaves what was said before.
    #[must_use]
    pub fn lacks_fallback(
        &self,
        fallback_timeout_minutes: Option<i32>,
        fallback: Option<&[SetpointValue]>,
    ) -> bool {
        let minutes = fallback_timeout_minutes.unwrap_or(self.kill_switch_minutes);
        minutes > 0 && fallback.unwrap_or(&self.kill_switch_fallback).is_empty()
    }

    pub(super) fn set_kill_switch(
        &mut self,
        minutes: Option<i32>,
        fallback: Option<&[SetpointValue]>,
    ) {
        if let Some(minutes) = minutes {
            self.kill_switch_minutes = minutes;
        }
        if let Some(fallback) = fallback {
            self.kill_switch_fallback = fallback.to_vec();
        }
    }

    /// Any command starts the kill switch's time anew.
    pub(super) fn take_setpoints(
        &mut self,
        action_uuid: Uuid,
        values: Option<&[SetpointValue]>,
        now: Timestamp,
        ended: &mut Vec<Ended>,
    ) {
        let old = self.desired.setpoints.take();
        replaced(old.as_ref().map(|it| it.action_uuid), ended);
        self.replace_without_entry(About::Setpoints, ended);
        let held = old.map_or_else(Vec::new, |old| old.values);
        if values.is_some() {
            self.setpoints_of = Some(action_uuid);
        }
        let values = values.map_or(held, <[SetpointValue]>::to_vec);
        let end = (self.kill_switch_minutes > 0).then(|| {
            let seconds = self.kill_switch_minutes.saturating_mul(SECONDS_PER_MINUTE);
            (end_after(now, seconds), self.kill_switch_fallback.clone())
        });
        if values.is_empty() && end.is_none() {
            self.without_entry.push(WithoutEntry {
                action_uuid,
                about: About::Setpoints,
                until: None,
            });
        } else {
            self.desired.setpoints = Some(Setpoints {
                action_uuid,
                values,
                end,
            });
        }
    }

    pub(super) fn withdraw_setpoints(&mut self, action_uuid: Uuid) {
        let setpoints = self.desired.setpoints.as_mut();
        let Some(refused) = setpoints.filter(|it| it.action_uuid == action_uuid) else {
            return;
        };
        if self.setpoints_of == Some(action_uuid) {
            refused.values.clear();
        }
        if refused.values.is_empty() && refused.end.is_none() {
            self.desired.setpoints = None;
        }
    }
}
