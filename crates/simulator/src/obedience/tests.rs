use super::*;
use crate::controller::Controller;
use crate::fleet::{Building, Fleet};
use domain::control::{
    Battery, FcrBlock, GridTarget, GridTargetPower, InverterPower, Inverters, Setpoints, Socket,
};
use wire::desired::encode;

const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);
const UNTIL: Timestamp = Timestamp::from_seconds(1_700_000_060);

fn building(suits: fn(&Building) -> bool) -> Building {
    let fleet = Fleet::new(4, 200);
    fleet
        .buildings()
        .iter()
        .find(|it| suits(it))
        .unwrap()
        .clone()
}

fn with_everything() -> Building {
    building(|it| it.solar_rated_w.is_some() && it.battery.is_some())
}

fn with_nothing() -> Building {
    building(|it| it.solar_rated_w.is_none() && it.battery.is_none())
}

fn action(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn charge(number: u128, watts: i32) -> Desired {
    Desired {
        battery: Some(Battery {
            action_uuid: action(number),
            power: BatteryPower::Charge(watts),
            until: UNTIL,
        }),
        ..Desired::default()
    }
}

fn payload(revision: i64, desired: Desired) -> Vec<u8> {
    encode(&Document {
        revision,
        issued_at: NOW,
        desired,
    })
}

/// Some of every family, the actions numbered by family.
fn of_every_family(socket: Uuid, setpoint: Uuid) -> Desired {
    Desired {
        inverters: Some(Inverters {
            action_uuid: action(1),
            power: InverterPower::Percentage(50.0),
            end: None,
            consumption_compensated: false,
        }),
        grid_target: Some(GridTarget {
            action_uuid: action(3),
            power: GridTargetPower::Delivery(0),
            effective: GridTargetPower::Delivery(0),
            until: UNTIL,
        }),
        ev_sockets: vec![Socket {
            action_uuid: action(4),
            sensor_uuid: socket,
            charge_watts: 3_700,
            until: UNTIL,
        }],
        setpoints: Some(Setpoints {
            action_uuid: action(5),
            values: vec![SetpointValue {
                sensor_uuid: setpoint,
                value: 21.0,
            }],
            end: None,
        }),
        fcr: vec![FcrBlock {
            action_uuid: action(6),
            power_watts: 1,
            start: UNTIL,
            stop: UNTIL.plus(Duration::from_secs(4 * 3_600)),
        }],
        ..charge(2, 1)
    }
}

fn report(obedience: &mut Obedience, building: &Building, payload: &[u8]) -> Option<Report> {
    let controller = Controller::new(building, Duration::from_secs(1));
    let taken = obedience.take(payload, NOW, &controller.abilities());
    taken.unwrap()
}

fn outcomes(report: Option<Report>) -> Vec<(u128, &'static str)> {
    let outcomes = report.unwrap().outcomes.into_iter();
    outcomes
        .map(|it| (it.action_uuid.as_u128(), it.outcome.as_str()))
        .collect()
}

fn told(building: &Building, desired: Desired) -> Vec<(u128, &'static str)> {
    let mut obedience = Obedience::new(Answers::Obeys);
    outcomes(report(&mut obedience, building, &payload(1, desired)))
}

#[test]
fn what_a_building_has_devices_for_is_accepted_and_the_rest_rejected() {
    let equipped = with_everything();
    let here = &equipped.instruments;
    let desired = of_every_family(here.ev_socket, here.setpoints[0]);
    let all = [1, 2, 3, 4, 5, 6].map(|number| (number, "accepted"));
    assert_eq!(told(&equipped, desired), all);
    let bare = with_nothing();
    let desired = of_every_family(bare.instruments.ev_socket, Uuid::nil());
    let some = [1, 2, 3, 4, 5, 6].map(|number| match number {
        4 => (number, "accepted"),
        _ => (number, "rejected"),
    });
    assert_eq!(told(&bare, desired), some);
}

#[test]
fn what_can_be_done_in_part_is_told_with_how_much() {
    let building = with_everything();
    let most_w = building.battery.unwrap().max_charge_w;
    let mut obedience = Obedience::new(Answers::Obeys);
    let beyond = payload(1, charge(1, most_w + 1));
    let answer = report(&mut obedience, &building, &beyond).unwrap().outcomes;
    assert_eq!(answer[0].outcome, Outcome::Partial);
    let detail = format!("the battery can do {most_w} W now");
    assert_eq!(answer[0].detail, Some(detail));
    assert_eq!(told(&building, charge(1, most_w)), [(1, "accepted")]);

    let socket = |sensor_uuid, charge_watts| Socket {
        action_uuid: action(4),
        sensor_uuid,
        charge_watts,
        until: UNTIL,
    };
    let sockets = |ev_sockets| Desired {
        ev_sockets,
        ..Desired::default()
    };
    let here = building.instruments.ev_socket;
    let strong = sockets(vec![socket(here, SOCKET_MOST_W + 1)]);
    assert_eq!(told(&building, strong), [(4, "partial")]);
    let two = sockets(vec![socket(Uuid::nil(), 1), socket(here, 1)]);
    assert_eq!(told(&building, two), [(4, "partial")]);
    let foreign = sockets(vec![socket(Uuid::nil(), 1)]);
    assert_eq!(told(&building, foreign), [(4, "rejected")]);
}

#[test]
fn a_revision_is_reported_once_and_an_action_answered_once() {
    let building = with_everything();
    let mut obedience = Obedience::new(Answers::Obeys);
    let first = payload(5, charge(1, 10));
    let reported = report(&mut obedience, &building, &first).unwrap();
    assert_eq!((reported.revision, reported.time), (5, NOW));
    assert_eq!(report(&mut obedience, &building, &first), None, "again");
    let older = payload(4, charge(9, 10));
    assert_eq!(report(&mut obedience, &building, &older), None, "older");
    assert_eq!(obedience.orders(NOW).battery_w, Some(10));
    // The same action, and one more.
    let both = Desired {
        inverters: of_every_family(Uuid::nil(), Uuid::nil()).inverters,
        ..charge(1, 10)
    };
    let action_uuid = action(7);
    let both = Desired {
        inverters: both.inverters.map(|it| Inverters { action_uuid, ..it }),
        ..both
    };
    let next = report(&mut obedience, &building, &payload(6, both)).unwrap();
    assert!(next.time > NOW, "no two reports have the same time");
    assert_eq!(outcomes(Some(next)), [(7, "accepted")]);
    let nothing = payload(7, Desired::default());
    assert_eq!(outcomes(report(&mut obedience, &building, &nothing)), []);
    assert_eq!(obedience.orders(NOW), Orders::default());
}

#[test]
fn what_is_over_when_it_comes_is_not_answered() {
    let building = with_everything();
    let mut obedience = Obedience::new(Answers::Obeys);
    let controller = Controller::new(&building, Duration::from_secs(1));
    let late = obedience.take(&payload(1, charge(1, 10)), UNTIL, &controller.abilities());
    assert_eq!(late.unwrap().unwrap().outcomes, []);
    assert_eq!(obedience.orders(UNTIL).battery_w, None);
}

#[test]
fn an_empty_payload_forgets_and_what_is_no_document_changes_nothing() {
    let building = with_everything();
    let mut obedience = Obedience::new(Answers::Obeys);
    report(&mut obedience, &building, &payload(5, charge(1, 10)));
    let controller = Controller::new(&building, Duration::from_secs(1));
    let torn = obedience.take(b"{\"revision\":6", NOW, &controller.abilities());
    assert!(torn.is_err());
    assert_eq!(obedience.orders(NOW).battery_w, Some(10));
    assert_eq!(report(&mut obedience, &building, b""), None);
    assert_eq!(obedience.orders(NOW), Orders::default());
    let anew = report(&mut obedience, &building, &payload(1, charge(2, 10)));
    assert_eq!(outcomes(anew), [(2, "accepted")]);
}

#[test]
fn who_rejects_does_nothing_and_who_is_silent_does_it_without_a_word() {
    let building = with_everything();
    let order = payload(1, charge(1, 10));
    let mut rejects = Obedience::new(Answers::Rejects);
    let answer = outcomes(report(&mut rejects, &building, &order));
    assert_eq!(answer, [(1, "rejected")]);
    assert_eq!(rejects.orders(NOW), Orders::default());
    let mut silent = Obedience::new(Answers::Silent);
    assert_eq!(report(&mut silent, &building, &order), None);
    assert_eq!(silent.orders(NOW).battery_w, Some(10));
}
