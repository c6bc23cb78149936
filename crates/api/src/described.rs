//! What every operation says of itself, a file for each subject.

pub(crate) mod actions;
pub(crate) mod buildings;
pub(crate) mod comfort;
pub(crate) mod documentation;
pub(crate) mod electricity;
pub(crate) mod grid_limits;
pub(crate) mod key_values;
pub(crate) mod meter_readings;
pub(crate) mod tokens;
