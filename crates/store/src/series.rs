//! The numbers by which the database knows what measures power: series, sections, statuses.

use domain::record::{Section, Status};

/// What measures power: a section of the telemetry, or a sensor that the controller reads by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Series {
    /// A section of the realtime telemetry.
    Section(Section),
    /// The sensor with this id, at least 1.
    Sensor(i64),
}

impl Series {
    /// The column value of a series: a sensor's id, or 0, −1 and −2 for the sections.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::Section(Section::MainMeter) => 0,
            Self::Section(Section::Battery) => -1,
            Self::Section(Section::Solar) => -2,
            Self::Sensor(id) => id,
        }
    }

    /// The series of a column value.
    #[must_use]
    pub fn from_code(value: i64) -> Option<Self> {
        if value > 0 {
            return Some(Self::Sensor(value));
        }
        let mut sections = Section::ALL.into_iter().map(Self::Section);
        sections.find(|series| series.code() == value)
    }
}

/// The bit of a section in `building.reported_sections`.
pub(crate) const fn bit(section: Section) -> i16 {
    match section {
        Section::MainMeter => 1,
        Section::Battery => 2,
        Section::Solar => 4,
    }
}

/// The column value of a status; what measures is below 2 (`fold_minute`).
pub(crate) const fn status_code(status: Status) -> i16 {
    match status {
        Status::Available => 0,
        Status::Degraded => 1,
        Status::Unavailable => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_read_back_from_its_code() {
        let sections = Section::ALL.map(Series::Section);
        for series in sections
            .into_iter()
            .chain([Series::Sensor(1), Series::Sensor(99)])
        {
            assert_eq!(Series::from_code(series.code()), Some(series));
        }
        assert_eq!(Series::from_code(-3), None);
    }
}
