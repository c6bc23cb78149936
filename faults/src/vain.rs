//! Whether a run shows anything: one in which nothing is wrong since nothing happened is no good run.

use crate::run::Plan;
use crate::watch::Looks;

/// A run that published less than this part of what it was to publish shows nothing.
const LEAST_SHARE: u64 = 10;

/// Why a run shows nothing, though nothing is wrong: nothing was struck, hardly anything published, nothing looked at.
pub(crate) fn in_vain(
    plan: &Plan,
    struck: usize,
    published: usize,
    looks: Looks,
) -> Vec<&'static str> {
    let wanted = u64::from(plan.per_second) * plan.length.as_secs() / LEAST_SHARE;
    let mut vain = Vec::new();
    if struck == 0 {
        vain.push("in vain: nothing was broken");
    }
    if u64::try_from(published).is_ok_and(|it| it < wanted.max(1)) {
        vain.push("in vain: hardly anything was published");
    }
    if looks.scrapes == 0 || looks.bucket_reads == 0 {
        vain.push("in vain: nothing was looked at meanwhile");
    }
    vain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_run_that_shows_nothing_is_no_good_run() {
        let plan = Plan {
            seed: 1,
            length: Duration::from_secs(60),
            every: Duration::from_secs(1),
            shape: Plan::possible(2, 2),
            buildings: 4,
            per_second: 100,
        };
        let looks = Looks {
            scrapes: 1,
            bucket_reads: 1,
        };
        let none = Looks::default();
        assert_eq!(in_vain(&plan, 1, 600, looks).len(), 0);
        assert_eq!(in_vain(&plan, 0, 600, looks).len(), 1);
        assert_eq!(in_vain(&plan, 1, 599, looks).len(), 1);
        assert_eq!(in_vain(&plan, 0, 0, none).len(), 3);
    }
}
