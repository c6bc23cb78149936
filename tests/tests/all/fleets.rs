//! Fleet files: a dry run tells exactly what the real run does, whatever stood there before.

use crate::WATTLINE;
use crate::administration::{everything, make, told};
use domain::sensor::SensorKind;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{
    Change, Fleet, FleetBuilding, FleetHub, FleetLink, FleetSensor, FleetUser, Role, Run, Store,
};
use testkit::{Mode, World, eventually};
use tokio::task::JoinSet;
use uuid::Uuid;

/// Fleets that are tried one after the other on one database.
const FLEETS: usize = 60;

fn uuid(kind: u128, index: usize) -> Uuid {
    Uuid::from_u128((kind << 64) + index as u128)
}

/// A place among `count`, or nowhere.
fn place(count: usize) -> impl Strategy<Value = Option<usize>> {
    proptest::option::weighted(0.7, 0..count)
}

prop_compose! {
    /// A sensor's hub and columns.
    fn sensor()(
        hub in place(4),
        kind in 0..SensorKind::ALL.len(),
        name in "[a-c]",
        interval in 0..3_usize,
        tariff in proptest::option::of("[ln]"),
    ) -> (Option<usize>, FleetSensor) {
        let sensor = FleetSensor {
            sensor_uuid: Uuid::nil(),
            name,
            kind: SensorKind::ALL[kind],
            min_interval: ["minute", "quarter", "day"][interval].to_owned(),
            meter_name: tariff.clone(),
            tariff,
        };
        (hub, sensor)
    }
}

prop_compose! {
    /// Few identities, so that the next fleet names some of them again, elsewhere or not at all.
    fn fleet()(
        buildings in prop::collection::vec(("[a-b]", any::<bool>(), any::<bool>()), 3),
        hubs in prop::collection::vec((place(3), "[a-b]"), 4),
        sensors in prop::collection::vec(sensor(), 7),
        users in prop::collection::vec(
            (any::<bool>(), "[pq]", prop::collection::vec(proptest::option::of(any::<bool>()), 3)),
            2,
        ),
    ) -> Fleet {
        let hub = |(index, (_, name)): (usize, &(Option<usize>, String))| FleetHub {
            uuid: uuid(2, index),
            name: name.clone(),
            kind: "k".to_owned(),
            sensors: sensors
                .iter()
                .enumerate()
                .filter(|(_, (home, _))| *home == Some(index))
                .map(|(place, (_, sensor))| FleetSensor { sensor_uuid: uuid(3, place), ..sensor.clone() })
                .collect(),
        };
        let building = |(index, (name, curtailment, _)): (usize, &(String, bool, bool))| FleetBuilding {
            uuid: uuid(1, index),
            name: name.clone(),
            timezone: "UTC".to_owned(),
            consumption_compensated_curtailment: *curtailment,
            hubs: hubs.iter().enumerate().filter(|(_, (home, _))| *home == Some(index)).map(hub).collect(),
        };
        let there = buildings.iter().enumerate().filter(|(_, (_, _, there))| *there);
        let buildings: Vec<FleetBuilding> = there.map(building).collect();
        let named: Vec<Uuid> = buildings.iter().map(|it| it.uuid).collect();
        let user = |(index, (_, password, roles)): (usize, &(bool, String, Vec<Option<bool>>))| FleetUser {
            username: format!("user {index}"),
            password_hash: password.clone(),
            links: named
                .iter()
                .zip(roles)
                .filter_map(|(building, role)| {
                    let role = if (*role)? { Role::Operator } else { Role::Viewer };
                    Some(FleetLink { building: *building, role })
                })
                .collect(),
        };
        let users = users.iter().enumerate().filter(|(_, (there, _, _))| *there).map(user).collect();
        Fleet { buildings, users }
    }
}

/// What stands in the database after pruning, made from the fleet alone: hubs and sensors by building,
/// links by user.
fn expected(fleet: &Fleet) -> BTreeSet<String> {
    let mut rows = BTreeSet::new();
    for building in &fleet.buildings {
        let uuid = building.uuid;
        rows.insert(format!("{uuid} {}", building.name));
        for hub in &building.hubs {
            rows.insert(format!("{uuid} {} {}", hub.uuid, hub.name));
            for it in &hub.sensors {
                rows.insert(format!(
                    "{} {} {} {} {:?}",
                    hub.uuid, it.sensor_uuid, it.name, it.min_interval, it.tariff
                ));
            }
        }
    }
    for user in &fleet.users {
        rows.insert(format!("{} {}", user.username, user.password_hash));
        for link in &user.links {
            let role = link.role.as_str();
            rows.insert(format!("{} {} {role}", user.username, link.building));
        }
    }
    rows
}

