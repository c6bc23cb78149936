//! `wattline admin sensor`: one sensor at a time.

use crate::admin::table::Table;
use crate::admin::{
    changing, given, listing, make, must_have_building, name, note, option, positional_uuid,
    subcommand, unknown, with_store,
};
use crate::failure::Failure;
use crate::fleet_file;
use clap::{ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use store::{Change, FleetSensor, PutSensor, Sensor, SensorOrigin};
use uuid::Uuid;

const COLUMNS: &[&str] = &[
    "sensor_uuid",
    "name",
    "kind",
    "min_interval",
    "meter_name",
    "tariff",
    "origin",
    "hub_uuid",
    "hub_name",
    "hub_kind",
];

pub(super) fn command() -> Command {
    let sensor = || positional_uuid("sensor", "the sensor");
    Command::new("sensor")
        .about("Sensors and their hubs")
        .subcommand_required(true)
        .subcommand(add_command().arg(sensor()))
        .subcommand(
            listing(
                "list",
                "Lists a building's sensors in their order, the service's own last",
            )
            .arg(building()),
        )
        .subcommand(
            changing(
                "remove",
                "Removes a sensor, and its hub with the last one; the building's telemetry stays",
            )
            .visible_alias("disable")
            .arg(sensor()),
        )
}

fn building() -> clap::Arg {
    option("building", "UUID", "the building")
        .required(true)
        .value_parser(value_parser!(Uuid))
}

fn add_command() -> Command {
    changing(
        "add",
        "Makes a sensor, or changes it to what is said here; a new one stands last",
    )
    .arg(building())
    .arg(
        option("hub", "UUID", "its hub")
            .required(true)
            .value_parser(value_parser!(Uuid)),
    )
    .arg(option("hub-name", "NAME", "the hub's name; needed when it is new").value_parser(name))
    .arg(option("hub-kind", "KIND", "what the hub is; needed when it is new").value_parser(name))
    .arg(
        option("name", "NAME", "name for people")
            .required(true)
            .value_parser(name),
    )
    .arg(
        option(
            "kind",
            "KIND",
            "what it measures, such as delivery or temperature",
        )
        .required(true)
        .value_parser(fleet_file::kind),
    )
    .arg(
        option("min-interval", "INTERVAL", "minute, quarter or day")
            .default_value("minute")
            .value_parser(fleet_file::min_interval),
    )
    .arg(option("meter-name", "NAME", "name of its meter").value_parser(note))
    .arg(option("tariff", "TARIFF", "tariff of its meter").value_parser(note))
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match subcommand(matches)? {
        ("add", matches) => add(matches),
        ("list", matches) => list(matches),
        ("remove", matches) => make(matches, &Change::RemoveSensor(given(matches, "sensor")?)),
        (other, _) => Err(unknown(other)),
    }
}

fn add(matches: &ArgMatches) -> Result<(), Failure> {
    let sensor = FleetSensor {
        sensor_uuid: given(matches, "sensor")?,
        name: given(matches, "name")?,
        kind: given(matches, "kind")?,
        min_interval: given(matches, "min-interval")?,
        meter_name: matches.get_one("meter-name").cloned(),
        tariff: matches.get_one("tariff").cloned(),
    };
    let put = PutSensor {
        building: given(matches, "building")?,
        hub: given(matches, "hub")?,
        hub_name: matches.get_one("hub-name").cloned(),
        hub_kind: matches.get_one("hub-kind").cloned(),
        sensor,
    };
    make(matches, &Change::PutSensor(put))
}

fn list(matches: &ArgMatches) -> Result<(), Failure> {
    let building: Uuid = given(matches, "building")?;
    with_store(matches, async |store| {
        must_have_building(store, building).await?;
        let rows = store.sensors_of(building).await?.iter().map(row).collect();
        Table::new(COLUMNS, rows).print(matches)
    })
}

fn row(sensor: &Sensor) -> Vec<Value> {
    let origin = match sensor.origin {
        SensorOrigin::Fleet => "fleet",
        SensorOrigin::Service => "service",
    };
    vec![
        json!(sensor.sensor_uuid),
        json!(sensor.name),
        json!(sensor.kind.as_str()),
        json!(sensor.min_interval),
        json!(sensor.meter_name),
        json!(sensor.tariff),
        json!(origin),
        json!(sensor.hub.uuid),
        json!(sensor.hub.name),
        json!(sensor.hub.kind),
    ]
}
