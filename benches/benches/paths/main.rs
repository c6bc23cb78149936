//! The paths around the parser: columns, the fold of minutes, registers, and what a message wears on its way.

#![expect(
    clippy::unwrap_used,
    reason = "a bench stops where something is not as it should be"
)]

mod columns;
mod envelope;
mod fold;
mod register;

use benches::side_by_side::{Report, settings};
use criterion::{Criterion, criterion_group, criterion_main};

fn paths(criterion: &mut Criterion) {
    let mut report = Report::new("paths");
    columns::measure(criterion, &mut report);
    fold::measure(criterion, &mut report);
    register::measure(criterion, &mut report);
    envelope::measure(criterion, &mut report);
    report.tell().unwrap();
}

criterion_group!(name = benches; config = settings(); targets = paths);
criterion_main!(benches);
