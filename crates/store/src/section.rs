//! The numbers by which the database knows the sections of a record.

use domain::record::{Section, Status};

/// The column value of a section.
pub(crate) const fn code(section: Section) -> i16 {
    match section {
        Section::MainMeter => 0,
        Section::Battery => 1,
        Section::Solar => 2,
    }
}

/// The section of a column value.
pub(crate) fn from_code(value: i16) -> Option<Section> {
    Section::ALL
        .into_iter()
        .find(|section| code(*section) == value)
}

/// The bit of a section in `building.reported_sections`.
pub(crate) const fn bit(section: Section) -> i16 {
    1 << code(section)
}

/// The column value of a status; what measures is below 2 (`fold_minute`).
pub(crate) const fn status_code(status: Status) -> i16 {
    match status {
        Status::Available => 0,
        Status::Degraded => 1,
        Status::Unavailable => 2,
    }
}
