//! Bytes to columns: an array for each field, as one statement takes them.

use benches::columns::{Columns, Fields};
use benches::records::{Shape, set};
use benches::side_by_side::{Report, row};
use benches::typed::Record;
use criterion::Criterion;
use serde_json::Value;
use std::cell::RefCell;
use std::hint::black_box;
use wire::decode::decode_telemetry;
use wire::schema::SCHEMAS;

/// As many as a batch of the aggregator has under load.
const RECORDS: usize = 2_000;

pub(crate) fn measure(criterion: &mut Criterion, report: &mut Report) {
    let records = set(Shape::Compact, RECORDS);
    let columns = RefCell::new(Columns::default());
    let all = |fields: &dyn Fn(&[u8]) -> Fields| {
        let mut columns = columns.borrow_mut();
        columns.clear();
        for record in &records {
            columns.push(&fields(black_box(record)));
        }
        black_box(&columns);
    };
    let schema = serde_json::from_str(SCHEMAS[0].1).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let rows = vec![
        row("wire", || {
            all(&|it| Fields::from(&decode_telemetry(it).unwrap()));
        }),
        row("sonic-rs typed", || {
            all(&|it| Fields::from(&sonic_rs::from_slice::<Record>(it).unwrap()));
        }),
        row("serde_json typed", || {
            all(&|it| Fields::from(&serde_json::from_slice::<Record>(it).unwrap()));
        }),
        row("serde_json + jsonschema", || {
            all(&|it| {
                let tree: Value = serde_json::from_slice(it).unwrap();
                assert!(validator.is_valid(&tree));
                Fields::from(&tree)
            });
        }),
    ];
    report.measure(criterion, "columns", RECORDS, 1, rows);
}
