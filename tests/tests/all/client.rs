//! A client that was written from the specification only, and its day with the service.
//!
//! It knows addresses, fields and codes from the interface's words and nothing from our code: it keeps
//! its newest refresh token, refreshes when the access token is refused, waits as long as a 429 asks,
//! and takes 204 for "no value".

use crate::WATTLINE;
use crate::records::{full, now};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::{ApiUnderClock, Mode, PASSWORD, USERNAME, World, eventually};
use wire::topic::{MqttTopic, RecordKind};

/// The client. Waiting is what its caller does with the seconds that it names.
struct EnergyClient<'a> {
    http: reqwest::Client,
    base_url: String,
    access: String,
    refresh: String,
    wait_seconds: &'a dyn Fn(u64),
    refreshed: usize,
    waited_seconds: u64,
}

impl<'a> EnergyClient<'a> {
    async fn log_in(base_url: String, wait_seconds: &'a dyn Fn(u64)) -> Self {
        let mut client = Self {
            http: reqwest::Client::new(),
            base_url,
            access: String::new(),
            refresh: String::new(),
            wait_seconds,
            refreshed: 0,
            waited_seconds: 0,
        };
        let login = json!({"username": USERNAME, "password": PASSWORD});
        let (status, pair) = client.post("/public-api/token/", &login).await;
        assert_eq!(status, StatusCode::OK, "{pair}");
        client.keep(&pair);
        client
    }

    async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = self.http.post(format!("{}{path}", self.base_url));
        let answer = request.json(body).send().await.unwrap();
        (answer.status(), answer.json().await.unwrap())
    }

    fn keep(&mut self, pair: &Value) {
        self.access = pair["access"].as_str().unwrap().to_owned();
        self.refresh = pair["refresh"].as_str().unwrap().to_owned();
    }

    /// "When the access token has expired, call the refresh endpoint"; the old refresh token is
    /// worth nothing afterwards.
    async fn refresh(&mut self) {
        let body = json!({"refresh": self.refresh});
        let (status, pair) = self.post("/public-api/token/refresh/", &body).await;
        assert_eq!(status, StatusCode::OK, "{pair}");
        self.keep(&pair);
        self.refreshed += 1;
    }

    async fn get(&mut self, path: &str) -> Option<Value> {
        self.ask(Method::GET, path, None).await
    }

    /// A request that is answered in the end; nothing where there is no content.
    async fn ask(&mut self, method: Method, path: &str, body: Option<&Value>) -> Option<Value> {
        loop {
            let url = format!("{}/public-api/buildings/{path}", self.base_url);
            let mut request = self.http.request(method.clone(), url);
            request = request.bearer_auth(&self.access);
            if let Some(body) = body {
                request = request.json(body);
            }
            let answer = request.send().await.unwrap();
            match answer.status().as_u16() {
                200 | 201 => return Some(answer.json().await.unwrap()),
                204 => return None,
                401 => self.refresh().await,
                429 => {
                    let seconds = answer.headers()["retry-after"].to_str().unwrap();
                    let seconds: u64 = seconds.parse().unwrap();
                    self.waited_seconds += seconds;
                    (self.wait_seconds)(seconds);
                }
                status => panic!("{path}: {status}: {}", answer.text().await.unwrap()),
            }
        }
    }
}

