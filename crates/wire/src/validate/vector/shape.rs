//! What a full record in the schema's order looks like, as tables.

/// A record with less or more bytes is not looked at: all keys and a digit each, and ten blocks.
pub(super) const SHORTEST: usize = 350;
pub(super) const LONGEST: usize = 640;

/// Commas and closing braces of a full record.
pub(super) const ENDS: usize = 22;
/// Its values.
pub(super) const VALUES: usize = 19;

/// What stands before each value, from the end of the value before it on; at most 32 bytes.
pub(super) const BEFORE: [&[u8]; VALUES] = [
    b"{\"time\":",
    b",\"main_meter\":{\"status\":",
    b",\"active_power_w\":",
    b"},\"battery\":{\"status\":",
    b",\"active_power_w\":",
    b",\"active_power_setpoint_w\":",
    b",\"baseline_power_w\":",
    b",\"soc\":",
    b",\"charge_limit_w\":",
    b",\"remaining_charge_time_s\":",
    b",\"discharge_limit_w\":",
    b",\"remaining_discharge_time_s\":",
    b"},\"solar\":{\"status\":",
    b",\"active_power_w\":",
    b",\"active_power_setpoint_w\":",
    b",\"rated_power_w\":",
    b",\"min_power_w\":",
    b",\"max_power_w\":",
    b",\"baseline_power_w\":",
];
/// The same, each with zeros behind it.
pub(super) const PADDED: [[u8; 32]; VALUES] = {
    let mut padded = [[0; 32]; VALUES];
    let mut place = 0;
    while place < VALUES {
        let mut at = 0;
        while at < BEFORE[place].len() {
            padded[place][at] = BEFORE[place][at];
            at += 1;
        }
        place += 1;
    }
    padded
};
/// A bit for each byte of them.
pub(super) const COMPARED: [u32; VALUES] = {
    let mut compared = [0; VALUES];
    let mut place = 0;
    while place < VALUES {
        compared[place] = u32::MAX >> (32 - BEFORE[place].len());
        place += 1;
    }
    compared
};
/// Their lengths.
#[expect(clippy::cast_possible_truncation, reason = "at most 32")]
pub(super) const BEFORE_LENGTHS: [u16; 32] = {
    let mut lengths = [0; 32];
    let mut place = 0;
    while place < VALUES {
        lengths[place] = BEFORE[place].len() as u16;
        place += 1;
    }
    lengths
};
/// What stands behind the last.
pub(super) const BEHIND: &[u8] = b"}}";

/// Which of the ends ends each value: after a section's last value two follow each other.
pub(super) const END_OF: [u16; 32] = [
    0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0,
];
/// The value before each.
pub(super) const VALUE_BEFORE: [u16; 32] = {
    let mut before = [0; 32];
    let mut place = 1;
    while place < 32 {
        before[place] = before[place - 1] + if place == 1 { 0 } else { 1 };
        place += 1;
    }
    before
};

/// Places of values.
pub(super) const TIME: usize = 0;
pub(super) const STATUSES: [usize; 3] = [1, 3, 12];
pub(super) const SOC: usize = 7;
/// Numbers, four at a time: of any sign or null, of any sign, not negative, and what is left: two integers, and the two that
/// may have a point.
pub(super) const OR_NULL: [usize; 4] = [6, 16, 17, 18];
pub(super) const ANY: [usize; 4] = [2, 4, 5, 13];
pub(super) const AT_LEAST_0: [usize; 4] = [8, 9, 10, 11];
pub(super) const OTHERS: [usize; 4] = [14, 15, TIME, SOC];

/// The longest value that is looked at: sixteen bytes are read at once.
pub(super) const LONGEST_VALUE: u16 = 16;
/// Where each place's length has its low byte, sixteen times.
pub(super) const fn low_bytes(places: [usize; 4]) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 2 * 18")]
        let place = places[at / 16] as u8;
        bytes[at] = 2 * place;
        at += 1;
    }
    bytes
}

/// 0 to 63.
#[expect(clippy::cast_possible_truncation, reason = "at most 63")]
pub(super) const IN_ORDER: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};
