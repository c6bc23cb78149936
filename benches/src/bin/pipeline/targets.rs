//! What the figures have to reach, on two cores with every server on the same machine.

/// Records a second, from publish to stored, for [`SUSTAINED_S`].
pub(crate) const RECORDS_PER_S: f64 = 5_000.0;
/// How long that rate has to last, in seconds.
pub(crate) const SUSTAINED_S: f64 = 60.0;
/// From publish to readable over HTTP at the 99th percentile, in seconds.
pub(crate) const READABLE_S: f64 = 2.0;
/// Resident memory of a process, in megabytes (10^6).
pub(crate) const MEMORY_MB: [(&str, f64); 3] =
    [("bridge", 64.0), ("aggregator", 128.0), ("api", 64.0)];
/// After an outage, seconds of it made good in a second, while new records keep arriving.
pub(crate) const TIMES_REAL_TIME: f64 = 5.0;
