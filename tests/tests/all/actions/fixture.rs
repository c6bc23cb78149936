//! What tests of actions act on.

use super::{BLOCK, HOUR, location, path, planning};
use crate::WATTLINE;
use serde_json::{Value, json};
use testkit::{Answer, ApiUnderClock, Client, Method, Mode, PASSWORD, World};
use uuid::Uuid;

/// A building that has all kinds of sensors that actions name, and another one.
pub(crate) struct Fixture {
    pub(crate) world: World,
    pub(crate) api: ApiUnderClock,
    /// Operator of both buildings.
    pub(crate) ada: Client,
    pub(crate) building: Uuid,
    pub(crate) other: Uuid,
    pub(super) sockets: [Uuid; 2],
    pub(super) setpoints: [Uuid; 2],
    pub(super) temperature: Uuid,
    pub(super) foreign_socket: Uuid,
    pub(super) foreign_setpoint: Uuid,
}

fn hub(sensors: &[(Uuid, &str)]) -> Value {
    let sensors: Vec<Value> = sensors
        .iter()
        .map(|(uuid, kind)| {
            json!({"sensor_uuid": uuid, "name": kind, "kind": kind, "min_interval": "minute"})
        })
        .collect();
    json!([{"uuid": Uuid::new_v4(), "name": "Cellar", "kind": "any", "sensors": sensors}])
}

impl Fixture {
    /// The api's clock stands at `now`. Bob is a viewer of the building, grace another operator, eve an
    /// operator of the other building only.
    pub(crate) async fn at(now: i64) -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        let [
            building,
            other,
            temperature,
            foreign_socket,
            foreign_setpoint,
        ] = [(); 5].map(|()| Uuid::new_v4());
        let sockets = [(); 2].map(|()| Uuid::new_v4());
        let setpoints = [(); 2].map(|()| Uuid::new_v4());
        let own = hub(&[
            (sockets[0], "ev_socket"),
            (sockets[1], "ev_socket"),
            (setpoints[0], "setpoint"),
            (setpoints[1], "setpoint"),
            (temperature, "temperature"),
        ]);
        let foreign = hub(&[
            (foreign_socket, "ev_socket"),
            (foreign_setpoint, "setpoint"),
        ]);
        let user = |name: &str, links: &[(Uuid, &str)]| {
            let links: Vec<Value> = links
                .iter()
                .map(|(uuid, role)| json!({"uuid": uuid, "role": role}))
                .collect();
            json!({"username": name, "password": PASSWORD, "buildings": links})
        };
        world.apply_fleet(&json!({
            "buildings": [
                {"uuid": building, "name": "Depot", "sensor_hubs": own},
                {"uuid": other, "name": "Mill", "sensor_hubs": foreign},
            ],
            "users": [
                user("ada", &[(building, "operator"), (other, "operator")]),
                user("grace", &[(building, "operator")]),
                user("bob", &[(building, "viewer")]),
                user("eve", &[(other, "operator")]),
            ],
        }));
        // Logged in later than any test comes to, so that the token lasts wherever the clock is set.
        let api = ApiUnderClock::start(&world, now + 30 * 86_400).await;
        let ada = api.client().login("ada", PASSWORD).await;
        let fixture = Self {
            world,
            api,
            ada,
            building,
            other,
            sockets,
            setpoints,
            temperature,
            foreign_socket,
            foreign_setpoint,
        };
        fixture.set_clock(now);
        fixture
    }

    pub(super) fn set_clock(&self, seconds: i64) {
        self.api.clock.set_micros(seconds * 1_000_000);
    }

    /// Somebody else, logged in as late as ada.
    pub(crate) async fn client(&self, name: &str) -> Client {
        let now = self.api.clock.now_micros();
        self.set_clock(now / 1_000_000 + 30 * 86_400);
        let client = self.api.client().login(name, PASSWORD).await;
        self.api.clock.set_micros(now);
        client
    }

    pub(crate) fn path(&self) -> String {
        path(self.building)
    }

    pub(crate) async fn act(&self, body: &Value) -> Answer {
        self.ada.send(Method::POST, &self.path(), Some(body)).await
    }

    /// The path of the action that this body made.
    pub(crate) async fn acted(&self, body: &Value) -> String {
        location(&self.act(body).await)
    }

    /// A request of ada's with a key.
    pub(super) async fn act_with_key(&self, key: &str, body: &Value) -> Answer {
        self.send_with_key(&self.ada, self.building, key, body)
            .await
    }

    pub(super) async fn send_with_key(
        &self,
        client: &Client,
        building: Uuid,
        key: &str,
        body: &Value,
    ) -> Answer {
        let headers = [
            ("authorization", format!("Bearer {}", client.access())),
            ("idempotency-key", key.to_owned()),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.into_bytes()));
        let body = body.to_string().into_bytes();
        client
            .send_raw("POST", &path(building), &headers, body)
            .await
    }

    pub(super) async fn stored(&self) -> i64 {
        self.world.count("select count(*) from action").await
    }

    /// The building's control state.
    pub(super) async fn desired(&self) -> Value {
        let query = format!(
            "select revision, state from control_state where building_uuid = '{}'",
            self.building
        );
        self.world.rows(&query).await.remove(0)
    }

    /// A good body of each family.
    pub(super) fn families(&self) -> Vec<Value> {
        let socket = |sensor: Uuid| {
            json!({"sensor_uuid": sensor, "ev_socket_set_power_charge_watts": 3_700,
                   "ev_socket_set_power_timeout": 60})
        };
        let value = |sensor: Uuid, value: f64| json!({"sensor_uuid": sensor, "value": value});
        let [one, other] = self.setpoints;
        vec![
            json!({"inverters_set_power_percentage": 0.5}),
            json!({"inverters_set_power_percentage": 100, "inverters_set_power_timeout": 60,
                   "inverters_set_power_timeout_percentage": 0}),
            json!({"inverters_set_power_percentage": 50, "inverters_set_power_timeout": null}),
            json!({"inverters_set_power_watts": 0, "inverters_set_power_timeout": 2_147_483_647,
                   "inverters_set_power_timeout_watts": 2_147_483_647}),
            json!({"battery_set_power_charge_watts": 2_147_483_647, "battery_set_power_timeout": 60}),
            json!({"battery_set_power_discharge_watts": 0, "battery_set_power_timeout": 6e1}),
            json!({"grid_target_delivery_watts": 0, "grid_target_duration": 1}),
            json!({"grid_target_return_delivery_watts": 5_000, "grid_target_duration": 3_600.0}),
            json!({"grid_target_cancel": true}),
            json!({"ev_sockets_update": [socket(self.sockets[0]), socket(self.sockets[1])]}),
            json!({"setpoints_update": {"setpoints": [value(one, 20.5), value(other, -3.0)]}}),
            json!({"setpoints_update": {"fallback_timeout_minutes": 10_080,
                   "fallback_setpoints": [value(one, 18.0)]}}),
            json!({"setpoints_update": {"fallback_timeout_minutes": 0}}),
            json!({"setpoints_update": {"setpoints": [], "fallback_setpoints": []}}),
            planning(BLOCK, BLOCK + 4 * HOUR, true),
            planning(BLOCK, BLOCK + 4 * HOUR, false),
        ]
    }
}
