//! What a controller makes of the desired documents that reach it: it keeps the newest, does it, and
//! answers for each action once.

use crate::instruments::{Instruments, SOCKET_MOST_W};
use crate::orders::Orders;
use crate::scenario::Answers;
use domain::control::{BatteryPower, Desired, Outcome, SetpointValue};
use domain::time::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;
use wire::desired::{Document, Unreadable, decode};

/// What a building's devices can do at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abilities<'building> {
    pub(crate) has_solar: bool,
    /// The most that the battery can discharge and charge with, watt.
    pub(crate) battery_w: Option<[i32; 2]>,
    pub(crate) instruments: &'building Instruments,
}

/// The desired state of one building, as its controller knows it.
#[derive(Clone, Debug)]
pub(crate) struct Obedience {
    answers: Answers,
    document: Option<Document>,
    /// Actions of the document that it has answered for.
    answered: BTreeSet<Uuid>,
    reported_at: Option<Timestamp>,
}

/// What a controller says about a revision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    pub(crate) time: Timestamp,
    pub(crate) revision: i64,
    pub(crate) outcomes: Vec<Answer>,
}

/// What became of one action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) action_uuid: Uuid,
    pub(crate) outcome: Outcome,
    pub(crate) detail: Option<String>,
}

impl Obedience {
    pub(crate) const fn new(answers: Answers) -> Self {
        Self {
            answers,
            document: None,
            answered: BTreeSet::new(),
            reported_at: None,
        }
    }

    /// What is in force at `time`; nothing when it does not obey.
    pub(crate) fn orders(&self, time: Timestamp) -> Orders<'_> {
        match (&self.document, self.answers) {
            (Some(document), Answers::Obeys | Answers::Silent) => Orders::of(document, time),
            (Some(_), Answers::Rejects | Answers::Deaf) | (None, _) => Orders::default(),
        }
    }

    /// Takes a payload that came at `now`; answers what there is to report, and nothing for a
    /// revision that is not newer. An empty payload forgets everything: the building is no more.
    ///
    /// # Errors
    /// A payload that is no document; what was known stays.
    pub(crate) fn take(
        &mut self,
        payload: &[u8],
        now: Timestamp,
        able: &Abilities<'_>,
    ) -> Result<Option<Report>, Unreadable> {
        if payload.is_empty() {
            *self = Self {
                reported_at: self.reported_at,
                ..Self::new(self.answers)
            };
            return Ok(None);
        }
        let document = decode(payload)?;
        let known = self.document.as_ref().map(|known| known.revision);
        if known.is_some_and(|known| document.revision <= known) {
            return Ok(None);
        }
        let mut answers = answers(&document.desired, now, able);
        let present: BTreeSet<Uuid> = answers.iter().map(|it| it.action_uuid).collect();
        answers.retain(|it| !self.answered.contains(&it.action_uuid));
        let revision = document.revision;
        self.answered = present;
        self.document = Some(document);
        Ok(match self.answers {
            Answers::Obeys => Some(self.report(revision, now, answers)),
            Answers::Rejects => {
                let refused = answers
                    .iter()
                    .map(|it| reject(it.action_uuid, "this controller takes no orders"));
                let refused = refused.collect();
                Some(self.report(revision, now, refused))
            }
            Answers::Silent | Answers::Deaf => None,
        })
    }

    /// Two reports never have the same time, which is their identity.
    fn report(&mut self, revision: i64, now: Timestamp, outcomes: Vec<Answer>) -> Report {
        let earliest = self
            .reported_at
            .map(|before| before.plus(Duration::from_micros(1)));
        let time = earliest.map_or(now, |earliest| earliest.max(now));
        self.reported_at = Some(time);
        Report {
            time,
            revision,
            outcomes,
        }
    }
}

