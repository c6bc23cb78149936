//! The control state with the fates of its actions, driven as the store drives it.

use crate::control_histories::history::{Event, History, What};
use domain::control::state::Surroundings;
use domain::control::{Action, Cause, Changed, Fate, Happening, Outcome, State};
use domain::time::Timestamp;
use std::collections::BTreeMap;
use uuid::Uuid;

#[derive(Default)]
pub(crate) struct Machine {
    pub(crate) state: State,
    pub(crate) surroundings: Surroundings,
    pub(crate) revision: i64,
    pub(crate) fates: BTreeMap<Uuid, Fate>,
    revisions: BTreeMap<Uuid, i64>,
    pub(crate) history: History,
}

impl Machine {
    /// What is due happens, as it does sooner or later.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        let changed = self.state.advance(&self.surroundings, now);
        self.note(changed);
    }

    fn note(&mut self, changed: Changed) {
        self.revision += i64::from(changed.new_revision);
        for ended in changed.ended {
            let happening = match ended.cause {
                Cause::TimeOver => Happening::TimeOver,
                Cause::Replaced => Happening::Replaced,
            };
            self.happen(ended.action_uuid, happening, ended.at);
        }
    }

    fn happen(&mut self, action_uuid: Uuid, happening: Happening, at: Timestamp) -> bool {
        let fate = self.fates[&action_uuid];
        let after = fate.after(happening, at);
        after.is_some_and(|after| self.fates.insert(action_uuid, after).is_some())
    }

    pub(crate) fn act(&mut self, action_uuid: Uuid, action: Action, now: Timestamp) {
        let changed = self
            .state
            .apply(action_uuid, &action, &self.surroundings, now);
        let done = changed.done;
        self.fates.insert(action_uuid, Fate::ACCEPTED);
        self.note(changed);
        if done {
            self.happen(action_uuid, Happening::Done, now);
        }
        self.revisions.insert(action_uuid, self.revision);
        self.history.0.push(Event {
            at: now,
            what: What::Acted {
                action_uuid,
                action,
                revision: self.revision,
            },
        });
    }

    pub(crate) fn report(&mut self, revision: i64, outcomes: Vec<(Uuid, Outcome)>, now: Timestamp) {
        self.advance(now);
        let without_entry = self.state.without_entry();
        let known: Vec<Uuid> = self.revisions.keys().copied().collect();
        for action_uuid in known {
            if self.revisions[&action_uuid] <= revision {
                self.happen(action_uuid, Happening::Delivered, now);
                if without_entry.contains(&action_uuid) {
                    self.happen(action_uuid, Happening::Done, now);
                    self.state.withdraw(action_uuid);
                }
            }
        }
        for (action_uuid, outcome) in &outcomes {
            let changed = self.happen(*action_uuid, Happening::Reported(*outcome), now);
            let stays = *outcome != Outcome::Rejected && !without_entry.contains(action_uuid);
            if changed && !stays {
                self.revision += i64::from(self.state.withdraw(*action_uuid));
                self.happen(*action_uuid, Happening::Done, now);
            }
        }
        let what = What::Reported { revision, outcomes };
        self.history.0.push(Event { at: now, what });
    }

    /// The process ends and another one reads what was kept.
    pub(crate) fn restart(&mut self) {
        let kept = serde_json::to_string(&self.state).unwrap();
        self.state = serde_json::from_str(&kept).unwrap();
    }
}
