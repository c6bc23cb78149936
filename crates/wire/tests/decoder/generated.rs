//! Records made of right and wrong parts in any order, judged as they come.

use crate::judge;
use proptest::prelude::*;
use proptest::sample::select;

const SPACES: [&str; 5] = ["", "", "", " ", "\r\n\t"];

const MAIN_METER: &[&str] = &["status", "active_power_w"];
const BATTERY: &[&str] = &[
    "status",
    "active_power_w",
    "active_power_setpoint_w",
    "baseline_power_w",
    "soc",
    "charge_limit_w",
    "remaining_charge_time_s",
    "discharge_limit_w",
    "remaining_discharge_time_s",
];
const SOLAR: &[&str] = &[
    "status",
    "active_power_w",
    "active_power_setpoint_w",
    "rated_power_w",
    "min_power_w",
    "max_power_w",
    "baseline_power_w",
];

/// Values that are right in some fields and wrong in others.
const ODD_VALUES: &[&str] = &[
    "null",
    "true",
    "0",
    "-0",
    "-0.0",
    "5.0",
    "5e0",
    "-5E+2",
    "0.5",
    "100",
    "101",
    "-1",
    "1e-400",
    "1e400",
    "-1e999",
    "2147483647",
    "2147483648",
    "-2147483647",
    "-2147483648",
    "9007199254740993",
    "18446744073709551616",
    "\"5\"",
    "\"\"",
    "[]",
    "{}",
    "[1,{\"a\":null}]",
    "\"available\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud800\"",
    "\"Available\"",
    "\"available\\u0000\"",
    "01",
    "+1",
    ".5",
    "NaN",
    "1e",
    "\"\u{1}\"",
];

fn space() -> impl Strategy<Value = &'static str> {
    select(&SPACES[..])
}

/// A word as JSON text, now and then with one character escaped.
fn word(word: &'static str) -> impl Strategy<Value = String> {
    (0..10_usize, 0..word.len()).prop_map(move |(escape, place)| {
        let mut text = String::from("\"");
        for (index, character) in word.chars().enumerate() {
            if escape == 0 && index == place {
                text.push_str(&format!("\\u{:04x}", u32::from(character)));
            } else {
                text.push(character);
            }
        }
        text + "\""
    })
}

fn status() -> impl Strategy<Value = String> {
    select(&["available", "degraded", "unavailable"][..]).prop_flat_map(word)
}

/// A value that is right in the field, most of the time.
fn value(field: &'static str) -> BoxedStrategy<String> {
    let right = match field {
        "status" => status().boxed(),
        "time" => (0.0..2e12_f64).prop_map(|time| time.to_string()).boxed(),
        "soc" => (0.0..=100.0_f64)
            .prop_map(|percent| percent.to_string())
            .boxed(),
        "active_power_setpoint_w" => (-20_000..=0_i32)
            .prop_map(|power| power.to_string())
            .boxed(),
        _ if field.ends_with("_limit_w") || field.ends_with("_s") || field == "rated_power_w" => {
            (0..100_000_i32).prop_map(|value| value.to_string()).boxed()
        }
        _ => any::<i32>().prop_map(|power| power.to_string()).boxed(),
    };
    let odd = select(ODD_VALUES).prop_map(str::to_owned);
    prop_oneof![30 => right, 1 => odd].boxed()
}

/// A key and its value, with white space around them.
fn member(key: &'static str, value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    (word(key), value, space(), space())
        .prop_map(|(key, value, before, after)| {
            format!("{before}{key}{after}:{before}{value}{after}")
        })
        .boxed()
}

fn unknown(depth: usize) -> BoxedStrategy<String> {
    let keys = select(&["", "x", "Status", "time", "status", "a/b~c"][..]);
    (keys, select(ODD_VALUES))
        .prop_map(move |(key, value)| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            format!(r#""{key}":{open}{value}{close}"#)
        })
        .boxed()
}

fn object(members: impl Strategy<Value = Vec<String>> + 'static) -> BoxedStrategy<String> {
    (members, space())
        .prop_map(|(members, space)| format!("{{{}{space}}}", members.join(",")))
        .boxed()
}

/// A section: mostly its status, some of its fields in any order, doubled ones, unknown ones.
fn section(fields: &'static [&'static str]) -> BoxedStrategy<String> {
    let status = prop::option::weighted(0.97, member("status", value("status")));
    let field = select(fields).prop_flat_map(|field| member(field, value(field)));
    let unknown = (0..130_usize).prop_flat_map(unknown);
    let extra = prop::option::weighted(0.1, unknown);
    let members =
        (status, prop::collection::vec(field, 0..fields.len()), extra).prop_map(|parts| {
            let (status, fields, extra) = parts;
            status
                .into_iter()
                .chain(fields)
                .chain(extra)
                .collect::<Vec<_>>()
        });
    let section = object(members.prop_shuffle());
    prop_oneof![40 => section, 1 => select(ODD_VALUES).prop_map(str::to_owned)].boxed()
}

fn record() -> impl Strategy<Value = String> {
    let often = |member| prop::option::weighted(0.7, member);
    let members = (
        prop::option::weighted(0.98, member("time", value("time"))),
        prop::option::weighted(0.05, member("time", value("time"))),
        often(member("main_meter", section(MAIN_METER))),
        often(member("battery", section(BATTERY))),
        often(member("solar", section(SOLAR))),
        prop::option::weighted(0.02, unknown(1)),
    )
        .prop_map(|(time, again, meter, battery, solar, extra)| {
            let parts = [time, again, meter, battery, solar, extra];
            parts.into_iter().flatten().collect::<Vec<_>>()
        });
    (space(), object(members.prop_shuffle()), space())
        .prop_map(|(before, record, after)| format!("{before}{record}{after}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6_000))]

    #[test]
    fn a_generated_record_has_the_judges_verdict(payload in record()) {
        judge::agree(payload.as_bytes());
    }

    #[test]
    fn any_bytes_have_the_judges_verdict(payload in prop::collection::vec(any::<u8>(), 0..40)) {
        judge::agree(&payload);
    }

    #[test]
    fn an_integer_of_any_spelling_is_the_same_integer(power in any::<i32>(), zeros in 0..4_usize) {
        let zeros = "0".repeat(zeros + 1);
        for spelling in [format!("{power}.{zeros}"), format!("{power}e{zeros}"), format!("{power}{zeros}E-{}", zeros.len())] {
            judge::agree(format!(r#"{{"time":1,"main_meter":{{"status":"available","active_power_w":{spelling}}}}}"#).as_bytes());
        }
    }
}
