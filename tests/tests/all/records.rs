//! Records as tests write them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Whole seconds since the epoch, now.
#[expect(
    clippy::disallowed_methods,
    reason = "a test plays the controller, which has a clock"
)]
pub(crate) fn now() -> i64 {
    i64::try_from(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs(),
    )
    .unwrap()
}

/// A record with a meter only.
pub(crate) fn meter(time: i64, power_w: i32) -> String {
    format!(r#"{{"time":{time},"main_meter":{{"status":"available","active_power_w":{power_w}}}}}"#)
}

/// A record with all three sections.
pub(crate) fn full(time: i64, meter_w: i32, battery_w: i32, solar_w: i32) -> String {
    format!(
        r#"{{"time":{time},"main_meter":{{"status":"available","active_power_w":{meter_w}}},"battery":{{"status":"available","active_power_w":{battery_w},"soc":50.5}},"solar":{{"status":"available","active_power_w":{solar_w}}}}}"#
    )
}