/// The same out of the database.
async fn found(world: &World) -> BTreeSet<String> {
    let mut rows = BTreeSet::new();
    for (query, columns) in [
        ("select uuid, name from building", &["uuid", "name"][..]),
        (
            "select building_uuid, uuid, name from sensor_hub where origin = 'fleet'",
            &["building_uuid", "uuid", "name"],
        ),
        (
            "select hub_uuid, sensor_uuid, name, min_interval, tariff from sensor \
             where origin = 'fleet'",
            &["hub_uuid", "sensor_uuid", "name", "min_interval", "tariff"],
        ),
        (
            "select username, password_hash from app_user",
            &["username", "password_hash"],
        ),
        (
            "select username, building_uuid, role from membership",
            &["username", "building_uuid", "role"],
        ),
    ] {
        for row in world.rows(query).await {
            let text = |column: &&str| match row[*column].as_str() {
                Some(text) if *column == "tariff" => format!("{:?}", Some(text)),
                Some(text) => text.to_owned(),
                None => "None".to_owned(),
            };
            let words: Vec<String> = columns.iter().map(text).collect();
            rows.insert(words.join(" "));
        }
    }
    rows
}

/// Telemetry of some sections, so that the service adds sensors and takes them back.
async fn report_sections(world: &World, bits: usize) {
    let statement = format!("update building set reported_sections = {}", bits % 8);
    sqlx::query(&statement)
        .execute(&world.database)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_tells_what_the_real_run_does_and_the_same_fleet_again_changes_nothing() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let store = Store::open(&world.settings["WATTLINE_DATABASE_URL"], 1).unwrap();
    let mut runner = TestRunner::deterministic();
    let mut taken = BTreeMap::from([(false, 0), (true, 0)]);
    for number in 0..FLEETS {
        let (fleet, prune) = (fleet(), any::<bool>())
            .new_tree(&mut runner)
            .unwrap()
            .current();
        report_sections(&world, number).await;
        let before = everything(&world).await;
        let fleet_change = Change::Fleet {
            fleet: fleet.clone(),
            prune,
        };
        let dry = store.administer(&fleet_change, Run::Dry).await;
        assert_eq!(everything(&world).await, before, "{number}");
        let real = store.administer(&fleet_change, Run::Real).await;
        match (dry, real) {
            (Ok(dry), Ok(real)) => assert_eq!(dry, real, "{number}"),
            // A sensor or hub changes its building only when it is no longer named in the old one.
            (Err(dry), Err(real)) => {
                assert_eq!(dry.to_string(), real.to_string());
                assert!(
                    !prune && real.to_string().contains("another building"),
                    "{real}"
                );
                assert_eq!(everything(&world).await, before, "{number}");
                continue;
            }
            other => panic!("{number}: {other:?}"),
        }
        *taken.entry(prune).or_default() += 1;
        let after = everything(&world).await;
        let again = store.administer(&fleet_change, Run::Real).await.unwrap();
        assert_eq!(again.before, again.after, "{number}");
        assert_eq!(everything(&world).await, after, "{number}");
        if prune {
            assert_eq!(found(&world).await, expected(&fleet), "{number}");
        } else {
            assert!(
                found(&world).await.is_superset(&expected(&fleet)),
                "{number}"
            );
        }
    }
    assert!(taken.values().all(|count| *count > 10), "{taken:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_file_is_told_by_line_applied_and_then_nothing_is_to_change() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let path = world.folder().join("fleet.json").display().to_string();
    let apply = ["admin", "apply", &path];
    let mut fleet = simulator::Fleet::new(3, 2).fleet_file("open sesame");
    let write = |fleet: &Value| std::fs::write(&path, fleet.to_string()).unwrap();
    write(&fleet);
    let lines = make(&world, &apply, "").await;
    assert!(lines.iter().all(|line| line.starts_with("+ ")), "{lines:?}");
    assert!(lines.contains(&r#"+ user "demo" disabled false"#.to_owned()));
    assert_eq!(make(&world, &apply, "").await, ["nothing to change"]);

    let uuid = fleet["buildings"][0]["uuid"].as_str().unwrap().to_owned();
    fleet["buildings"][0]["name"] = json!("Renamed\u{202e}");
    fleet["users"][0]["password"] = json!("close sesame");
    write(&fleet);
    let lines = make(&world, &apply, "").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with(&format!("~ building {uuid} name ")),
        "{lines:?}"
    );
    assert!(lines[0].ends_with(r#"-> "Renamed\u{202e}""#), "{lines:?}");
    assert_eq!(lines[1], r#"~ user "demo" password changed"#);

    // Nothing goes unless asked for.
    write(&json!({}));
    assert_eq!(make(&world, &apply, "").await, ["nothing to change"]);
    let lines = make(&world, &[&apply[..], &["--prune"]].concat(), "").await;
    assert!(lines.iter().all(|line| line.starts_with("- ")), "{lines:?}");
    assert_eq!(world.count("select count(*) from sensor").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_a_building_that_will_not_be_there_is_told_by_its_place() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (known, stranger) = (world.building(), Uuid::new_v4());
    let path = world.folder().join("fleet.json").display().to_string();
    let before = everything(&world).await;
    let refused = |building: Uuid, more: &[&str]| {
        let fleet = json!({"users": [{"username": "ada", "password": "x",
            "buildings": [{"uuid": building, "role": "viewer"}]}]});
        std::fs::write(&path, fleet.to_string()).unwrap();
        let output = world.attempt(&[&["admin", "apply", &path], more].concat());
        assert_eq!(output.status.code(), Some(1));
        let told = told(&output);
        for part in ["/users/0/buildings/0/uuid", "ada", &building.to_string()] {
            assert!(told.contains(part), "{told}");
        }
        told
    };
    assert!(refused(stranger, &[]).contains("does not exist"));
    assert!(refused(known, &["--prune"]).contains("--prune removes it"));
    assert_eq!(everything(&world).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_who_apply_at_once_wait_for_each_other() {
    let world = Arc::new(World::new(WATTLINE, Mode::Direct).await);
    let path = world.folder().join("fleet.json").display().to_string();
    let mut fleet = simulator::Fleet::new(5, 3).fleet_file("x");
    fleet["users"] = json!([]);
    std::fs::write(&path, fleet.to_string()).unwrap();
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let (world, path) = (Arc::clone(&world), path.clone());
        tasks.spawn_blocking(move || world.command(&["admin", "apply", &path]));
    }
    let mut printed = tasks.join_all().await;
    printed.sort_by_key(String::len);
    assert!(printed[..3].iter().all(|it| it == "nothing to change\n"));
    assert!(printed[3].starts_with("+ building "), "{}", printed[3]);
}

/// A batch that holds sensors and then asks for the building, while an operator who holds the building
/// asks for a sensor: the database ends one of the two.
#[tokio::test(flavor = "multi_thread")]
async fn who_meets_a_batch_head_on_tries_again() {
    let world = Arc::new(World::new(WATTLINE, Mode::Direct).await);
    world.apply_fleet(&simulator::Fleet::new(5, 1).fleet_file("x"));
    let sensor = world.rows("select sensor_uuid from sensor limit 1").await;
    let sensor = sensor[0]["sensor_uuid"].as_str().unwrap().to_owned();
    let mut batch = world.database.begin().await.unwrap();
    sqlx::query("select from sensor for key share")
        .execute(&mut *batch)
        .await
        .unwrap();
    let mut tasks = JoinSet::new();
    let operator = Arc::clone(&world);
    tasks.spawn_blocking(move || operator.attempt(&["admin", "sensor", "remove", &sensor]));
    let waiting = "select count(*) from pg_stat_activity \
                   where datname = current_database() and wait_event_type = 'Lock'";
    eventually(async || match world.count(waiting).await {
        1 => Ok(()),
        other => Err(other),
    })
    .await;
    // Whoever is ended; a batch would be tried again as well.
    let asked = sqlx::query("update building set reported_sections = 7")
        .execute(&mut *batch)
        .await;
    assert!(asked.is_ok() || asked.unwrap_err().to_string().contains("deadlock"));
    batch.rollback().await.unwrap();
    for output in tasks.join_all().await {
        assert!(output.status.success(), "{}", told(&output));
    }
}
