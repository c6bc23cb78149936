//! The edge cases that the decisions name, with the reason and the pointer of each.

use crate::judge;
use domain::record::Status;
use domain::rejection::{Reason, Rejection};
use domain::time::Timestamp;
use wire::decode::{Accepted, LONGEST_PAYLOAD, decode_telemetry, verdict};
use wire::topic::RecordKind;

#[track_caller]
fn accepts(payload: &str) {
    assert!(judge::agree(payload.as_bytes()), "{payload}");
}

#[track_caller]
fn refuses(payload: impl AsRef<[u8]>, reason: Reason, pointer: &str) -> Rejection {
    let payload = payload.as_ref();
    judge::agree(payload);
    let rejection = decode_telemetry(payload).unwrap_err();
    let shown: String = String::from_utf8_lossy(payload).chars().take(200).collect();
    assert_eq!(
        (rejection.reason, &*rejection.pointer),
        (reason, pointer),
        "{shown}"
    );
    assert!(rejection.detail.len() < 400, "{rejection:?}");
    rejection
}

/// A record whose main meter holds `fields` besides its status.
fn meter(fields: &str) -> String {
    format!(r#"{{"time":1,"main_meter":{{"status":"available",{fields}}}}}"#)
}

fn battery(fields: &str) -> String {
    format!(r#"{{"time":1,"battery":{{"status":"available",{fields}}}}}"#)
}

fn solar(fields: &str) -> String {
    format!(r#"{{"time":1,"solar":{{"status":"available",{fields}}}}}"#)
}

#[test]
fn a_full_record_comes_out_as_columns() {
    let record = decode_telemetry(
        br#"{"time":1700000000.25,"main_meter":{"status":"degraded","active_power_w":-7},
            "battery":{"status":"available","soc":63.5,"baseline_power_w":null}}"#,
    )
    .unwrap();
    assert_eq!(record.time, Timestamp::from_micros(1_700_000_000_250_000));
    let meter = record.main_meter.unwrap();
    assert_eq!(
        (meter.status, meter.active_power_w),
        (Status::Degraded, Some(-7))
    );
    let battery = record.battery.unwrap();
    assert_eq!(
        (battery.soc_percent, battery.baseline_power_w),
        (Some(63.5), None)
    );
    assert_eq!(record.solar, None);
}

#[test]
fn integers_are_those_of_json_schema() {
    for integer in [
        "5",
        "5.0",
        "5e0",
        "0.5E+1",
        "500e-2",
        "-0",
        "-0.0",
        "0e999",
        "1e-400",
        "2147483647.0",
    ] {
        accepts(&meter(&format!(r#""active_power_w":{integer}"#)));
        accepts(&battery(&format!(r#""charge_limit_w":{integer}"#)));
    }
    for other in ["true", "5.5", "\"5\"", "null", "[5]", "{}"] {
        let payload = meter(&format!(r#""active_power_w":{other}"#));
        refuses(payload, Reason::Schema, "/main_meter/active_power_w");
    }
    accepts(&solar(r#""active_power_setpoint_w":-0.0"#));
}

#[test]
fn an_integer_beyond_32_bits_is_out_of_range_and_a_number_is_not() {
    let power = "/main_meter/active_power_w";
    for integer in [
        "2147483648",
        "-2147483648",
        "3e9",
        "1e300",
        "99999999999999999999",
        "2147483648.0",
    ] {
        let payload = meter(&format!(r#""active_power_w":{integer}"#));
        refuses(payload, Reason::OutOfRange, power);
    }
    accepts(&meter(r#""active_power_w":-2147483647"#));
    accepts(&meter(r#""unknown":99999999999999999999"#));
    accepts(r#"{"time":99999999999999999999}"#);
    refuses(
        battery(r#""charge_limit_w":-3e9"#),
        Reason::Schema,
        "/battery/charge_limit_w",
    );
    let both = r#"{"time":1,"battery":{"status":"available","active_power_w":3e9,"soc":101}}"#;
    refuses(both, Reason::Schema, "/battery/soc");
}

#[test]
fn a_number_that_no_double_holds_is_out_of_range_wherever_it_stands() {
    let refused = |payload: &str, pointer| refuses(payload, Reason::OutOfRange, pointer);
    refused(r#"{"time":1e400}"#, "/time");
    refused(r#"{"time":-1e400}"#, "/time");
    refused(
        &meter(r#""active_power_w":1e400"#),
        "/main_meter/active_power_w",
    );
    refused(
        &meter(r#""a/b~c":[[0],{"d":[1,1E+999]}]"#),
        "/main_meter/a~1b~0c/1/d/1",
    );
    refused(&battery(r#""soc":1e400"#), "/battery/soc");
    refused(&format!(r#"{{"time":{}}}"#, "9".repeat(400)), "/time");
    refused(r#"{"time":1e400,"time":1}"#, "");
    refuses(r#"{"time":1,"x":1e400}"#, Reason::Schema, "/x");
    refuses(
        r#"{"time":1,"solar":{"status":1e400}}"#,
        Reason::Schema,
        "/solar/status",
    );
    refuses("1e400", Reason::Schema, "");
    refuses(r#"{"time":1e400"#, Reason::NotJson, "");
    refuses(r#"{"time":1e400.5}"#, Reason::NotJson, "");
    accepts(r#"{"time":1,"main_meter":{"status":"available","note":"1e400"}}"#);
}

#[test]
fn what_is_not_one_json_document_is_not_json() {
    let good = meter(r#""active_power_w":1"#);
    let refused = |payload: &[u8]| refuses(payload, Reason::NotJson, "");
    refused(b"");
    refused(b" ");
    refused(format!("\u{feff}{good}").as_bytes());
    refused(format!("{good}x").as_bytes());
    refused(format!("{good}\0").as_bytes());
    refused(format!("{good}{good}").as_bytes());
    refused(meter(r#""note":"\ud800""#).as_bytes());
    refused(meter(r#""note":"\udc00\ud800""#).as_bytes());
    refused(meter(r#""\ud800":1"#).as_bytes());
    refused(meter(r#""active_power_w":01"#).as_bytes());
    refused(meter(r#""active_power_w":+1"#).as_bytes());
    refused(meter(r#""active_power_w":1."#).as_bytes());
    refused(meter(r#""active_power_w":NaN"#).as_bytes());
    refused(meter("\"note\":\"\t\"").as_bytes());
    refused(meter("/**/\"note\":1").as_bytes());
    refused(b"{\"time\":1,\"main_meter\":{\"status\":\"available\",\"note\":\"\xff\"}}");
    refused(b"{\"time\":1,\"main_meter\":{\"status\":\"available\",\"note\":\"\xed\xa0\x80\"}}");
    accepts(&format!(" \r\n\t{good}\n"));
    accepts(&meter(r#""note":"\ud83d\ude00 \u0000""#));
}

#[test]
fn a_hundred_and_twenty_eight_levels_are_not_json() {
    // The record and its section are two levels themselves.
    let nested = |levels: usize| {
        meter(&format!(
            r#""n":{}{}"#,
            "[".repeat(levels - 2),
            "]".repeat(levels - 2)
        ))
    };
    accepts(&nested(127));
    refuses(nested(128), Reason::NotJson, "");
    refuses(r#"{"time":"#.repeat(5_000), Reason::NotJson, "");
}

#[test]
fn the_size_comes_first() {
    let good = meter(r#""active_power_w":1"#);
    let filled = |size: usize| format!("{good}{}", " ".repeat(size - good.len()));
    accepts(&filled(LONGEST_PAYLOAD));
    refuses(filled(LONGEST_PAYLOAD + 1), Reason::TooLarge, "");
    refuses(vec![b'x'; LONGEST_PAYLOAD + 1], Reason::TooLarge, "");
}

#[test]
fn escapes_and_duplicates_mean_what_json_says() {
    accepts(r#"{"\u0074ime":1,"solar":{"st\u0061tus":"\u0061vailable"}}"#);
    accepts(r#"{"time":"x","time":1}"#);
    refuses(r#"{"time":1,"time":"x"}"#, Reason::Schema, "/time");
    refuses(r#"{"time":1,"\u0074ime":null}"#, Reason::Schema, "/time");
    accepts(r#"{"time":1,"battery":5,"battery":{"status":"x","status":"available"}}"#);
    refuses(
        r#"{"time":1,"battery":{"status":"available"},"battery":{}}"#,
        Reason::Schema,
        "/battery/status",
    );
    refuses(r#"{"time":1,"Time":1}"#, Reason::Schema, "/Time");
    refuses(r#"{"time":1,"time ":1}"#, Reason::Schema, "/time ");
}

#[test]
fn null_is_allowed_where_the_specification_says_so_and_nowhere_else() {
    accepts(&battery(r#""baseline_power_w":null"#));
    accepts(&solar(
        r#""min_power_w":null,"max_power_w":null,"baseline_power_w":null"#,
    ));
    accepts(&solar(r#""unknown":null"#));
    for field in [
        "active_power_w",
        "active_power_setpoint_w",
        "soc",
        "charge_limit_w",
        "status",
    ] {
        let payload = battery(&format!(r#""{field}":null"#));
        refuses(payload, Reason::Schema, &format!("/battery/{field}"));
    }
    refuses(r#"{"time":null}"#, Reason::Schema, "/time");
    refuses(r#"{"time":1,"solar":null}"#, Reason::Schema, "/solar");
}

#[test]
fn bounds_are_part_of_the_schema_and_inclusive() {
    accepts(&battery(
        r#""soc":0,"charge_limit_w":0,"remaining_charge_time_s":0"#,
    ));
    accepts(&battery(r#""soc":100.0"#));
    accepts(&battery(r#""soc":100.00000000000000001"#));
    refuses(
        battery(r#""soc":100.00000000000002"#),
        Reason::Schema,
        "/battery/soc",
    );
    refuses(battery(r#""soc":-5e-324"#), Reason::Schema, "/battery/soc");
    refuses(
        solar(r#""active_power_setpoint_w":1"#),
        Reason::Schema,
        "/solar/active_power_setpoint_w",
    );
    refuses(
        solar(r#""rated_power_w":-1"#),
        Reason::Schema,
        "/solar/rated_power_w",
    );
}

#[test]
fn of_several_places_the_smallest_pointer_is_told_in_any_order_of_keys() {
    refuses(r#"{"z":1,"b":1,"time":"x"}"#, Reason::Schema, "/b");
    refuses(r#"{"time":"x","b":1,"z":1}"#, Reason::Schema, "/b");
    refuses(
        r#"{"solar":{},"battery":{}}"#,
        Reason::Schema,
        "/battery/status",
    );
    refuses(r#"{"":1,"time":1}"#, Reason::Schema, "/");
    refuses(r#"{"~/":1,"time":1}"#, Reason::Schema, "/~0~1");
}

#[test]
fn a_rejection_can_be_stored_and_tells_no_payload() {
    refuses(r#"{"time":1,"a\u0000b":1}"#, Reason::Schema, "/a\u{fffd}b");
    let long = "secret".repeat(5_000);
    let rejection = refuses(format!(r#"{{"time":"{long}"}}"#), Reason::Schema, "/time");
    assert!(!rejection.detail.contains("secret"), "{rejection:?}");
    let rejection = refuses(
        format!(r#"{{"time":1,"{long}":1}}"#),
        Reason::Schema,
        &format!("/{long}"),
    );
    assert!(!rejection.detail.contains("secret"), "{rejection:?}");
}

#[test]
fn a_verdict_tells_the_time_of_every_kind_that_has_one() {
    let check = |kind, payload: &str, seconds: Option<i64>| {
        let accepted = verdict(kind, payload.as_bytes()).unwrap();
        let time = seconds.map(Timestamp::from_seconds);
        assert_eq!(
            accepted,
            Accepted {
                time,
                telemetry: None
            }
        );
    };
    check(RecordKind::Readings, r#"{"time":5,"readings":[]}"#, Some(5));
    check(
        RecordKind::KeyValues,
        r#"{"time":1700000000000,"values":{}}"#,
        Some(1_700_000_000),
    );
    check(
        RecordKind::Reported,
        r#"{"time":5.0,"revision":1,"outcomes":[]}"#,
        Some(5),
    );
    check(RecordKind::Presence, r#"{"online":true,"time":5}"#, None);
    let telemetry = verdict(RecordKind::Telemetry, br#"{"time":5}"#).unwrap();
    assert_eq!(telemetry.time, Some(Timestamp::from_seconds(5)));
    assert_eq!(
        telemetry.telemetry.map(|record| record.time),
        telemetry.time
    );
}

#[test]
fn every_kind_is_held_to_the_same_order_of_reasons() {
    for kind in RecordKind::ALL {
        let reason = |payload: &[u8]| verdict(kind, payload).unwrap_err().reason;
        assert_eq!(reason(&vec![b' '; LONGEST_PAYLOAD + 1]), Reason::TooLarge);
        assert_eq!(reason(b"{"), Reason::NotJson);
        assert_eq!(reason(b"{}"), Reason::Schema);
        assert_eq!(reason(br#"{"x":1e400}"#), Reason::Schema);
    }
    let reported = verdict(
        RecordKind::Reported,
        br#"{"time":1e400,"revision":1,"outcomes":[]}"#,
    );
    let rejection = reported.unwrap_err();
    assert_eq!(
        (rejection.reason, &*rejection.pointer),
        (Reason::OutOfRange, "/time")
    );
}
