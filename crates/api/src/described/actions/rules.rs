//! Every rule that an action's request can break.

use crate::description::Rule;

const PERCENTAGE: &str = "/inverters_set_power_percentage";
const TIMEOUT_PERCENTAGE: &str = "/inverters_set_power_timeout_percentage";
const INVERTER_WATTS: &str = "/inverters_set_power_watts";
const INVERTER_TIMEOUT: &str = "/inverters_set_power_timeout";
const TIMEOUT_WATTS: &str = "/inverters_set_power_timeout_watts";
const CHARGE: &str = "/battery_set_power_charge_watts";
const DISCHARGE: &str = "/battery_set_power_discharge_watts";
const BATTERY_TIMEOUT: &str = "/battery_set_power_timeout";
const DELIVERY: &str = "/grid_target_delivery_watts";
const RETURN_DELIVERY: &str = "/grid_target_return_delivery_watts";
const DURATION: &str = "/grid_target_duration";
const CANCEL: &str = "/grid_target_cancel";
const SOCKETS: &str = "/ev_sockets_update";
const SOCKET: &str = "/ev_sockets_update/{index}";
const SOCKET_SENSOR: &str = "/ev_sockets_update/{index}/sensor_uuid";
const SOCKET_CHARGE: &str = "/ev_sockets_update/{index}/ev_socket_set_power_charge_watts";
const SOCKET_TIMEOUT: &str = "/ev_sockets_update/{index}/ev_socket_set_power_timeout";
const SETPOINTS: &str = "/setpoints_update";
const MINUTES: &str = "/setpoints_update/fallback_timeout_minutes";
/// Each list of setpoints: the list, its items, the sensor and the value of an item.
const LISTS: [[&str; 4]; 2] = [
    [
        "/setpoints_update/setpoints",
        "/setpoints_update/setpoints/{index}",
        "/setpoints_update/setpoints/{index}/sensor_uuid",
        "/setpoints_update/setpoints/{index}/value",
    ],
    [
        "/setpoints_update/fallback_setpoints",
        "/setpoints_update/fallback_setpoints/{index}",
        "/setpoints_update/fallback_setpoints/{index}/sensor_uuid",
        "/setpoints_update/fallback_setpoints/{index}/value",
    ],
];
const FCR: &str = "/fcr_planning";
const FCR_POWER: &str = "/fcr_planning/power";
const FCR_START: &str = "/fcr_planning/start_timestamp";
const FCR_STOP: &str = "/fcr_planning/stop_timestamp";
const FCR_ENABLED: &str = "/fcr_planning/enabled";
const KEY: &str = "/Idempotency-Key";

/// All of them.
pub(super) fn all() -> Vec<Rule> {
    [
        of_families(),
        of_inverters(),
        of_directed(),
        of_sockets(),
        of_setpoints(),
        of_fcr(),
        of_key(),
    ]
    .concat()
}

fn required(field: &'static str) -> Rule {
    Rule::new(field, "required", "the property must be there")
}

fn of_integer(field: &'static str, least: &'static str) -> [Rule; 3] {
    [
        Rule::new(
            field,
            "not_an_integer",
            "the property must be a whole number",
        ),
        Rule::new(
            field,
            "out_of_range",
            "the property must be within \u{b1}2147483647",
        ),
        Rule::new(field, "below_minimum", least),
    ]
}

fn of_watts(field: &'static str) -> [Rule; 3] {
    of_integer(field, "the power must be 0 or more")
}

fn of_timeout(field: &'static str) -> [Rule; 3] {
    of_integer(field, "the timeout must be at least 60 seconds")
}

fn of_object(field: &'static str) -> Rule {
    Rule::new(field, "not_an_object", "it must be an object")
}

fn of_sensor(field: &'static str, kind: &'static str) -> [Rule; 5] {
    [
        required(field),
        Rule::new(field, "not_a_uuid", "the property must be a uuid"),
        Rule::new(field, "repeated", "the sensor is there already"),
        Rule::new(field, "unknown_sensor", "the building must have the sensor"),
        Rule::new(field, "wrong_kind", kind),
    ]
}

fn of_families() -> Vec<Rule> {
    const FIELDS: [&str; 10] = [
        PERCENTAGE,
        INVERTER_WATTS,
        CHARGE,
        DISCHARGE,
        DELIVERY,
        RETURN_DELIVERY,
        CANCEL,
        SOCKETS,
        SETPOINTS,
        FCR,
    ];
    let none = "one of the properties that make an action must be there; told at each, as are the \
                alternatives within a family";
    let mut rules: Vec<Rule> = FIELDS
        .iter()
        .map(|field| Rule::new(field, "required", none))
        .collect();
    rules.extend([
        Rule::new(
            "/{property}",
            "another_family",
            "the property is of another family than the first of the interface's order",
        ),
        Rule::new(
            "/{property}",
            "too_many",
            "the building's sockets, setpoints, blocks and grid limits would be more than 1000; told at \
             the property that makes the action",
        ),
    ]);
    rules
}

