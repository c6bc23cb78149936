//! Lists: aligned for people, an object a line for scripts.

use crate::WATTLINE;
use serde_json::{Value, json};
use testkit::{Mode, World};
use uuid::Uuid;

fn listed(world: &World, arguments: &[&str]) -> Vec<Value> {
    let lines = world.command(&[&["admin"], arguments, &["--format", "json"]].concat());
    let objects = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    objects.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_listed_as_objects_and_as_columns() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (depot, yard) = (Uuid::new_v4(), Uuid::new_v4());
    let (hub, sensor) = (Uuid::new_v4(), Uuid::new_v4());
    world.apply_fleet(&json!({
        "buildings": [
            {"uuid": yard, "name": "Yard", "timezone": "Europe/Amsterdam"},
            {"uuid": depot, "name": "Depot", "sensor_hubs": [{"uuid": hub, "name": "Cellar",
                "kind": "smart_meter", "sensors": [{"sensor_uuid": sensor, "name": "Gas",
                "kind": "gas_volume", "min_interval": "day", "tariff": "low"}]}]},
        ],
        "users": [
            {"username": "grace", "password": "x", "buildings": [{"uuid": yard, "role": "viewer"}]},
            {"username": "ada", "password": "y", "buildings": [
                {"uuid": yard, "role": "operator"}, {"uuid": depot, "role": "viewer"}]},
        ],
    }));
    world.command(&["admin", "user", "disable", "grace"]);
    world.command(&["admin", "building", "disable", &yard.to_string()]);

    assert_eq!(
        listed(&world, &["user", "list"]),
        [
            json!({"username": "ada", "disabled": false, "buildings": 2, "outstanding_tokens": 0}),
            json!({"username": "grace", "disabled": true, "buildings": 1, "outstanding_tokens": 0}),
        ]
    );
    assert_eq!(
        listed(&world, &["building", "list"]),
        [
            json!({"uuid": depot, "name": "Depot", "timezone": "UTC",
                "consumption_compensated_curtailment": false, "disabled": false,
                "sensors": 1, "users": 1}),
            json!({"uuid": yard, "name": "Yard", "timezone": "Europe/Amsterdam",
                "consumption_compensated_curtailment": false, "disabled": true,
                "sensors": 0, "users": 2}),
        ]
    );
    let gas = json!({"sensor_uuid": sensor, "name": "Gas", "kind": "gas_volume",
        "min_interval": "day", "meter_name": null, "tariff": "low", "origin": "fleet",
        "hub_uuid": hub, "hub_name": "Cellar", "hub_kind": "smart_meter"});
    let depot_text = depot.to_string();
    assert_eq!(
        listed(&world, &["sensor", "list", "--building", &depot_text]),
        [gas]
    );
    let text = world.command(&["admin", "user", "list"]);
    let expected = "username  disabled  buildings  outstanding_tokens\n\
                    ada       false     2          0\n\
                    grace     true      1          0\n";
    assert_eq!(text, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_listed_by_user_and_by_building() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (depot, yard) = (Uuid::new_v4(), Uuid::new_v4());
    world.apply_fleet(&json!({
        "buildings": [{"uuid": yard, "name": "Yard"}, {"uuid": depot, "name": "Depot"}],
        "users": [
            {"username": "grace", "password": "x", "buildings": [{"uuid": yard, "role": "viewer"}]},
            {"username": "ada", "password": "y", "buildings": [
                {"uuid": yard, "role": "operator"}, {"uuid": depot, "role": "viewer"}]},
        ],
    }));
    let (depot, yard) = (&depot.to_string(), &yard.to_string());
    let count = |arguments: &[&str]| listed(&world, &[&["link", "list"], arguments].concat()).len();
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&["--user", "ada"]), 2);
    assert_eq!(count(&["--building", yard]), 2);
    assert_eq!(count(&["--building", depot, "--user", "grace"]), 0);
    let only = listed(
        &world,
        &["link", "list", "--user", "ada", "--building", yard],
    );
    let expected = json!({"username": "ada", "building_uuid": yard, "role": "operator"});
    assert_eq!(only, [expected]);
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_keys_are_listed_made_and_retired_and_a_dry_run_leaves_the_file_alone() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let file = || std::fs::read_to_string(&world.settings["WATTLINE_TOKEN_KEY_FILE"]).unwrap();
    let kids = || {
        let keys = listed(&world, &["token", "list-keys"]);
        let kids: Vec<String> = keys
            .iter()
            .map(|key| key["kid"].as_str().unwrap().to_owned())
            .collect();
        let signs: Vec<bool> = keys.iter().map(|key| key["signs"] == true).collect();
        assert!(signs[0] && signs.iter().filter(|it| **it).count() == 1);
        kids
    };
    let old = kids();
    let before = file();
    world.command(&["admin", "token", "new-key", "--dry-run"]);
    assert_eq!(file(), before);
    world.command(&["admin", "token", "new-key"]);
    let both = kids();
    assert_eq!((both.len(), &both[1]), (2, &old[0]));

    let before = file();
    let retire = ["admin", "token", "retire-key", &old[0]];
    let dry = world.command(&[&retire[..], &["--dry-run"]].concat());
    assert_eq!(file(), before);
    for dry_run in [&[][..], &["--dry-run"]] {
        for kid in [&both[0], "nobody"] {
            let refused = ["admin", "token", "retire-key", kid];
            let output = world.attempt(&[&refused, dry_run].concat());
            assert_eq!(output.status.code(), Some(1), "{kid}");
            assert_eq!(file(), before);
        }
    }
    assert_eq!(world.command(&retire), dry);
    assert_eq!(kids(), both[..1]);
}
