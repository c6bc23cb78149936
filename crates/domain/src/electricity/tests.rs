use super::*;
use crate::record::Section;
use crate::sensor::Sign;
use SensorKind::{Charge, Consumption, Delivery, Discharge, EvSocket, Production, ReturnDelivery};

const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);
const SECOND_US: i64 = 1_000_000;

/// A sensor whose newest sample is `before_us` microseconds before [`NOW`].
fn metered(kind: SensorKind, before_us: i64, power_w: i64) -> Metered {
    let time = Timestamp::from_micros(NOW.micros() - before_us);
    Metered {
        kind,
        newest: Some(Sample { time, power_w }),
    }
}

fn silent(kind: SensorKind) -> Metered {
    Metered { kind, newest: None }
}

fn main_meter(before_us: i64, delivery: i64, return_delivery: i64) -> [Metered; 2] {
    [
        metered(Delivery, before_us, delivery),
        metered(ReturnDelivery, before_us, return_delivery),
    ]
}

#[test]
fn an_actual_value_is_at_most_one_hour_old_to_the_microsecond() {
    let check = |before_us: i64, actual| {
        let time = Timestamp::from_micros(NOW.micros() - before_us);
        assert_eq!(Read::Actual.gives(time, NOW), actual, "{before_us}");
        assert!(Read::Latest.gives(time, NOW));
    };
    check(-300 * SECOND_US, true);
    check(0, true);
    check(3_600 * SECOND_US, true);
    check(3_600 * SECOND_US + 1, false);
    check(3_600 * SECOND_US + SECOND_US, false);
}

#[test]
fn the_age_counts_in_microseconds_also_where_the_shown_second_would_be_fresh() {
    // Half a second past the hour, and shown as a time that is an hour and a second old.
    let now = Timestamp::from_micros(NOW.micros() + SECOND_US / 2);
    let time = now.minus(ACTUAL_AGE);
    assert!(Read::Actual.gives(time, now));
    assert_eq!(time.seconds(), NOW.seconds() - 3_600);
    assert!(!Read::Actual.gives(Timestamp::from_seconds(time.seconds()), now));
}

#[test]
fn telemetry_feeds_the_first_sensor_of_a_kind() {
    let feed = |section, sign| Source::Telemetry(Feed { section, sign });
    let kinds = [
        Charge,
        Delivery,
        Delivery,
        EvSocket,
        Charge,
        Consumption,
        Consumption,
    ];
    let expected = [
        feed(Section::Battery, Sign::Positive),
        feed(Section::MainMeter, Sign::Positive),
        Source::Own,
        Source::Own,
        Source::Own,
        Source::Combined,
        Source::Own,
    ];
    assert_eq!(sources(&kinds), expected);
}

#[test]
fn consumption_is_combined_only_where_there_is_a_main_meter() {
    assert_eq!(sources(&[Production, Consumption])[1], Source::Own);
    assert_eq!(sources(&[Consumption, ReturnDelivery])[0], Source::Combined);
    assert_eq!(consumption(&[metered(Production, 0, 500)]), None);
    let power = BuildingPower::of(&[metered(Production, 0, 500)]).unwrap();
    assert_eq!(power.production, Some(500));
    assert_eq!(power.consumption, None);
}

#[test]
fn a_building_without_a_sample_has_no_power() {
    assert_eq!(BuildingPower::of(&[]), None);
    assert_eq!(
        BuildingPower::of(&[silent(Delivery), silent(Production)]),
        None
    );
    // A socket is no method of the building.
    assert_eq!(BuildingPower::of(&[metered(EvSocket, 0, 7)]), None);
}

#[test]
fn a_building_adds_up_what_measured_within_120_seconds_of_the_newest() {
    let [delivery, return_delivery] = main_meter(0, 1_500, 0);
    let sensors = [
        delivery,
        return_delivery,
        metered(Charge, 120 * SECOND_US, 300),
        metered(Discharge, 120 * SECOND_US, 0),
        metered(Production, 120 * SECOND_US + 1, 900),
    ];
    let power = BuildingPower::of(&sensors).unwrap();
    let expected = BuildingPower {
        time: NOW.minus(COMBINED_WINDOW),
        delivery: Some(1_500),
        return_delivery: Some(0),
        production: None,
        charge: Some(300),
        discharge: Some(0),
        consumption: None,
    };
    assert_eq!(power, expected);
    assert_eq!(power.value(), Some(1_500));
}

