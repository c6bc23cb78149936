//! Minutes: the exact mean of what the database has summed, beside what one would write first.

use benches::side_by_side::{Report, row};
use criterion::Criterion;
use domain::bucket::{MinuteSum, combined_mean, mean};
use domain::time::Timestamp;
use std::hint::black_box;

const MINUTES: u32 = 1_000;
/// Samples of a minute.
const SAMPLES: u32 = 60;

/// A minute's samples, watt.
fn samples(minute: u32) -> Vec<i32> {
    let sample = |second: u32| {
        let mixed = (minute * SAMPLES + second).wrapping_mul(2_654_435_761) >> 16;
        i32::try_from(mixed).unwrap_or_default() - 30_000
    };
    (0..SAMPLES).map(sample).collect()
}

fn sum(samples: &[i32]) -> MinuteSum {
    MinuteSum {
        start: Timestamp::from_seconds(1_700_000_040),
        samples: i64::from(SAMPLES),
        sum_w: samples.iter().map(|it| i64::from(*it)).sum(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is what this one is about")]
fn quotient(minute: &MinuteSum) -> f64 {
    minute.sum_w as f64 / minute.samples as f64
}

pub(crate) fn measure(criterion: &mut Criterion, report: &mut Report) {
    let minutes: Vec<Vec<i32>> = (0..MINUTES).map(samples).collect();
    let sums: Vec<MinuteSum> = minutes.iter().map(|it| sum(it)).collect();
    let rows = vec![
        row("bucket::mean, exact, of a sum", || {
            for minute in &sums {
                black_box(mean(*black_box(minute)));
            }
        }),
        row("doubles, of a sum", || {
            for minute in &sums {
                black_box(quotient(black_box(minute)).round());
            }
        }),
        row("doubles, of all samples again", || {
            for samples in &minutes {
                let all = black_box(samples).iter().map(|it| f64::from(*it));
                black_box((all.sum::<f64>() / f64::from(SAMPLES)).round());
            }
        }),
    ];
    report.measure(criterion, "minute", MINUTES as usize, 1, rows);
    let three: Vec<[(i32, MinuteSum); 3]> = sums
        .windows(3)
        .map(|it| [(1, it[0]), (-1, it[1]), (1, it[2])])
        .collect();
    let rows = vec![
        row("bucket::combined_mean, exact", || {
            for contributors in &three {
                black_box(combined_mean(black_box(contributors)));
            }
        }),
        row("doubles", || {
            for contributors in &three {
                let means = black_box(contributors).iter();
                let sum: f64 = means
                    .map(|(sign, it)| f64::from(*sign) * quotient(it))
                    .sum();
                black_box(sum.round().max(0.0));
            }
        }),
    ];
    report.measure(criterion, "combined minute", three.len(), 1, rows);
}
