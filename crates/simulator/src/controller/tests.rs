use super::*;
use crate::fleet::Fleet;
use domain::control::{
    Battery, BatteryPower, Desired, Fallback, GridTarget, GridTargetPower, InverterPower, Socket,
    seen::{Shown, seen},
};
use domain::grid_limit::GridLimit;
use proptest::prelude::*;
use uuid::Uuid;
use wire::desired::Document;

/// Noon of a day in June.
const NOON: i64 = 1_750_500_000;
const SECOND: Duration = Duration::from_secs(1);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_meter_shows_load_and_sun_and_battery_and_every_field_is_within_its_bounds(
        seed: u64,
        start in 0_i64..4_000_000_000,
        interval_ms in 1_u64..3_600_000,
        desired in prop::option::of(desired()),
    ) {
        let interval = Duration::from_millis(interval_ms);
        for building in Fleet::new(seed, 8).buildings() {
            let mut desired = desired.clone().unwrap_or_default();
            desired.ev_sockets.iter_mut().for_each(|it| it.sensor_uuid = building.instruments.ev_socket);
            let document = document(desired);
            let mut controller = Controller::new(building, interval);
            let mut time = Timestamp::from_seconds(start);
            for _ in 0..50 {
                let sample = controller.obey(time, &Orders::of(&document, time));
                check(&sample)?;
                prop_assert_eq!(sample.record.solar.is_some(), building.solar_rated_w.is_some());
                prop_assert_eq!(sample.record.battery.is_some(), building.battery.is_some());
                time = time.plus(interval);
            }
        }
    }
}

fn check(sample: &Sample) -> Result<(), TestCaseError> {
    let meter_w = sample.record.main_meter.unwrap().active_power_w.unwrap();
    let mut sum_w = sample.load_w;
    prop_assert!(sample.load_w >= 0);
    prop_assert!((0..=sample.load_w).contains(&sample.car_w.unwrap_or(0)));
    if let Some(solar) = sample.record.solar {
        let power_w = solar.active_power_w.unwrap();
        sum_w += power_w;
        prop_assert!(power_w <= 0 && power_w >= -solar.rated_power_w.unwrap());
        prop_assert!(solar.active_power_setpoint_w.unwrap() <= 0);
        prop_assert!(solar.min_power_w.unwrap() <= solar.max_power_w.unwrap());
        prop_assert!(solar.max_power_w.unwrap() <= 0);
    }
    if let Some(battery) = sample.record.battery {
        let power_w = battery.active_power_w.unwrap();
        sum_w += power_w;
        prop_assert!((0.0..=100.0).contains(&battery.soc_percent.unwrap()));
        prop_assert!(battery.charge_limit_w.unwrap() >= power_w.max(0));
        prop_assert!(battery.discharge_limit_w.unwrap() >= -power_w.min(0));
        prop_assert!(battery.remaining_charge_time_s.unwrap() >= 0);
        prop_assert!(battery.remaining_discharge_time_s.unwrap() >= 0);
    }
    prop_assert_eq!(meter_w, sum_w);
    Ok(())
}

fn watts() -> impl Strategy<Value = i32> {
    prop_oneof![Just(0), Just(i32::MAX), 0..60_000]
}

prop_compose! {
    /// What may be desired of a building at some time between 1970 and 2096.
    fn desired()(
        percentage in 0.0..=100.0, by_watts: bool, compensated: bool, charges: bool, imports: bool,
        watts in prop::array::uniform6(watts()),
        which in prop::array::uniform5(prop::bool::ANY),
        until in (0_i64..4_000_000_000).prop_map(Timestamp::from_seconds),
    ) -> Desired {
        let power = match by_watts {
            true => InverterPower::Watts(watts[0]),
            false => InverterPower::Percentage(percentage),
        };
        let mut desired = curtailed(power, compensated);
        desired.inverters = desired.inverters.filter(|_| which[0]).map(|it| domain::control::Inverters {
            end: Some((until, Fallback::To(InverterPower::Watts(watts[1])))), ..it
        });
        let battery = match charges {
            true => BatteryPower::Charge(watts[2]),
            false => BatteryPower::Discharge(watts[2]),
        };
        let target = match imports {
            true => GridTargetPower::Delivery(watts[3]),
            false => GridTargetPower::ReturnDelivery(watts[3]),
        };
        desired.battery = which[1].then_some(Battery { action_uuid: Uuid::nil(), power: battery, until });
        desired.grid_target = which[2].then_some(GridTarget {
            action_uuid: Uuid::nil(), power: target, effective: target, until,
        });
        desired.ev_sockets = which[3].then_some(Socket {
            action_uuid: Uuid::nil(), sensor_uuid: Uuid::nil(), charge_watts: watts[4], until,
        }).into_iter().collect();
        desired.grid_limits = which[4].then_some(limit(watts[4], watts[5])).into_iter().collect();
        desired
    }
}