/// One answer for each action that has not ended, in the document's order.
fn answers(desired: &Desired, now: Timestamp, able: &Abilities<'_>) -> Vec<Answer> {
    let mut answers = Vec::new();
    if let Some(it) = desired.inverters {
        let ended = it.end.is_some_and(|(until, _)| until <= now);
        let answer = match able.has_solar {
            true => accept(it.action_uuid),
            false => reject(it.action_uuid, "no inverters"),
        };
        answers.extend((!ended).then_some(answer));
    }
    if let Some(it) = desired.battery.filter(|it| now < it.until) {
        let (side, watts) = match it.power {
            BatteryPower::Discharge(watts) => (0, watts),
            BatteryPower::Charge(watts) => (1, watts),
        };
        answers.push(match able.battery_w {
            None => reject(it.action_uuid, "no battery"),
            Some(most_w) => as_far_as(it.action_uuid, watts, most_w[side], "the battery"),
        });
    }
    if let Some(it) = desired.grid_target.filter(|it| now < it.until) {
        answers.push(match able.battery_w {
            None => reject(it.action_uuid, "no battery to reach it with"),
            Some(_) => accept(it.action_uuid),
        });
    }
    let sockets = desired.ev_sockets.iter().filter(|it| now < it.until);
    let sockets = sockets.map(|it| match it.sensor_uuid == able.instruments.ev_socket {
        true => as_far_as(it.action_uuid, it.charge_watts, SOCKET_MOST_W, "the socket"),
        false => reject(it.action_uuid, "no such socket"),
    });
    together(&mut answers, sockets);
    if let Some(it) = &desired.setpoints {
        let ended = it.end.as_ref().is_some_and(|(until, _)| *until <= now);
        let fallback = it.end.as_ref().map_or(&[][..], |(_, values)| values);
        let values = it.values.iter().chain(fallback);
        answers.extend((!ended).then(|| setpoints(it.action_uuid, values, able)));
    }
    let blocks = desired.fcr.iter().filter(|it| now < it.stop);
    answers.extend(blocks.map(|it| match able.battery_w {
        None => reject(it.action_uuid, "no battery"),
        Some(_) => accept(it.action_uuid),
    }));
    answers
}

fn setpoints<'document>(
    action_uuid: Uuid,
    values: impl Iterator<Item = &'document SetpointValue>,
    able: &Abilities<'_>,
) -> Answer {
    let here = values.map(|it| able.instruments.setpoint_default(it.sensor_uuid).is_some());
    let here: Vec<bool> = here.collect();
    match (here.contains(&true), here.contains(&false)) {
        (_, false) => accept(action_uuid),
        (true, true) => partly(action_uuid, "some setpoints are not here".to_owned()),
        (false, true) => reject(action_uuid, "no such setpoints"),
    }
}

/// Adds what became of parts of actions: an action whose parts fare differently is done in part.
fn together(answers: &mut Vec<Answer>, parts: impl Iterator<Item = Answer>) {
    let first = answers.len();
    for part in parts {
        let mut of_sockets = answers[first..].iter_mut();
        match of_sockets.find(|it| it.action_uuid == part.action_uuid) {
            None => answers.push(part),
            Some(whole) => {
                if whole.outcome != part.outcome {
                    whole.outcome = Outcome::Partial;
                }
                whole.detail = whole.detail.take().or(part.detail);
            }
        }
    }
}

fn as_far_as(action_uuid: Uuid, watts: i32, most_w: i32, what: &str) -> Answer {
    if watts <= most_w {
        return accept(action_uuid);
    }
    partly(action_uuid, format!("{what} can do {most_w} W now"))
}

const fn accept(action_uuid: Uuid) -> Answer {
    Answer {
        action_uuid,
        outcome: Outcome::Accepted,
        detail: None,
    }
}

const fn partly(action_uuid: Uuid, detail: String) -> Answer {
    Answer {
        action_uuid,
        outcome: Outcome::Partial,
        detail: Some(detail),
    }
}

fn reject(action_uuid: Uuid, detail: &str) -> Answer {
    Answer {
        action_uuid,
        outcome: Outcome::Rejected,
        detail: Some(detail.to_owned()),
    }
}

#[cfg(test)]
mod tests;
