//! One sensor at a time: its hub, its place, and the sensors that the service adds.

use super::{make, make_twice};
use crate::WATTLINE;
use std::collections::BTreeSet;
use testkit::{Mode, World, eventually};
use uuid::Uuid;

/// The arguments that add a sensor.
fn add(building: Uuid, hub: Uuid, sensor: Uuid, more: &[&str]) -> Vec<String> {
    let [building, hub, sensor] = [building, hub, sensor].map(|it| it.to_string());
    let first = ["admin", "sensor", "add", "--building", &building];
    let arguments = [&first[..], &["--hub", &hub, &sensor], more].concat();
    arguments.into_iter().map(str::to_owned).collect()
}

async fn run(world: &World, arguments: &[String]) -> Vec<String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    make_twice(world, &arguments, "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sensor_is_added_last_keeps_its_place_and_takes_its_hub_along() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let [hub, one, two] = [(); 3].map(|()| Uuid::new_v4());
    let new_hub = ["--hub-name", "Cellar", "--hub-kind", "gateway"];
    let heat = ["--name", "Heat", "--kind", "heat"];
    let row = |sensor: Uuid, name: &str, kind: &str, position: i32| {
        format!(
            "sensor {sensor} building {building}, hub {hub}, name {name:?}, kind {kind}, \
             min_interval minute, position {position}, origin fleet"
        )
    };
    let lines = run(
        &world,
        &add(building, hub, one, &[&new_hub[..], &heat].concat()),
    )
    .await;
    let hub_row = format!(
        "hub {hub} building {building}, name \"Cellar\", kind \"gateway\", position 1, origin fleet"
    );
    assert_eq!(
        lines,
        [
            format!("+ {hub_row}"),
            format!("+ {}", row(one, "Heat", "heat", 2))
        ]
    );
    // A hub that is there needs no name.
    let water = ["--name", "Water", "--kind", "water_flow"];
    let lines = run(&world, &add(building, hub, two, &water)).await;
    assert_eq!(lines, [format!("+ {}", row(two, "Water", "water_flow", 4))]);
    let warm = ["--name", "Warm", "--kind", "heat", "--tariff", "low"];
    let lines = run(&world, &add(building, hub, one, &warm)).await;
    let changed = format!(r#"~ sensor {one} name "Heat" -> "Warm", tariff none -> "low""#);
    assert_eq!(lines, [changed]);

    let remove = |sensor: Uuid| sensor.to_string();
    let lines = make(&world, &["admin", "sensor", "remove", &remove(one)], "").await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    let lines = make(&world, &["admin", "sensor", "disable", &remove(two)], "").await;
    assert_eq!(
        lines,
        [
            format!("- {hub_row}"),
            format!("- {}", row(two, "Water", "water_flow", 4))
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sensors_that_the_service_adds_are_part_of_the_difference() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    // As a meter's first record does it.
    sqlx::query("update building set reported_sections = 1")
        .execute(&world.database)
        .await
        .unwrap();
    let [hub, sensor] = [(); 2].map(|()| Uuid::new_v4());
    let new_hub = ["--hub-name", "Meter", "--hub-kind", "smart_meter"];
    let delivery = ["--name", "Delivery", "--kind", "delivery"];
    let arguments = add(building, hub, sensor, &[&new_hub[..], &delivery].concat());
    let lines = run(&world, &arguments).await;
    let origins = |lines: &[String], sign: char| {
        let signed = lines.iter().filter(|line| line.starts_with(sign));
        let words = signed.filter_map(|line| {
            let kind = line.split("kind ").nth(1)?.split(',').next()?;
            let origin = line.split("origin ").nth(1)?;
            line.contains("sensor ")
                .then(|| format!("{kind} of {origin}"))
        });
        words.collect::<BTreeSet<String>>()
    };
    let expected = [
        "delivery of fleet",
        "return_delivery of service",
        "consumption of service",
    ];
    assert_eq!(
        origins(&lines, '+'),
        expected.map(str::to_owned).into(),
        "{lines:?}"
    );

    let lines = make(
        &world,
        &["admin", "sensor", "remove", &sensor.to_string()],
        "",
    )
    .await;
    assert_eq!(
        origins(&lines, '-'),
        ["delivery of fleet".to_owned()].into(),
        "{lines:?}"
    );
    assert_eq!(
        origins(&lines, '+'),
        ["delivery of service".to_owned()].into(),
        "{lines:?}"
    );

    let service = world
        .rows("select sensor_uuid from sensor where kind = 'delivery'")
        .await;
    let service = service[0]["sensor_uuid"].as_str().unwrap();
    let output = world.attempt(&["admin", "sensor", "remove", service]);
    assert_eq!(output.status.code(), Some(1));
    assert!(super::told(&output).contains("added by the service"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_table_of_a_building_is_emptied_with_it() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let named = "select table_name, column_name from information_schema.columns \
                 where table_schema = 'public' and table_name in (
                     select table_name from information_schema.tables where table_type = 'BASE TABLE')
                 and not exists (select from pg_class where relname = table_name and relispartition)";
    let columns = world.rows(named).await;
    let with = |name: &str| -> BTreeSet<String> {
        let found = columns.iter().filter(|it| it["column_name"] == name);
        let tables = found.map(|it| it["table_name"].as_str().unwrap().to_owned());
        tables.collect()
    };
    // Those that PostgreSQL empties by itself, step by step.
    let cascading = world
        .rows(
            "with recursive emptied (relation) as (
                 select 'building'::regclass::oid
                 union
                 select conrelid from pg_constraint
                 join emptied on confrelid = relation
                 where contype = 'f' and confdeltype = 'c'
             )
             select relation::regclass::text as name from emptied",
        )
        .await;
    let mut expected = with("building_uuid");
    for table in cascading {
        expected.remove(table["name"].as_str().unwrap());
    }
    // They tell what was refused, who asked what, and that the building is no more.
    for outliving in [
        "dead_letter",
        "audit_entry",
        "desired_attempt",
        "desired_outbox",
        "desired_publication",
    ] {
        assert!(expected.remove(outliving), "{outliving}");
    }
    let emptied = store::TABLES_OF_A_BUILDING.map(|(table, _)| table.to_owned());
    assert_eq!(BTreeSet::from(emptied), expected);
    let of_sensors: BTreeSet<String> = with("sensor_id").union(&with("series")).cloned().collect();
    let emptied = store::TABLES_OF_A_BUILDING
        .iter()
        .filter(|(_, column)| column.is_some());
    let emptied: BTreeSet<String> = emptied.map(|(table, _)| (*table).to_owned()).collect();
    assert_eq!(emptied, of_sensors);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_gathered_goes_with_the_sensor_and_with_the_building() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (building, other) = (Uuid::new_v4(), Uuid::new_v4());
    for uuid in [building, other] {
        world.command(&["admin", "building", "add", &uuid.to_string(), "--name", "x"]);
    }
    let [hub, gas, warmth] = [(); 3].map(|()| Uuid::new_v4());
    let gas_sensor = [
        "--hub-name",
        "h",
        "--hub-kind",
        "k",
        "--name",
        "g",
        "--kind",
        "gas_volume",
    ];
    run(&world, &add(building, hub, gas, &gas_sensor)).await;
    let warmth_sensor = ["--name", "t", "--kind", "temperature"];
    run(&world, &add(building, hub, warmth, &warmth_sensor)).await;
    let mut serve = world.serve().await;
    let controller = world.controller();
    let time = crate::records::now() - 600;
    let readings = format!(
        r#"{{"time":{time},"readings":[{{"sensor_uuid":"{gas}","meter_reading":5.5}},{{"sensor_uuid":"{warmth}","value":20.5}}]}}"#
    );
    for uuid in [building, other] {
        controller
            .telemetry(uuid, crate::records::meter(time, 7))
            .await;
    }
    let topic = format!("v1/buildings/{building}/readings");
    controller.publish(&topic, readings).await;
    let of = |uuid: Uuid| {
        format!("select count(*) from telemetry_record where building_uuid = '{uuid}'")
    };
    let readings = "select count(*) from sensor_reading";
    eventually(async || {
        let counts = (
            world.count(&of(building)).await,
            world.count(&of(other)).await,
            world.count(readings).await,
            world.count("select count(*) from minute_bucket").await,
        );
        if counts == (1, 1, 2, 2) {
            Ok(())
        } else {
            Err(counts)
        }
    })
    .await;
    // From here on nobody else changes anything.
    assert!(serve.stop().success());
    make(&world, &["admin", "sensor", "remove", &gas.to_string()], "").await;
    assert_eq!(world.count(readings).await, 1);
    assert_eq!(
        world.count("select count(*) from register_reading").await,
        0
    );

    make(
        &world,
        &[
            "admin",
            "building",
            "remove",
            &building.to_string(),
            "--yes",
        ],
        "",
    )
    .await;
    for (table, _) in store::TABLES_OF_A_BUILDING {
        let left = format!("select count(*) from {table} where building_uuid = '{building}'");
        assert_eq!(world.count(&left).await, 0, "{table}");
    }
    assert_eq!(world.count(&of(other)).await, 1);
}
