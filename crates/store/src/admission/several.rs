//! Several requests at once. The database counts those of one user all together or not at all; where not all of them are
//! within the limit any more, as many as are are asked for in another round, and the rest behind them.

use super::{Admission, AskedAdmission, admission};
use crate::StoreFailure;
use sqlx::Row;
use sqlx::postgres::PgRow;
use std::collections::HashMap;

/// What the database has told of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Its number in the round, from 1 on.
    number: i64,
    /// Requests of the same user in the round.
    wanted: i64,
    /// Of all of them together.
    admission: Admission,
}

/// Reads a row of `admit_several.sql`.
pub(super) fn counted(row: &PgRow) -> Result<Counted, StoreFailure> {
    Ok(Counted {
        number: row.try_get("number")?,
        wanted: row.try_get("wanted")?,
        admission: admission(row)?,
    })
}

/// Requests that are asked about together.
#[derive(Debug)]
pub(super) struct Round<'asked> {
    asked: &'asked [AskedAdmission],
    /// Those of this round, by their place among all.
    now: Vec<usize>,
    /// Those that come after them.
    later: Vec<usize>,
}

impl<'asked> Round<'asked> {
    /// All of them.
    pub(super) fn first(asked: &'asked [AskedAdmission]) -> Self {
        Self {
            asked,
            now: (0..asked.len()).collect(),
            later: Vec::new(),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.now.is_empty()
    }

    /// The users and the buildings.
    pub(super) fn columns(&self) -> (Vec<&'asked str>, Vec<Option<uuid::Uuid>>) {
        let asked = self.now.iter().map(|place| &self.asked[*place]);
        asked.map(|it| (it.username.as_str(), it.building)).unzip()
    }

    /// Writes down what the requests of this round are told, and gives the next one. Of whom nothing was counted nobody
    /// is a user: they are told nothing.
    pub(super) fn settle(self, counted: Vec<Counted>, told: &mut [Option<Admission>]) -> Self {
        let mut before: HashMap<&str, i64> = HashMap::new();
        // How many of a user's requests the next round has room for.
        let mut room: HashMap<&str, i64> = HashMap::new();
        let mut again = Vec::new();
        for it in counted {
            let index = usize::try_from(it.number - 1).ok();
            let Some(place) = index.and_then(|index| self.now.get(index)).copied() else {
                continue;
            };
            let username = self.asked[place].username.as_str();
            let left = it.admission.limit - it.admission.spent;
            if it.admission.admitted {
                let before = before.entry(username).or_default();
                *before += 1;
                let spent = it.admission.spent - it.wanted + *before;
                told[place] = Some(Admission {
                    spent,
                    ..it.admission
                });
            } else if left <= 0 {
                told[place] = Some(it.admission);
            } else {
                room.insert(username, left);
                again.push(place);
            }
        }
        self.next(again, room)
    }

    /// Those that were not counted, as far as there is room, and those that waited for them.
    fn next(self, mut again: Vec<usize>, mut room: HashMap<&str, i64>) -> Self {
        again.extend(self.later);
        again.sort_unstable();
        let (now, later) = again.into_iter().partition(|place| {
            let left = room.get_mut(self.asked[*place].username.as_str());
            // Who was not refused has room for all.
            left.is_none_or(|left| {
                *left -= 1;
                *left >= 0
            })
        });
        Self {
            asked: self.asked,
            now,
            later,
        }
    }
}