fn document(desired: Desired) -> Document {
    Document {
        revision: 1,
        issued_at: Timestamp::from_seconds(0),
        desired,
    }
}

fn curtailed(power: InverterPower, consumption_compensated: bool) -> Desired {
    Desired {
        inverters: Some(domain::control::Inverters {
            action_uuid: Uuid::from_u128(1),
            power,
            end: None,
            consumption_compensated,
        }),
        ..Desired::default()
    }
}

fn limit(delivery_limit_watts: i32, return_delivery_limit_watts: i32) -> GridLimit {
    GridLimit {
        grid_limit_uuid: Uuid::nil(),
        start: Timestamp::from_seconds(0),
        end: Timestamp::from_seconds(4_000_000_000),
        delivery_limit_watts,
        return_delivery_limit_watts,
    }
}

fn battery(power: BatteryPower, until: i64) -> Desired {
    Desired {
        battery: Some(Battery {
            action_uuid: Uuid::from_u128(2),
            power,
            until: Timestamp::from_seconds(until),
        }),
        ..Desired::default()
    }
}

fn with_everything() -> Vec<Building> {
    let fleet = Fleet::new(6, 60);
    let buildings = fleet.buildings().iter();
    let equipped = buildings.filter(|it| it.solar_rated_w.is_some() && it.battery.is_some());
    equipped.cloned().collect()
}

/// Two controllers of the same building: one that is told nothing, one that is told this.
fn compare(building: &Building, desired: Desired, check: fn(&Building, Sample, Sample)) {
    let mut free = Controller::new(building, SECOND);
    let mut told = Controller::new(building, SECOND);
    let document = document(desired);
    for second in NOON..NOON + 120 {
        let time = Timestamp::from_seconds(second);
        let told = told.obey(time, &Orders::of(&document, time));
        check(building, free.measure(time), told);
    }
}

fn solar(sample: &Sample) -> Solar {
    sample.record.solar.unwrap()
}

#[test]
fn curtailed_inverters_produce_what_the_sun_gives_up_to_what_they_may() {
    for building in with_everything() {
        let by_percentage = curtailed(InverterPower::Percentage(20.0), false);
        compare(&building, by_percentage, |building, free, told| {
            let most_w = building.solar_rated_w.unwrap() / 5;
            let sun_w = solar(&free).active_power_w.unwrap();
            assert_eq!(solar(&told).active_power_w, Some(sun_w.max(-most_w)));
            assert_eq!(solar(&told).active_power_setpoint_w, Some(-most_w));
        });
        compare(
            &building,
            curtailed(InverterPower::Watts(0), false),
            |_, _, told| assert_eq!(solar(&told).active_power_w, Some(0)),
        );
        compare(
            &building,
            curtailed(InverterPower::Watts(100), true),
            |_, free, told| {
                let sun_w = solar(&free).active_power_w.unwrap();
                let most_w = 100 + told.load_w;
                assert_eq!(solar(&told).active_power_w, Some(sun_w.max(-most_w)));
            },
        );
    }
}

#[test]
fn the_baseline_is_the_last_production_before_somebody_had_a_hand_in_it() {
    let building = &with_everything()[0];
    let mut controller = Controller::new(building, SECOND);
    let before = controller.measure(Timestamp::from_seconds(NOON));
    let curtailed = document(curtailed(InverterPower::Watts(0), false));
    let time = Timestamp::from_seconds(NOON + 600);
    let told = controller.obey(time, &Orders::of(&curtailed, time));
    assert_eq!(solar(&told).baseline_power_w, solar(&before).active_power_w);
}

