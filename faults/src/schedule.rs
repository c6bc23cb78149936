//! Which faults come when: the same seed, the same faults at the same moments.

use crate::fault::{Fault, Kind, Part, Shape};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::time::Duration;

/// Longer than a part needs to come back, so that the next fault of the same part seldom has to wait.
const RECOVERY: Duration = Duration::from_secs(2);

/// One fault of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Since the run's begin.
    pub(crate) at: Duration,
    pub(crate) kind: Kind,
    pub(crate) fault: Fault,
    pub(crate) lasts: Duration,
}

/// Deals faults over `length`, one every `every` on average. Kinds are dealt from a shuffled deck, so that each comes
/// before any comes too often.
pub(crate) fn schedule(seed: u64, shape: Shape, length: Duration, every: Duration) -> Vec<Planned> {
    // With everything broken all the time nothing would be tried.
    let at_once = shape.bridges + shape.aggregators;
    let mut draw = ChaCha8Rng::seed_from_u64(seed);
    let mut deck = Vec::new();
    let mut busy: BTreeMap<Part, Duration> = BTreeMap::new();
    let mut planned = Vec::new();
    let mut at = Duration::ZERO;
    loop {
        at += every.mul_f64(draw.random_range(0.2..1.8));
        if at >= length {
            return planned;
        }
        busy.retain(|_, until| *until > at);
        if busy.len() >= at_once {
            continue;
        }
        let kind = deal(&mut deck, &mut draw, shape);
        let fault = kind.aim(&mut draw, shape);
        let lasts = kind.lasts(&mut draw);
        if busy.contains_key(&fault.part()) {
            // Its turn comes soon; the part is to come back first.
            deck.push(kind);
            continue;
        }
        busy.insert(fault.part(), at + lasts + RECOVERY);
        planned.push(Planned {
            at,
            kind,
            fault,
            lasts,
        });
    }
}

fn deal(deck: &mut Vec<Kind>, draw: &mut impl Rng, shape: Shape) -> Kind {
    if deck.is_empty() {
        let possible = Kind::ALL.into_iter().filter(|it| it.is_possible(shape));
        deck.extend(possible.flat_map(|kind| std::iter::repeat_n(kind, kind.weight())));
        // Each kind once at the end of the deck, which is dealt first.
        let possible: Vec<Kind> = Kind::ALL
            .into_iter()
            .filter(|it| it.is_possible(shape))
            .collect();
        shuffle(deck, draw);
        let mut first = possible;
        shuffle(&mut first, draw);
        deck.extend(first);
    }
    deck.pop().unwrap()
}

fn shuffle(deck: &mut [Kind], draw: &mut impl Rng) {
    for index in (1..deck.len()).rev() {
        deck.swap(index, draw.random_range(0..=index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SHAPE: Shape = Shape {
        bridges: 2,
        aggregators: 2,
        small_disk: true,
        clocks: true,
    };

    #[test]
    fn the_same_seed_gives_the_same_faults_and_another_one_others() {
        let of = |seed| {
            let every = Duration::from_millis(1_500);
            schedule(seed, SHAPE, Duration::from_secs(600), every)
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn a_minute_and_a_half_has_every_kind_and_a_part_has_one_fault_at_a_time() {
        for seed in 0..50 {
            let every = Duration::from_millis(1_500);
            let planned = schedule(seed, SHAPE, Duration::from_secs(90), every);
            let kinds: BTreeSet<Kind> = planned.iter().map(|it| it.kind).collect();
            assert!(kinds.len() >= Kind::ALL.len() - 1, "seed {seed}: {kinds:?}");
            for (index, one) in planned.iter().enumerate() {
                let later = &planned[index + 1..];
                let same = later.iter().find(|it| it.fault.part() == one.fault.part());
                assert!(
                    same.is_none_or(|it| it.at >= one.at + one.lasts),
                    "seed {seed}"
                );
            }
        }
    }
}
