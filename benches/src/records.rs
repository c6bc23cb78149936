//! Realtime records to measure with: seeded, varying, all of them valid.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Records in a set that times are measured with: more than a core's second-level cache holds.
pub const SET: usize = 10_000;

/// How a set's records are written.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// All fields in the specification's order, without white space.
    Compact,
    /// All fields in any order, indented.
    Shuffled,
    /// About half of the fields, in order, without white space.
    Missing,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Compact, Self::Shuffled, Self::Missing];

    /// The name that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Shuffled => "shuffled",
            Self::Missing => "missing",
        }
    }
}

/// So many different records in a shape, the same ones every time.
#[must_use]
pub fn set(shape: Shape, records: usize) -> Vec<Vec<u8>> {
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(1));
    (0..records)
        .map(|_| record(&mut draw, shape).into_bytes())
        .collect()
}

/// A JSON object's members: keys and values as text.
type Members = Vec<(&'static str, String)>;

fn record(draw: &mut Draw, shape: Shape) -> String {
    let time = 1_700_000_000 + draw.below(10_000_000);
    let time = format!("{time}.{:03}", draw.below(1_000));
    let main_meter = main_meter(draw);
    let battery = battery(draw);
    let solar = solar(draw);
    let members = vec![
        ("time", time),
        ("main_meter", object(draw, shape, 1, main_meter)),
        ("battery", object(draw, shape, 1, battery)),
        ("solar", object(draw, shape, 1, solar)),
    ];
    object(draw, shape, 0, members)
}

fn main_meter(draw: &mut Draw) -> Members {
    vec![("status", draw.status()), ("active_power_w", draw.signed())]
}

fn battery(draw: &mut Draw) -> Members {
    vec![
        ("status", draw.status()),
        ("active_power_w", draw.signed()),
        ("active_power_setpoint_w", draw.signed()),
        ("baseline_power_w", draw.or_null()),
        ("soc", format!("{}.{}", draw.below(100), draw.below(10))),
        ("charge_limit_w", draw.below(100_000).to_string()),
        ("remaining_charge_time_s", draw.below(20_000).to_string()),
        ("discharge_limit_w", draw.below(100_000).to_string()),
        ("remaining_discharge_time_s", draw.below(20_000).to_string()),
    ]
}

fn solar(draw: &mut Draw) -> Members {
    vec![
        ("status", draw.status()),
        ("active_power_w", format!("-{}", draw.below(50_000))),
        (
            "active_power_setpoint_w",
            format!("-{}", draw.below(50_000)),
        ),
        ("rated_power_w", draw.below(100_000).to_string()),
        ("min_power_w", draw.or_null()),
        ("max_power_w", draw.or_null()),
        ("baseline_power_w", draw.or_null()),
    ]
}

fn object(draw: &mut Draw, shape: Shape, depth: usize, mut members: Members) -> String {
    match shape {
        Shape::Compact => {}
        Shape::Missing => {
            members.retain(|(key, _)| matches!(*key, "time" | "status") || draw.below(2) == 0)
        }
        Shape::Shuffled => {
            for last in (1..members.len()).rev() {
                members.swap(last, draw.below(last + 1));
            }
        }
    }
    let pretty = matches!(shape, Shape::Shuffled);
    let (line, colon) = if pretty {
        (format!("\n{}", "  ".repeat(depth + 1)), ": ")
    } else {
        (String::new(), ":")
    };
    let members: Vec<String> = members
        .into_iter()
        .map(|(key, value)| format!("{line}\"{key}\"{colon}{value}"))
        .collect();
    let end = if pretty {
        format!("\n{}", "  ".repeat(depth))
    } else {
        String::new()
    };
    format!("{{{}{end}}}", members.join(","))
}

/// Where the values are drawn from.
struct Draw(ChaCha8Rng);

impl Draw {
    /// A number below `bound`, evenly enough to measure with.
    fn below(&mut self, bound: usize) -> usize {
        self.0.next_u32() as usize % bound
    }

    fn status(&mut self) -> String {
        let status = ["available", "available", "degraded", "unavailable"][self.below(4)];
        format!("\"{status}\"")
    }

    fn signed(&mut self) -> String {
        let sign = if self.below(2) == 0 { "-" } else { "" };
        format!("{sign}{}", self.below(200_000))
    }

    fn or_null(&mut self) -> String {
        if self.below(4) == 0 {
            "null".to_owned()
        } else {
            self.signed()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_of_every_shape_is_valid() {
        for shape in Shape::ALL {
            for record in set(shape, SET) {
                let verdict = wire::decode::decode_telemetry(&record);
                assert!(
                    verdict.is_ok(),
                    "{verdict:?}: {}",
                    String::from_utf8_lossy(&record)
                );
            }
        }
    }
}
