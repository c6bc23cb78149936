//! Simulated controllers do what users wish, and users see it.

use crate::WATTLINE;
use reqwest::Method;
use serde_json::{Value, json};
use simulator::{Answers, Config, Scenario, Summary, Topics};
use std::time::Duration;
use testkit::{Client, Mode, Running, World, eventually, eventually_within};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const SEED: u64 = 1;
const BUILDINGS: usize = 4;
/// What no battery does by itself but by chance.
const WATTS: i32 = 1_234;
/// A minute, and room for a slow machine.
const A_MINUTE: Duration = Duration::from_secs(120);

/// A service with a simulated fleet, and the fleet's user.
struct Obedient {
    _serve: Running,
    client: Client,
    /// A building with a battery that can do what is asked here.
    building: Uuid,
    socket: Uuid,
    fleet: JoinSet<Result<Summary, simulator::Failure>>,
    stop: CancellationToken,
    _world: World,
}

impl Obedient {
    async fn start(answers: Answers) -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        let fleet = simulator::Fleet::new(SEED, BUILDINGS);
        let file = fleet.fleet_file("open sesame");
        world.apply_fleet(&file);
        let serve = world.serve().await;
        let client = Client::new(world.http_port);
        let client = client.login("demo", "open sesame").await;
        let number = fleet.buildings().iter().position(|it| {
            let battery = it.battery.filter(|it| it.max_charge_w > 10_000);
            battery.is_some() && it.solar_rated_w.is_some()
        });
        let number = number.unwrap();
        let hubs = file["buildings"][number]["sensor_hubs"].as_array().unwrap();
        let charger = hubs.iter().find(|it| it["kind"] == "ev_charger").unwrap();
        let socket = charger["sensors"][0]["sensor_uuid"].as_str().unwrap();
        let scenario = Scenario {
            topics: Topics::All,
            answers,
            ..Scenario::new(SEED, BUILDINGS, Duration::from_millis(500))
        };
        let config = Config::new(world.mosquitto().url(), scenario);
        let clock = ops::clock::Clock::system();
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let token = stop.clone();
        tasks.spawn(simulator::run(config, move || clock.now_micros(), token));
        Self {
            _serve: serve,
            client,
            building: fleet.buildings()[number].uuid,
            socket: socket.parse().unwrap(),
            fleet: tasks,
            stop,
            _world: world,
        }
    }

    async fn get(&self, path: &str) -> Value {
        let path = format!("/buildings/{}/{path}", self.building);
        self.client.get(&path).await.1
    }

    /// Posts an action, and answers where its fate is told.
    async fn act(&self, action: Value) -> String {
        let path = format!("/buildings/{}/actions/", self.building);
        let answer = self.client.send(Method::POST, &path, Some(&action)).await;
        assert_eq!(answer.status, 204, "{}", answer.text);
        let location = &answer.headers["location"];
        location.strip_prefix("/public-api").unwrap().to_owned()
    }

    /// Waits until the fate of an action is this; answers with it.
    async fn fate(&self, action: &str, status: &str) -> Value {
        eventually(async || match self.client.get(action).await.1 {
            fate if fate["status"] == status => Ok(fate),
            other => Err(other),
        })
        .await
    }

    /// Waits until a part of the building's electricity is this.
    async fn measures(&self, part: &str, watts: i32) {
        eventually(
            async || match self.get("electricity/actual/").await[part].clone() {
                measured if measured == watts => Ok(()),
                other => Err(other),
            },
        )
        .await;
    }

    async fn stop(mut self) -> Summary {
        self.stop.cancel();
        self.fleet.join_next().await.unwrap().unwrap().unwrap()
    }
}

fn statuses(fate: &Value) -> Vec<&str> {
    let history = fate["history"].as_array().unwrap().iter();
    history.map(|it| it["status"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_changes_the_measured_power_is_confirmed_and_ends_after_a_real_minute() {
    let it = Obedient::start(Answers::Obeys).await;
    let action = json!({
        "battery_set_power_charge_watts": WATTS, "battery_set_power_timeout": 60,
    });
    let battery = it.act(action).await;
    let fate = it.fate(&battery, "confirmed").await;
    assert_eq!(fate["ended_at"], Value::Null);
    assert_eq!(statuses(&fate).first(), Some(&"accepted"));
    it.measures("charge", WATTS).await;

    let inverters = it.act(json!({"inverters_set_power_watts": 0})).await;
    it.fate(&inverters, "confirmed").await;
    it.measures("production", 0).await;

    let sockets = it
        .act(json!({"ev_sockets_update": [{
            "sensor_uuid": it.socket,
            "ev_socket_set_power_charge_watts": 3_700,
            "ev_socket_set_power_timeout": 3_600,
        }]}))
        .await;
    let fate = it.fate(&sockets, "confirmed").await;
    let all = ["accepted", "published", "delivered", "confirmed"];
    assert_eq!(statuses(&fate), all, "by the controller's report alone");
    let car = format!("electricity/sensors/actual/?sensor_uuid={}", it.socket);
    eventually(async || match it.get(&car).await[0]["value"].clone() {
        watts if watts == 3_700 => Ok(()),
        other => Err(other),
    })
    .await;

    let fate = eventually_within(A_MINUTE, async || match it.client.get(&battery).await.1 {
        fate if fate["ended_at"].is_i64() => Ok(fate),
        other => Err(other),
    })
    .await;
    assert_eq!(fate["status"], "confirmed");
    let lasted = fate["ended_at"].as_i64().unwrap() - fate["created_at"].as_i64().unwrap();
    assert!((60..=61).contains(&lasted), "{lasted}");
    eventually(
        async || match it.get("electricity/actual/").await["charge"].clone() {
            watts if watts != WATTS => Ok(()),
            other => Err(other),
        },
    )
    .await;
    let summary = it.stop().await;
    assert!(summary.reports.good >= 4, "{summary:?}");
    assert_eq!(summary.refused, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_that_does_a_part_says_so_and_one_that_rejects_is_left_alone() {
    let it = Obedient::start(Answers::Obeys).await;
    let charge = |watts: i32| {
        json!({
            "battery_set_power_charge_watts": watts, "battery_set_power_timeout": 3_600,
        })
    };
    let too_much = it.act(charge(2_000_000_000)).await;
    let fate = it.fate(&too_much, "partial").await;
    assert_eq!(fate["ended_at"], Value::Null);
    it.stop().await;

    let it = Obedient::start(Answers::Rejects).await;
    let refused = it.act(charge(WATTS)).await;
    let fate = it.fate(&refused, "rejected").await;
    assert!(fate["ended_at"].is_i64(), "{fate}");
    let summary = it.stop().await;
    assert!(summary.reports.good > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_silent_controller_only_what_telemetry_shows_is_confirmed() {
    let it = Obedient::start(Answers::Silent).await;
    let sockets = it
        .act(json!({"ev_sockets_update": [{
            "sensor_uuid": it.socket,
            "ev_socket_set_power_charge_watts": 3_700,
            "ev_socket_set_power_timeout": 3_600,
        }]}))
        .await;
    it.fate(&sockets, "published").await;
    let action = json!({
        "battery_set_power_discharge_watts": WATTS, "battery_set_power_timeout": 3_600,
    });
    let battery = it.act(action).await;
    let fate = it.fate(&battery, "confirmed").await;
    assert!(!statuses(&fate).contains(&"delivered"), "{fate}");
    it.measures("discharge", WATTS).await;
    let (_, fate) = it.client.get(&sockets).await;
    assert_eq!(fate["status"], "published", "nothing shows that");
    assert_eq!(it.stop().await.reports.records, 0);
}
