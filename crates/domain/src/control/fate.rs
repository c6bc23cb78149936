//! What becomes of an action (`decisions.md`, actions: fate).

use crate::time::Timestamp;

/// How far an action has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It is stored.
    Accepted,
    /// The broker has confirmed the desired document with it.
    Published,
    /// The controller has reported that revision or a later one.
    Delivered,
    /// The controller does it: it says so, or telemetry shows it.
    Confirmed,
    /// The controller says that it does not do it.
    Rejected,
    /// The controller says that it does a part of it.
    Partial,
    /// Its time passed before the controller had answered.
    Expired,
    /// A newer one took its place before the controller had answered.
    Superseded,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Accepted,
        Self::Published,
        Self::Delivered,
        Self::Confirmed,
        Self::Rejected,
        Self::Partial,
        Self::Expired,
        Self::Superseded,
    ];

    /// The word that the interface uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Published => "published",
            Self::Delivered => "delivered",
            Self::Confirmed => "confirmed",
            Self::Rejected => "rejected",
            Self::Partial => "partial",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
        }
    }

    /// Reads the word that the interface uses.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// Whether the controller's answer is still awaited.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Accepted | Self::Published | Self::Delivered => true,
            Self::Confirmed | Self::Rejected | Self::Partial | Self::Expired | Self::Superseded => {
                false
            }
        }
    }
}

/// What a controller says that it did with an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// All of it.
    Accepted,
    /// Nothing.
    Rejected,
    /// A part of it.
    Partial,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Accepted, Self::Rejected, Self::Partial];

    /// The word that the interface uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Partial => "partial",
        }
    }

    /// Reads the word that the interface uses.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

/// What can happen to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Happening {
    /// The broker has confirmed a document with it.
    Published,
    /// The controller has reported a revision with it.
    Delivered,
    /// The controller has reported an outcome.
    Reported(Outcome),
    /// Telemetry shows it.
    Seen,
    /// It asked for nothing that stays, and the controller has it.
    Done,
    /// Its time has passed.
    TimeOver,
    /// A newer one has taken its place, or it was cancelled.
    Replaced,
}

/// What a user sees of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// How far it has come.
    pub status: Status,
    /// When it was over; `None` while it is in force.
    pub ended_at: Option<Timestamp>,
}

impl Fate {
    /// That of an action that was just stored.
    pub const ACCEPTED: Self = Self {
        status: Status::Accepted,
        ended_at: None,
    };

    /// What is left of it after something has happened at `at`; `None` when that changes nothing: what
    /// has ended stays as it is, and nothing goes backwards.
    #[must_use]
    pub fn after(self, happening: Happening, at: Timestamp) -> Option<Self> {
        if self.ended_at.is_some() {
            return None;
        }
        let reach = |status: Status| {
            let further = self.status.is_open() && self.status < status;
            further.then_some(Self { status, ..self })
        };
        let end = |status: Status| {
            // The controller's answer stands; what was not answered tells how it ended.
            let status = if self.status.is_open() {
                status
            } else {
                self.status
            };
            Some(Self {
                status,
                ended_at: Some(at),
            })
        };
        match happening {
            Happening::Published => reach(Status::Published),
            Happening::Delivered => reach(Status::Delivered),
            Happening::Reported(Outcome::Accepted) | Happening::Seen => reach(Status::Confirmed),
            Happening::Reported(Outcome::Partial) => reach(Status::Partial),
            Happening::Reported(Outcome::Rejected) if self.status.is_open() => {
                end(Status::Rejected)
            }
            Happening::Reported(Outcome::Rejected) => None,
            Happening::Done => end(Status::Confirmed),
            Happening::TimeOver => end(Status::Expired),
            Happening::Replaced => end(Status::Superseded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_seconds(7);

    const HAPPENINGS: [Happening; 9] = [
        Happening::Published,
        Happening::Delivered,
        Happening::Reported(Outcome::Accepted),
        Happening::Reported(Outcome::Rejected),
        Happening::Reported(Outcome::Partial),
        Happening::Seen,
        Happening::Done,
        Happening::TimeOver,
        Happening::Replaced,
    ];

    /// The whole table: for each status of an action in force what each happening makes of it; `!` means
    /// that it is over, `-` that nothing changes.
    const TABLE: [(Status, [&str; 9]); 5] = [
        (
            Status::Accepted,
            [
                "published",
                "delivered",
                "confirmed",
                "rejected!",
                "partial",
                "confirmed",
                "confirmed!",
                "expired!",
                "superseded!",
            ],
        ),
        (
            Status::Published,
            [
                "-",
                "delivered",
                "confirmed",
                "rejected!",
                "partial",
                "confirmed",
                "confirmed!",
                "expired!",
                "superseded!",
            ],
        ),
        (
            Status::Delivered,
            [
                "-",
                "-",
                "confirmed",
                "rejected!",
                "partial",
                "confirmed",
                "confirmed!",
                "expired!",
                "superseded!",
            ],
        ),
        (
            Status::Confirmed,
            [
                "-",
                "-",
                "-",
                "-",
                "-",
                "-",
                "confirmed!",
                "confirmed!",
                "confirmed!",
            ],
        ),
        (
            Status::Partial,
            [
                "-", "-", "-", "-", "-", "-", "partial!", "partial!", "partial!",
            ],
        ),
    ];

    fn shown(fate: Option<Fate>) -> String {
        fate.map_or_else(
            || "-".to_owned(),
            |fate| {
                let end = if fate.ended_at == Some(AT) { "!" } else { "" };
                format!("{}{end}", fate.status.as_str())
            },
        )
    }

    #[test]
    fn each_happening_moves_an_action_in_force_as_the_table_says() {
        for (status, expected) in TABLE {
            let fate = Fate {
                status,
                ended_at: None,
            };
            let after = HAPPENINGS.map(|happening| shown(fate.after(happening, AT)));
            assert_eq!(after, expected, "{status:?}");
        }
    }

    #[test]
    fn what_is_over_stays_as_it_is() {
        for status in Status::ALL {
            let fate = Fate {
                status,
                ended_at: Some(Timestamp::from_seconds(1)),
            };
            let changed = HAPPENINGS.map(|happening| fate.after(happening, AT));
            assert_eq!(changed, [None; 9], "{status:?}");
        }
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(status));
        }
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::parse(outcome.as_str()), Some(outcome));
        }
        assert_eq!(Status::parse("done"), None);
        assert_eq!(Outcome::parse("confirmed"), None);
    }
}