#[test]
fn the_value_is_signed_and_left_out_without_the_meter() {
    let power = BuildingPower::of(&main_meter(0, 0, 2_000)).unwrap();
    assert_eq!(power.value(), Some(-2_000));
    let [delivery, return_delivery] = main_meter(121 * SECOND_US, 10, 0);
    let sensors = [delivery, return_delivery, metered(Production, 0, 5)];
    let power = BuildingPower::of(&sensors).unwrap();
    assert_eq!((power.value(), power.delivery), (None, None));
    assert_eq!(power.time, NOW);
}

#[test]
fn a_method_is_the_sum_of_its_sensors_in_the_window() {
    let [delivery, return_delivery] = main_meter(5 * SECOND_US, 100, 0);
    let second = metered(Delivery, 0, 40);
    let silent_one = silent(Delivery);
    let late = metered(Delivery, 500 * SECOND_US, 1_000);
    let power = BuildingPower::of(&[delivery, return_delivery, second, silent_one, late]).unwrap();
    assert_eq!(power.delivery, Some(140));
    assert_eq!(power.time, NOW.minus(Duration::from_secs(5)));
    // A sensor without a sample keeps the combined value from being whole.
    assert_eq!(power.consumption, None);
}

#[test]
fn consumption_is_the_signed_sum_and_never_below_0() {
    let check = |powers: [i64; 5], power_w| {
        let kinds = [Delivery, ReturnDelivery, Production, Charge, Discharge];
        let sensors: Vec<Metered> = kinds
            .iter()
            .zip(powers)
            .map(|(kind, power)| metered(*kind, 0, power))
            .collect();
        let expected = Sample { time: NOW, power_w };
        assert_eq!(consumption(&sensors), Some(expected), "{powers:?}");
        assert_eq!(
            BuildingPower::of(&sensors).unwrap().consumption,
            Some(power_w)
        );
    };
    check([1_000, 0, 500, 300, 0], 1_200);
    check([0, 700, 900, 0, 100], 300);
    check([0, 901, 900, 0, 0], 0);
    check([0, 0, 0, 5_000, 0], 0);
    check(
        [2_147_483_647, 0, 2_147_483_647, 0, 2_147_483_647],
        6_442_450_941,
    );
}

#[test]
fn consumption_needs_all_contributors_within_120_seconds_of_each_other() {
    let [delivery, return_delivery] = main_meter(0, 100, 0);
    let check = |production: Metered, time| {
        let sensors = [delivery, return_delivery, production];
        assert_eq!(consumption(&sensors).map(|it| it.time), time);
    };
    check(
        metered(Production, 120 * SECOND_US, 1),
        Some(NOW.minus(COMBINED_WINDOW)),
    );
    check(metered(Production, 120 * SECOND_US + 1, 1), None);
    check(metered(Production, -120 * SECOND_US, 1), Some(NOW));
    check(metered(Production, -120 * SECOND_US - 1, 1), None);
    check(silent(Production), None);
}

#[test]
fn a_record_without_a_measurement_moves_no_window() {
    // A silent section has a sensor and no sample: the others' window stays where it was.
    let [delivery, return_delivery] = main_meter(300 * SECOND_US, 100, 0);
    let power = BuildingPower::of(&[delivery, return_delivery, silent(Production)]).unwrap();
    assert_eq!(power.time, NOW.minus(Duration::from_secs(300)));
    assert_eq!(power.delivery, Some(100));
}

#[test]
fn without_a_main_meter_consumption_is_what_its_own_sensors_measure() {
    let sensors = [
        metered(Consumption, 0, 400),
        metered(Consumption, 120 * SECOND_US, 30),
        metered(Consumption, 120 * SECOND_US + 1, 5),
        metered(EvSocket, 0, 7_000),
    ];
    let power = BuildingPower::of(&sensors).unwrap();
    assert_eq!((power.consumption, power.value()), (Some(430), None));
    assert_eq!(power.time.micros(), NOW.micros() - 120 * SECOND_US);
    // With one, what such a sensor reads is its own.
    let [delivery, return_delivery] = main_meter(0, 100, 0);
    let sensors = [delivery, return_delivery, metered(Consumption, 0, 400)];
    let power = BuildingPower::of(&sensors).unwrap();
    assert_eq!(power.consumption, Some(100));
}
