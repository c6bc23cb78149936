//! The parse path: this project's decoder beside the usual libraries, over three shapes of records.

#![expect(
    clippy::unwrap_used,
    reason = "a bench stops where a reader refuses a valid record"
)]

use benches::columns::Fields;
use benches::records::{SET, Shape, set};
use benches::side_by_side::{Report, row, settings};
use benches::typed::Record;
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use wire::schema::SCHEMAS;

/// Bytes to whatever the reader makes of them; panics on a record that it refuses.
type Reader = Box<dyn FnMut(&[u8])>;

/// So many of the readers are this project's.
const OURS: usize = 2;

fn readers() -> [(&'static str, Reader); 7] {
    [
        ("wire", Box::new(wire)),
        ("wire, portable validator", Box::new(wire_portable)),
        ("serde_json typed", Box::new(serde_json_typed)),
        ("simd-json typed", simd_json_typed()),
        ("simd-json tape", simd_json_tape()),
        ("sonic-rs typed", Box::new(sonic_typed)),
        ("serde_json + jsonschema", serde_json_schema()),
    ]
}

fn wire(payload: &[u8]) {
    black_box(wire::decode::decode_telemetry(payload).unwrap());
}

fn wire_portable(payload: &[u8]) {
    black_box(wire::validate::portable(payload).unwrap());
}

fn serde_json_typed(payload: &[u8]) {
    black_box(serde_json::from_slice::<Record>(payload).unwrap());
}

fn sonic_typed(payload: &[u8]) {
    black_box(sonic_rs::from_slice::<Record>(payload).unwrap());
}

fn simd_json_typed() -> Reader {
    let mut copy = Vec::new();
    let mut buffers = simd_json::Buffers::default();
    Box::new(move |payload| {
        copy.clear();
        copy.extend_from_slice(payload);
        let record: Record =
            simd_json::serde::from_slice_with_buffers(&mut copy, &mut buffers).unwrap();
        black_box(record);
    })
}

fn simd_json_tape() -> Reader {
    let mut copy = Vec::new();
    let mut buffers = simd_json::Buffers::default();
    Box::new(move |payload| {
        copy.clear();
        copy.extend_from_slice(payload);
        black_box(simd_json::to_tape_with_buffers(&mut copy, &mut buffers).unwrap());
    })
}

fn serde_json_schema() -> Reader {
    let (_, text) = SCHEMAS[0];
    let schema = serde_json::from_str(text).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    Box::new(move |payload| {
        let document: serde_json::Value = serde_json::from_slice(payload).unwrap();
        assert!(validator.is_valid(&document));
        black_box(Fields::from(&document));
    })
}

fn parse(criterion: &mut Criterion) {
    let mut report = Report::new("parse");
    for shape in Shape::ALL {
        let records = set(shape, SET);
        let rows = readers().map(|(name, mut reader)| {
            let records = &records;
            row(name, move || {
                records.iter().for_each(|record| reader(black_box(record)));
            })
        });
        report.measure(criterion, shape.as_str(), SET, OURS, rows.into());
    }
    report.tell().unwrap();
}

criterion_group!(name = benches; config = settings(); targets = parse);
criterion_main!(benches);
