//! The judge finds what it is there to find.

use super::*;
use crate::ledger::Ledger;

const AT: i64 = 1_700_000_000_000_000;

/// Three records, a reading, a key-value and an invalid message, all acknowledged, and a database that has them.
fn well() -> (BTreeMap<Identity, Entry>, Stored) {
    let ledger = Ledger::default();
    let fact = |power_w| Fact::Telemetry {
        powers_w: [Some(power_w), None, None],
    };
    let facts = [
        (AT, fact(100)),
        (AT + 30_000_000, fact(-200)),
        (AT + 90_000_000, fact(300)),
        (AT, Fact::Register { reading: 7.5 }),
        (AT, Fact::KeyValue { value: 9 }),
        (1, Fact::Invalid),
    ];
    for (at, fact) in facts {
        let identity = Identity {
            building: 0,
            kind: fact.kind(),
            at,
        };
        ledger.sent(identity, fact);
        ledger.acknowledged(identity);
    }
    let book = ledger.all();
    let expected = oracle::expected(&book);
    let (invalid, valid): (Vec<Identity>, Vec<Identity>) =
        book.keys().partition(|it| it.kind == FactKind::Invalid);
    let stored = Stored {
        identities: valid.into_iter().collect(),
        refused: invalid.into_iter().map(|it| (it, 1)).collect(),
        strangers: Vec::new(),
        kept: Kept {
            minutes: expected.minutes,
            quarters: expected.quarters,
            days: expected.days,
            latest: expected.latest,
            registers: expected.registers,
            key_values: expected.key_values,
        },
    };
    (book, stored)
}

fn verdict(book: &BTreeMap<Identity, Entry>, stored: &Stored) -> Verdict {
    let mut verdict = Verdict::default();
    let facts = account(book, stored, false, &mut verdict);
    compare_rows(&oracle::expected(&facts), stored, &mut verdict);
    verdict
}

#[test]
fn what_is_as_published_is_clean() {
    let (book, stored) = well();
    let verdict = verdict(&book, &stored);
    assert!(verdict.is_clean(), "{verdict:?}");
    assert_eq!((verdict.stored, verdict.kept_invalid), (5, 1));
}

#[test]
fn a_record_that_is_nowhere_is_lost_and_one_that_nobody_sent_is_doubled() {
    let (book, mut stored) = well();
    let first = *stored.identities.first().unwrap();
    stored.identities.remove(&first);
    assert_eq!(verdict(&book, &stored).lost, 1);
    stored.identities.insert(first);
    stored.identities.insert(Identity { at: 5, ..first });
    assert_eq!(verdict(&book, &stored).doubled, 1);
}

#[test]
fn an_invalid_message_is_kept_as_often_as_it_was_sent_at_most() {
    let (book, mut stored) = well();
    let invalid = *stored.refused.first_key_value().unwrap().0;
    stored.refused.insert(invalid, 2);
    assert_eq!(verdict(&book, &stored).doubled, 1);
    stored.refused.clear();
    assert_eq!(verdict(&book, &stored).lost, 1);
}

#[test]
fn a_valid_message_is_refused_only_by_a_wrong_clock() {
    let (book, mut stored) = well();
    let first = *stored.identities.first().unwrap();
    stored.refused.insert(first, 1);
    assert!(!verdict(&book, &stored).is_clean());
}

#[test]
fn every_row_that_differs_is_told() {
    let damages: [fn(&mut Kept); 8] = [
        |kept| kept.minutes.values_mut().for_each(|it| it.samples += 1),
        |kept| {
            kept.quarters
                .values_mut()
                .for_each(|it| it.positive_energy_wus += 1)
        },
        |kept| {
            kept.days
                .values_mut()
                .for_each(|it| it.negative_total_wus -= 1)
        },
        |kept| kept.latest.clear(),
        |kept| kept.registers.clear(),
        |kept| kept.key_values.values_mut().for_each(|it| it.1 += 1),
        |kept| kept.minutes.clear(),
        |kept| kept.registers.extend([((1, AT), 1.0)]),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let (book, mut stored) = well();
        damage(&mut stored.kept);
        assert!(!verdict(&book, &stored).is_clean(), "damage {number}");
    }
}
