//! What a request costs in ways to the database: as many statements as the table here says, however much there is to answer.
//! Counted on the line between the api and PostgreSQL.

#[path = "statements/frontend.rs"]
mod frontend;

use crate::WATTLINE;
use embedded::{Edition, Postgres, PostgresOptions};
use frontend::Said;
use serde_json::{Value, json};
use sqlx::PgPool;
use std::collections::BTreeSet;
use tempfile::TempDir;
use testkit::{ApiUnderClock, Client, Direction, Method, Mode, Proxy, World, eventually};
use tokio::task::JoinSet;
use uuid::Uuid;

/// What time it is: 2027-01-15, 08:00:00 UTC.
const NOW: i64 = 1_800_000_000;
const REPEATED: usize = 8;

/// Each read, with the statements that a request for it costs, the one that lets it in included.
const READS: [(&str, usize); 18] = [
    ("/buildings/", 2),
    ("/buildings/{building}/", 2),
    ("/buildings/{building}/sensors/", 2),
    ("/buildings/{building}/electricity/actual/", 2),
    ("/buildings/{building}/electricity/latest/", 2),
    (
        "/buildings/{building}/electricity/sensors/actual/?sensor_uuid={sensors}",
        2,
    ),
    (
        "/buildings/{building}/electricity/sensors/latest/?sensor_uuid={sensors}",
        2,
    ),
    (
        "/buildings/{building}/electricity/sensors/latest/?sensor_uuid={sensors}&aggregate=minute",
        3,
    ),
    ("/buildings/{building}/electricity/meterreadings/", 3),
    (
        "/buildings/{building}/electricity/meterreadings/?timestamp=1799950000",
        3,
    ),
    ("/buildings/{building}/electricity/meterreadings/actual/", 3),
    ("/buildings/{building}/electricity/meterreadings/latest/", 3),
    ("/buildings/{building}/keyvalue/actual/", 2),
    ("/buildings/{building}/keyvalue/latest/", 2),
    (
        "/buildings/{building}/comfort/history/day/?sensor_id={comfort}",
        3,
    ),
    ("/buildings/{building}/actions/", 2),
    ("/buildings/{building}/actions/{action}/", 2),
    ("/buildings/{building}/schedules/grid_limits/", 2),
];

/// An api that asks its database through a proxy that counts.
struct Counted {
    proxy: Proxy,
    api: ApiUnderClock,
    world: World,
    database: PgPool,
    _server: Postgres,
    _folder: TempDir,
}

impl Counted {
    async fn start() -> Self {
        let folder = embedded::temporary_folder().unwrap();
        let port = embedded::free_port().unwrap();
        let mut options = PostgresOptions::new(folder.path().join("database"), Edition::Plain);
        options.tcp_port = Some(port);
        options.durable = false;
        let server = tokio::task::spawn_blocking(move || Postgres::start(&options).unwrap());
        let server = server.await.unwrap();
        server.create_database("site").unwrap();
        let mut world = World::new(WATTLINE, Mode::Direct).await;
        let setting = "WATTLINE_DATABASE_URL".to_owned();
        world.settings.insert(setting.clone(), server.url("site"));
        world.command(&["migrate"]);
        let proxy = Proxy::recording(port).await;
        let through = format!("postgres://postgres@127.0.0.1:{}/site", proxy.port());
        let direct = world.settings.insert(setting.clone(), through).unwrap();
        let api = ApiUnderClock::start(&world, NOW).await;
        world.settings.insert(setting, direct.clone());
        let counted = Self {
            proxy,
            api,
            world,
            database: PgPool::connect(&direct).await.unwrap(),
            _server: server,
            _folder: folder,
        };
        // The house is kept at the start, and then for ten minutes no more.
        eventually(async || match counted.said() {
            said if said.times("delete from request_budget") > 0 => Ok(()),
            said => Err(said),
        })
        .await;
        counted
    }

    /// What the api has said but what every connection asks once, and what readiness asks again and again: how old the
    /// schema is, and whether the server is well.
    fn said(&self) -> Said {
        let other = [
            "_sqlx_migrations",
            "pg_is_in_recovery",
            "select from building limit 1",
        ];
        Said::through(&self.proxy, |text| other.iter().any(|it| text.contains(it)))
    }
}

/// A user, whose first building has everything that can be read of one, so many of each.
struct Site {
    building: Uuid,
    sensors: Vec<Uuid>,
    client: Client,
    comfort: i64,
    action: String,
}

impl Site {
    async fn of(counted: &Counted, username: &str, many: usize) -> Self {
        let building = Uuid::new_v4();
        let sensors: Vec<Uuid> = (0..many).map(|_| Uuid::new_v4()).collect();
        let named: Vec<Value> = sensors
            .iter()
            .map(|uuid| json!({"sensor_uuid": uuid, "name": "Inverter", "kind": "production"}))
            .chain([json!({"sensor_uuid": Uuid::new_v4(), "name": "Room", "kind": "temperature"})])
            .collect();
        let hub = json!({"uuid": Uuid::new_v4(), "name": "Hub", "kind": "hub", "sensors": named});
        let mut buildings = vec![json!({"uuid": building, "name": "Depot", "sensor_hubs": [hub]})];
        buildings.resize_with(many, || json!({"uuid": Uuid::new_v4(), "name": "Other"}));
        let links: Vec<Value> = buildings
            .iter()
            .map(|it| json!({"uuid": it["uuid"], "role": "operator"}))
            .collect();
        counted.world.apply_fleet(&json!({
            "buildings": buildings,
            "users": [{"username": username, "password": "a word", "buildings": links}],
        }));
        let number = i64::try_from(many).unwrap();
        for statement in include_str!("statements/history.sql").split(";\n") {
            sqlx::query(statement)
                .bind(building)
                .bind(number)
                .execute(&counted.database)
                .await
                .unwrap();
        }
        let comfort = "select id from sensor where building_uuid = $1 and kind = 'temperature'";
        let client = counted.api.client().login(username, "a word").await;
        Self {
            building,
            sensors,
            action: act(&client, building, many).await,
            client,
            comfort: sqlx::query_scalar(comfort)
                .bind(building)
                .fetch_one(&counted.database)
                .await
                .unwrap(),
        }
    }