fn of_inverters() -> Vec<Rule> {
    let of_percentage = |field| {
        [
            Rule::new(field, "not_a_number", "the property must be a number"),
            Rule::new(
                field,
                "out_of_range",
                "the property must be within \u{b1}1e308",
            ),
            Rule::new(field, "below_minimum", "the percentage must be 0 or more"),
            Rule::new(field, "above_maximum", "the percentage must be at most 100"),
        ]
    };
    let fallback = "a timeout must be there, as a number, where a fallback is";
    let mut rules = vec![Rule::new(INVERTER_TIMEOUT, "required", fallback)];
    rules.extend(
        [PERCENTAGE, TIMEOUT_PERCENTAGE]
            .into_iter()
            .flat_map(of_percentage),
    );
    rules.extend(
        [INVERTER_WATTS, TIMEOUT_WATTS]
            .into_iter()
            .flat_map(of_watts),
    );
    rules.extend(of_timeout(INVERTER_TIMEOUT));
    rules
}

fn of_directed() -> Vec<Rule> {
    let watts = [CHARGE, DISCHARGE, DELIVERY, RETURN_DELIVERY];
    let mut rules: Vec<Rule> = watts.into_iter().flat_map(of_watts).collect();
    rules.extend([required(BATTERY_TIMEOUT), required(DURATION)]);
    rules.extend(of_timeout(BATTERY_TIMEOUT));
    rules.extend(of_integer(
        DURATION,
        "the duration must be at least 1 second",
    ));
    rules.extend([
        Rule::new(
            DISCHARGE,
            "not_together",
            "charge and discharge exclude each other",
        ),
        Rule::new(
            RETURN_DELIVERY,
            "not_together",
            "delivery and return delivery exclude each other",
        ),
        Rule::new(CANCEL, "not_a_boolean", "the property must be true"),
        Rule::new(CANCEL, "not_true", "the property must be true"),
        Rule::new(CANCEL, "not_alone", "a cancellation must stand alone"),
    ]);
    rules
}

fn of_sockets() -> Vec<Rule> {
    let mut rules = vec![
        Rule::new(SOCKETS, "not_an_array", "the property must be an array"),
        Rule::new(SOCKETS, "too_few", "there must be a socket"),
        Rule::new(SOCKETS, "too_many", "there may be 100 sockets"),
        of_object(SOCKET),
    ];
    rules.extend(of_sensor(
        SOCKET_SENSOR,
        "the sensor must be of kind ev_socket",
    ));
    rules.extend([required(SOCKET_CHARGE), required(SOCKET_TIMEOUT)]);
    rules.extend(of_watts(SOCKET_CHARGE));
    rules.extend(of_timeout(SOCKET_TIMEOUT));
    rules
}

fn of_setpoints() -> Vec<Rule> {
    let [[values, ..], [fallback, ..]] = LISTS;
    let mut rules = vec![of_object(SETPOINTS)];
    rules.extend([MINUTES, values, fallback].map(|field| {
        Rule::new(
            field,
            "required",
            "one of the three must be there; told at each",
        )
    }));
    rules.extend(of_integer(MINUTES, "the time must be 0 or more"));
    rules.extend([
        Rule::new(
            MINUTES,
            "above_maximum",
            "the time must be at most 10080 minutes",
        ),
        Rule::new(
            fallback,
            "required",
            "an armed kill switch needs fallbacks, given now or before",
        ),
    ]);
    for [list, item, sensor, value] in LISTS {
        rules.extend([
            Rule::new(list, "not_an_array", "the property must be an array"),
            Rule::new(list, "too_many", "there may be 1000 items"),
            of_object(item),
            required(value),
            Rule::new(value, "not_a_number", "the value must be a number"),
            Rule::new(
                value,
                "out_of_range",
                "the value must be within \u{b1}1e308",
            ),
        ]);
        rules.extend(of_sensor(sensor, "the sensor must be of kind setpoint"));
    }
    rules
}

fn of_fcr() -> Vec<Rule> {
    let of_time = |field| of_integer(field, "").into_iter().take(2);
    let mut rules = vec![of_object(FCR)];
    rules.extend([FCR_POWER, FCR_START, FCR_STOP, FCR_ENABLED].map(required));
    rules.extend(of_watts(FCR_POWER));
    rules.extend([FCR_START, FCR_STOP].into_iter().flat_map(of_time));
    rules.extend([
        Rule::new(
            FCR_ENABLED,
            "not_a_boolean",
            "the property must be true or false",
        ),
        Rule::new(FCR_START, "not_ahead", "the start must lie in the future"),
        Rule::new(
            FCR_START,
            "too_far_ahead",
            "the start must be at most 400 days ahead",
        ),
        Rule::new(
            FCR_START,
            "not_a_block_start",
            "the start must be 00:00, 04:00, 08:00, 12:00, 16:00 or 20:00 in Amsterdam",
        ),
        Rule::new(
            FCR_STOP,
            "not_the_block_end",
            "the stop must be the boundary behind the start",
        ),
    ]);
    rules
}

fn of_key() -> Vec<Rule> {
    vec![
        Rule::new(KEY, "repeated", "the header may be given once only"),
        Rule::new(
            KEY,
            "not_text",
            "the header must be UTF-8 without control characters",
        ),
        Rule::new(KEY, "too_short", "the header must have a character"),
        Rule::new(
            KEY,
            "too_long",
            "the header must have at most 255 characters",
        ),
    ]
}
