//! Registers: energy as the kilowatt-hours that are shown, and why a register reads less than before.

use benches::side_by_side::{Report, row};
use criterion::Criterion;
use domain::register::{RegisterEvent, classify, kwh};
use std::hint::black_box;

const READINGS: u32 = 1_000;

/// By text and back, with three decimals.
fn kwh_by_text(energy_wus: i128) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "it is what this one is about")]
    let kwh = energy_wus as f64 / 3.6e12;
    format!("{kwh:.3}").parse().unwrap_or_default()
}

fn kwh_by_double(energy_wus: i128) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "it is what this one is about")]
    let kwh = energy_wus as f64 / 3.6e12;
    (kwh * 1e3).round() / 1e3
}

/// With the range from the logarithm.
fn classify_by_logarithm(before: f64, after: f64) -> Option<RegisterEvent> {
    if after >= before {
        return None;
    }
    let tenth = 10_f64.powf(before.log10().floor().max(3.0));
    Some(if before >= tenth * 9.0 && after <= tenth {
        RegisterEvent::Rollover
    } else if after * 100.0 <= before {
        RegisterEvent::Reset
    } else {
        RegisterEvent::Replacement
    })
}

pub(crate) fn measure(criterion: &mut Criterion, report: &mut Report) {
    let energies: Vec<i128> = (0..READINGS)
        .map(|it| i128::from(it) * 987_654_321_987 - 31_000_000_000_000)
        .collect();
    let each = |work: fn(i128) -> f64| {
        for energy in &energies {
            black_box(work(*black_box(energy)));
        }
    };
    let rows = vec![
        row("register::kwh, exact", || each(kwh)),
        row("doubles", || each(kwh_by_double)),
        row("text and back", || each(kwh_by_text)),
    ];
    report.measure(criterion, "kwh", energies.len(), 1, rows);
    // One of ten falls.
    let pairs: Vec<(f64, f64)> = (0..READINGS)
        .map(|it| (f64::from(it) * 157.25 + 9_000.0, it % 10 == 0))
        .map(|(before, falls)| (before, if falls { 0.5 } else { before + 0.25 }))
        .collect();
    let each = |work: fn(f64, f64) -> Option<RegisterEvent>| {
        for (before, after) in &pairs {
            black_box(work(*black_box(before), *black_box(after)));
        }
    };
    let rows = vec![
        row("register::classify", || each(classify)),
        row("by the logarithm", || each(classify_by_logarithm)),
    ];
    report.measure(criterion, "register event", pairs.len(), 1, rows);
}
