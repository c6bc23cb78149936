//! The JSON Schemas of the five kinds of record, compiled in from `schemas/`.

use crate::topic::RecordKind;

/// The JSON Schema of each kind, as JSON text.
pub const SCHEMAS: [(RecordKind, &str); 5] = [
    (
        RecordKind::Telemetry,
        include_str!("../../../schemas/telemetry-1.0.0.schema.json"),
    ),
    (
        RecordKind::Readings,
        include_str!("../../../schemas/readings-1.0.0.schema.json"),
    ),
    (
        RecordKind::KeyValues,
        include_str!("../../../schemas/keyvalues-1.0.0.schema.json"),
    ),
    (
        RecordKind::Reported,
        include_str!("../../../schemas/reported-1.0.0.schema.json"),
    ),
    (
        RecordKind::Presence,
        include_str!("../../../schemas/presence-1.0.0.schema.json"),
    ),
];

/// The JSON Schema of the desired control state, which controllers receive, as JSON text.
pub const DESIRED: &str = include_str!("../../../schemas/desired-1.0.0.schema.json");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_stand_in_the_order_of_the_kinds() {
        let kinds = SCHEMAS.map(|(kind, _)| kind);
        assert_eq!(kinds, RecordKind::ALL);
    }

    #[test]
    fn every_schema_is_one() {
        for (kind, text) in SCHEMAS {
            let schema = serde_json::from_str(text).unwrap();
            assert!(jsonschema::meta::is_valid(&schema), "{}", kind.as_str());
        }
    }
}