    fn path(&self, template: &str) -> String {
        let sensors: Vec<String> = self.sensors.iter().map(Uuid::to_string).collect();
        template
            .replace("{building}", &self.building.to_string())
            .replace("{sensors}", &sensors.join(","))
            .replace("{comfort}", &self.comfort.to_string())
            .replace("{action}", &self.action)
    }
}

/// So many actions and grid limits; the uuid of an action.
async fn act(client: &Client, building: Uuid, many: usize) -> String {
    let mut action = String::new();
    for number in 0..i64::try_from(many).unwrap() {
        let path = format!("/buildings/{building}/actions/");
        let body =
            json!({"battery_set_power_charge_watts": number, "battery_set_power_timeout": 600});
        let answer = client.send(Method::POST, &path, Some(&body)).await;
        assert_eq!(answer.status, 204, "{answer:?}");
        let location = answer.header("location").trim_end_matches('/');
        action = location.rsplit('/').next().unwrap().to_owned();
        let path = format!("/buildings/{building}/schedules/grid_limits/");
        let start = NOW + 3_600 + number * 900;
        let body = json!({"start_timestamp": start, "end_timestamp": start + 900,
            "delivery_limit_watts": 1, "return_delivery_limit_watts": 1});
        let answer = client.send(Method::POST, &path, Some(&body)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    action
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_costs_so_many_statements_however_much_there_is_to_read() {
    let counted = Counted::start().await;
    let mut lengths = Vec::new();
    for (username, many) in [("ada", 2), ("bob", 40)] {
        let site = Site::of(&counted, username, many).await;
        for (template, wanted) in READS {
            let path = site.path(template);
            let ask = async || {
                let answer = site.client.send(Method::GET, &path, None).await;
                assert_eq!(answer.status, 200, "{path}: {answer:?}");
                answer.text.len()
            };
            lengths.push(ask().await);
            let before = counted.said();
            for _ in 0..REPEATED {
                ask().await;
            }
            let said = eventually(async || {
                let said = counted.said().since(&before);
                match said.statements() {
                    statements if statements >= wanted * REPEATED => Ok(said),
                    _ => Err(said),
                }
            })
            .await;
            assert_eq!(
                said.statements(),
                wanted * REPEATED,
                "{template} {many}: {said:#?}"
            );
            // Each is prepared once for a connection; and none that answered a moment ago is asked whether it lives.
            assert!(said.parsed <= wanted, "{template}: {said:#?}");
            assert!(
                said.signs_of_life <= said.statements(),
                "{template}: {said:#?}"
            );
        }
    }
    // The second building has more of everything but of these.
    let of_one = [
        "{building}/",
        "{comfort}",
        "{action}/",
        "electricity/actual/",
        "electricity/latest/",
    ];
    let (few, more) = lengths.split_at(READS.len());
    for ((template, _), (few, more)) in READS.iter().zip(few.iter().zip(more)) {
        let is_of_one = of_one.iter().any(|end| template.ends_with(end));
        assert!(more > few || is_of_one, "{template}");
    }
    counted.api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_come_at_once_are_counted_exactly_by_few_statements() {
    const AT_ONCE: usize = 40;
    let counted = Counted::start().await;
    let site = Site::of(&counted, "ada", 2).await;
    // Admitted means counted: whoever reads one of these has been admitted.
    let admitted = |said: &Said| said.times("insert into request_budget");
    let rest = async || {
        let answer = site.client.send(Method::GET, "/buildings/", None).await;
        let rest: i64 = answer.header("ratelimit-remaining").parse().unwrap();
        (answer.status, rest)
    };
    eventually(async || {
        let (_, left) = rest().await;
        let before = admitted(&counted.said());
        counted.proxy.hold(Direction::ToClient);
        let mut asking = JoinSet::new();
        for _ in 0..AT_ONCE {
            let client = site.client.clone();
            asking.spawn(async move { client.send(Method::GET, "/buildings/", None).await });
        }
        eventually(async || match admitted(&counted.said()) - before {
            0 => Err(0),
            asked => Ok(asked),
        })
        .await;
        counted.proxy.release();
        let answers = asking.join_all().await;
        let rests: BTreeSet<i64> = answers
            .iter()
            .map(|it| it.header("ratelimit-remaining").parse().unwrap())
            .collect();
        let counted_once = left - i64::try_from(AT_ONCE).unwrap()..left;
        assert_eq!(rests, counted_once.collect());
        // As many as had come when the first had its answer came in together.
        match admitted(&counted.said()) - before {
            statements if statements <= AT_ONCE / 4 => Ok(()),
            statements => Err(statements),
        }
    })
    .await;
    counted.api.stop().await;
}