#[test]
fn a_battery_that_is_told_to_charge_fills_until_it_is_full_and_follows_again_at_the_end() {
    for building in with_everything() {
        let pack = building.battery.unwrap();
        let end = NOON + 12 * 3_600;
        let document = document(battery(BatteryPower::Charge(pack.max_charge_w / 2), end));
        let mut controller = Controller::new(&building, Duration::from_secs(60));
        let mut before = f64::from(building.soc_percent);
        for minute in 0..12 * 60 {
            let time = Timestamp::from_seconds(NOON + minute * 60);
            let sample = controller.obey(time, &Orders::of(&document, time));
            let section = sample.record.battery.unwrap();
            let percent = section.soc_percent.unwrap();
            assert!(percent >= before);
            let power_w = section.active_power_w.unwrap();
            let full = power_w == section.charge_limit_w.unwrap();
            assert!(power_w == pack.max_charge_w / 2 || full);
            assert_eq!(section.active_power_setpoint_w, Some(power_w));
            before = percent;
        }
        assert!(before > 99.9, "{before}");
        let time = Timestamp::from_seconds(end);
        let free = controller.clone().measure(time);
        let told = controller.obey(time, &Orders::of(&document, time));
        assert_eq!(told, free);
    }
}

#[test]
fn the_battery_reaches_the_grid_target_as_far_as_it_can() {
    let target = GridTargetPower::Delivery(2_000);
    let desired = Desired {
        grid_target: Some(GridTarget {
            action_uuid: Uuid::nil(),
            power: target,
            effective: target,
            until: Timestamp::from_seconds(NOON + 3_600),
        }),
        ..Desired::default()
    };
    let mut reached = 0;
    for building in with_everything() {
        let document = document(desired.clone());
        let mut controller = Controller::new(&building, SECOND);
        for second in NOON..NOON + 60 {
            let time = Timestamp::from_seconds(second);
            let sample = controller.obey(time, &Orders::of(&document, time));
            let section = sample.record.battery.unwrap();
            let power_w = section.active_power_w;
            let at_an_end = power_w == section.charge_limit_w
                || power_w == section.discharge_limit_w.map(|limit| -limit);
            assert!(sample.meter_w() == 2_000 || at_an_end);
            reached += i32::from(sample.meter_w() == 2_000);
        }
    }
    assert!(reached > 100, "{reached}");
}

#[test]
fn grid_limits_bound_export_always_and_import_as_far_as_the_battery_goes() {
    for building in with_everything() {
        let mut desired = battery(BatteryPower::Discharge(i32::MAX), NOON + 3_600);
        desired.grid_limits = vec![limit(1_000, 500)];
        compare(&building, desired, |_, _, told| {
            assert!(told.meter_w() >= -500, "{}", told.meter_w());
            let section = told.record.battery.unwrap();
            let does_its_most =
                section.active_power_w == section.discharge_limit_w.map(|limit| -limit);
            assert!(told.meter_w() <= 1_000 || does_its_most);
        });
    }
}

#[test]
fn a_car_that_is_told_what_to_draw_changes_the_load_by_that() {
    for building in with_everything() {
        let charge_watts = 11_000;
        let desired = Desired {
            ev_sockets: vec![Socket {
                action_uuid: Uuid::nil(),
                sensor_uuid: building.instruments.ev_socket,
                charge_watts,
                until: Timestamp::from_seconds(NOON + 3_600),
            }],
            ..Desired::default()
        };
        compare(&building, desired, |building, free, told| {
            assert_eq!(told.car_w, Some(11_000));
            let car = building.instruments;
            let usual_w = car.ev_socket_w(free.record.time, free.load_w);
            assert_eq!(told.load_w, free.load_w - usual_w + 11_000);
        });
    }
}

proptest! {
    #[test]
    fn telemetry_shows_what_is_done_where_the_service_looks_for_it(
        percentage in 0.0..=100.0, watts in 0..60_000, by_watts: bool, charges: bool,
    ) {
        let power = match by_watts {
            true => InverterPower::Watts(watts),
            false => InverterPower::Percentage(percentage),
        };
        for building in with_everything().iter().take(5) {
            // What the battery can do at the beginning, whatever is in it.
            let able_w = watts.min(building.battery.unwrap().max_charge_w) / 100;
            let wished = match charges {
                true => BatteryPower::Charge(able_w),
                false => BatteryPower::Discharge(able_w),
            };
            let desired = Desired {
                inverters: curtailed(power, true).inverters,
                ..battery(wished, NOON + 60)
            };
            let document = document(desired);
            let time = Timestamp::from_seconds(NOON);
            let sample = Controller::new(building, SECOND).obey(time, &Orders::of(&document, time));
            let actions = [Uuid::from_u128(2), Uuid::from_u128(1)];
            prop_assert_eq!(seen(&document.desired, Shown::from(&sample.record)), actions);
        }
    }
}