/// A building with a gas meter and a thermometer besides what telemetry brings, and a message of each
/// kind from its controller.
async fn building_with_data(world: &World, time: i64) -> String {
    let building = uuid::Uuid::new_v4();
    let (gas, thermometer) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    world.apply_fleet(&json!({
        "buildings": [{"uuid": building, "name": "Depot", "timezone": "Europe/Amsterdam", "sensor_hubs": [
            {"uuid": uuid::Uuid::new_v4(), "name": "Gas meter", "kind": "gas_meter", "sensors": [
                {"sensor_uuid": gas, "name": "Gas", "kind": "gas_volume", "meter_name": "G4"}]},
            {"uuid": uuid::Uuid::new_v4(), "name": "Office", "kind": "climate", "sensors": [
                {"sensor_uuid": thermometer, "name": "Temperature", "kind": "temperature"}]}]}],
        "users": [{"username": USERNAME, "password": PASSWORD,
            "buildings": [{"uuid": building, "role": "operator"}]}],
    }));
    let controller = world.controller();
    let readings = json!({"time": time, "readings": [
        {"sensor_uuid": gas, "meter_reading": 1234.5}, {"sensor_uuid": thermometer, "value": 20.5}]});
    let key_values = json!({"time": time, "values": {"firmware": "1.4.2", "mode": "eco"}});
    for (kind, payload) in [
        (RecordKind::Telemetry, full(time, 700, 300, -1_500)),
        (RecordKind::Readings, readings.to_string()),
        (RecordKind::KeyValues, key_values.to_string()),
    ] {
        let topic = MqttTopic::format(kind, building);
        controller.publish(&topic, payload).await;
    }
    let stored = "select (select count(*) from telemetry_record) + (select count(*) from key_value) \
                  + (select count(*) from sensor_reading)";
    eventually(async || match world.count(stored).await {
        5 => Ok(()),
        other => Err(other),
    })
    .await;
    building.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_written_from_the_specification_has_its_day() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let _serve = world.serve().await;
    let time = now() - 30;
    let building = building_with_data(&world, time).await;
    let service = ApiUnderClock::start(&world, time + 30).await;
    let wait = |seconds| service.advance_seconds(seconds);
    let base_url = format!("http://127.0.0.1:{}", service.port());
    let mut client = EnergyClient::log_in(base_url, &wait).await;

    // It finds its building and what is measured there.
    let buildings = client.get("").await.unwrap();
    assert_eq!(buildings[0]["uuid"], json!(building));
    assert_eq!(
        buildings[0]["consumption_compensated_curtailment"],
        json!(false)
    );
    let sensors = client.get(&format!("{building}/sensors/")).await.unwrap();
    let sensor = |kind: &str| {
        let sensors = sensors.as_array().unwrap().iter();
        sensors
            .clone()
            .find(|it| it["kind"] == kind)
            .unwrap()
            .clone()
    };

    // It reads everything there is to read.
    let power = client
        .get(&format!("{building}/electricity/actual/"))
        .await
        .unwrap();
    assert_eq!(
        (&power["value"], &power["consumption"]),
        (&json!(700), &json!(1_900))
    );
    let production = sensor("production")["sensor_uuid"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("{building}/electricity/sensors/actual/?sensor_uuid={production}");
    assert_eq!(client.get(&path).await.unwrap()[0]["value"], json!(1_500));
    let path = format!("{building}/electricity/meterreadings/latest/");
    let meters = client.get(&path).await.unwrap();
    let gas = meters
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["meter_name"] == "G4");
    assert_eq!(gas.unwrap()["value"], json!(1234.5));
    let key_values = client
        .get(&format!("{building}/keyvalue/actual/"))
        .await
        .unwrap();
    let expected = json!([{"key": "firmware", "value": "1.4.2", "datetime": time},
        {"key": "mode", "value": "eco", "datetime": time}]);
    assert_eq!(key_values, expected);
    let path = format!(
        "{building}/comfort/history/day/?sensor_id={}&offset=-2",
        sensor("temperature")["id"]
    );
    assert_eq!(client.get(&path).await, None, "nothing two days ago");

    // It plans a limit, sees it, and takes it back.
    let start = (time / 900 + 3) * 900;
    let limits = format!("{building}/schedules/grid_limits/");
    let wish = json!({"start_timestamp": start, "end_timestamp": start + 900,
        "delivery_limit_watts": 10_000, "return_delivery_limit_watts": 0});
    let planned = client
        .ask(Method::POST, &limits, Some(&wish))
        .await
        .unwrap();
    assert_eq!(client.get(&limits).await.unwrap(), json!([planned]));
    let uuid = planned["grid_limit_uuid"].as_str().unwrap().to_owned();
    let one = client
        .ask(Method::DELETE, &format!("{limits}{uuid}/"), None)
        .await;
    assert_eq!(one, None);
    assert_eq!(client.get(&limits).await.unwrap(), json!([]));

    // A quarter of an hour later its access token has expired, and it goes on by itself.
    let first_refresh = client.refresh.clone();
    service.advance_seconds(15 * 60);
    client.get("").await.unwrap();
    assert_eq!(client.refreshed, 1);
    let used = json!({"refresh": first_refresh});
    let (status, told) = client.post("/public-api/token/refresh/", &used).await;
    assert_eq!(
        (status.as_u16(), &told["detail"]),
        (401, &json!("Token is blacklisted"))
    );

    // It asks too much, is told how long to wait, and gets its answer after that.
    for _ in 0..500 {
        client.get("").await.unwrap();
    }
    assert_eq!(
        client.waited_seconds,
        45 * 60,
        "until the hour is over, once"
    );
    // An hour after the measurement `actual` has nothing to give, `latest` still has.
    service.advance_seconds(15 * 60);
    assert_eq!(
        client.get(&format!("{building}/electricity/actual/")).await,
        None
    );
    let power = client
        .get(&format!("{building}/electricity/latest/"))
        .await
        .unwrap();
    assert_eq!(power["datetime"], json!(time));
    service.stop().await;
}
