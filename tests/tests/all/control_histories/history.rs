//! What happened to a building, in the order of time.

use domain::control::{Action, Outcome};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use uuid::Uuid;

/// Something that happened; every moment is later than the one before.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) at: Timestamp,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// An action was taken; the revision is the one that has its effect.
    Acted {
        action_uuid: Uuid,
        action: Action,
        revision: i64,
    },
    /// The controller reported.
    Reported {
        revision: i64,
        outcomes: Vec<(Uuid, Outcome)>,
    },
    /// The building's occurrences are these.
    Limited(Vec<GridLimit>),
    /// The building's flag is this.
    Flagged(bool),
}

/// Everything that happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct History(pub(crate) Vec<Event>);

impl History {
    /// The actions with their moments, in order.
    pub(crate) fn actions(&self) -> impl Iterator<Item = (Timestamp, Uuid, &Action, i64)> {
        self.0.iter().filter_map(|event| match &event.what {
            What::Acted {
                action_uuid,
                action,
                revision,
            } => Some((event.at, *action_uuid, action, *revision)),
            What::Reported { .. } | What::Limited(_) | What::Flagged(_) => None,
        })
    }

    /// The reports with their moments, in order.
    pub(crate) fn reports(&self) -> impl Iterator<Item = (Timestamp, i64, &[(Uuid, Outcome)])> {
        self.0.iter().filter_map(|event| match &event.what {
            What::Reported { revision, outcomes } => {
                Some((event.at, *revision, outcomes.as_slice()))
            }
            What::Acted { .. } | What::Limited(_) | What::Flagged(_) => None,
        })
    }
}
