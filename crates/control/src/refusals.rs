//! What the broker refuses: told to the log when it begins and when it is over, not with every attempt; and to readiness
//! when it is no matter of single documents.

use ops::health::Condition;
use std::collections::BTreeSet;
use uuid::Uuid;

/// So many buildings the log names: a broker that refuses everything refuses the documents of all, every few seconds.
const NAMED: usize = 10;

/// When the documents of so many buildings are refused and none is taken in between, it is the broker that takes none.
const ONLY_REFUSED: usize = 3;

/// What the broker refuses at present.
pub(crate) struct Refusals {
    broker: String,
    condition: Condition,
    /// Buildings whose newest document it does not take.
    refused: BTreeSet<Uuid>,
    /// Those of them that were refused since it last took one.
    since_taken: BTreeSet<Uuid>,
    /// Whether the log was told that there are more than it names.
    told_of_more: bool,
}

impl Refusals {
    /// None yet; `condition` is broken when everything is refused.
    pub(crate) fn new(broker: String, condition: Condition) -> Self {
        condition.ready();
        Self {
            broker,
            condition,
            refused: BTreeSet::new(),
            since_taken: BTreeSet::new(),
            told_of_more: false,
        }
    }

    /// The broker has taken the newest document of this building.
    pub(crate) fn taken(&mut self, building: Uuid) {
        self.since_taken.clear();
        self.condition.ready();
        if self.refused.remove(&building) && self.refused.is_empty() {
            self.told_of_more = false;
            tracing::info!("the broker takes again what it refused");
        }
    }

    /// It has refused the document of this building.
    pub(crate) fn refused(&mut self, building: Uuid, reason: &str) {
        if self.refused.insert(building) {
            if self.refused.len() <= NAMED {
                tracing::error!(%building, reason, "the broker refuses a desired document");
            } else if !std::mem::replace(&mut self.told_of_more, true) {
                tracing::error!(reason, "the broker refuses more desired documents");
            }
        }
        self.since_taken.insert(building);
        if self.since_taken.len() >= ONLY_REFUSED {
            let broker = &self.broker;
            self.condition.not_ready(format!(
                "{broker}: refuses every desired document ({reason}): it must let this login write to \
                 v1/buildings/+/desired"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ops::health::Health;

    #[test]
    fn single_refusals_leave_it_ready_and_nothing_but_refusals_does_not() {
        let health = Health::new();
        let mut refusals = Refusals::new("mqtt broker a:1".to_owned(), health.condition("outbox"));
        let buildings: Vec<Uuid> = (1..=4).map(Uuid::from_u128).collect();
        for _ in 0..5 {
            refusals.refused(buildings[0], "NotAuthorized");
            refusals.refused(buildings[1], "NotAuthorized");
            assert!(health.report().ready);
            refusals.taken(buildings[3]);
        }
        for building in &buildings {
            refusals.refused(*building, "NotAuthorized");
        }
        let (_, cause) = &health.report().causes[0];
        assert!(
            cause.contains("a:1") && cause.contains("NotAuthorized"),
            "{cause}"
        );
        refusals.taken(buildings[2]);
        assert!(health.report().ready);
    }
}
