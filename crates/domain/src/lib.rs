//! What is true about buildings, power, energy and time, whatever carries it.
//!
//! Pure: no input or output, no clock (`now` is an argument), no environment.

pub mod bucket;
pub mod electricity;
pub mod record;
pub mod rejection;
pub mod sensor;
pub mod time;
