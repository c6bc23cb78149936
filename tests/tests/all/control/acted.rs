//! A building that an operator acts on, with a real api process.

use super::site::fleet;
use crate::WATTLINE;
use serde_json::{Value, json};
use testkit::{
    Client, DesiredDocuments, Method, Mode, Proxy, ReceivedDocument, Running, World, eventually,
};
use uuid::Uuid;

const MQTT_URL: &str = "WATTLINE_MQTT_URL";

/// A building in the world that an operator acts on.
pub(crate) struct Acted {
    pub(crate) world: World,
    pub(crate) building: Uuid,
    pub(crate) documents: DesiredDocuments,
    pub(crate) api: Running,
    pub(crate) client: Client,
}

impl Acted {
    pub(crate) async fn new() -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        Self::of(world).await
    }

    pub(crate) async fn of(world: World) -> Self {
        let building = Uuid::new_v4();
        let uuids = || [Uuid::new_v4(), Uuid::new_v4()];
        world.apply_fleet(&fleet(building, uuids(), uuids()));
        let api = world.start(&["api"]);
        api.ready().await;
        Self {
            documents: DesiredDocuments::subscribe(world.mqtt_port()).await,
            client: world.client().await,
            world,
            building,
            api,
        }
    }

    /// The same, where processes reach the broker through a proxy until [`Acted::go_straight`].
    pub(crate) async fn through_proxy() -> (Self, Proxy) {
        let mut world = World::new(WATTLINE, Mode::Direct).await;
        let proxy = Proxy::recording(world.mqtt_port()).await;
        let through = format!("mqtt://127.0.0.1:{}", proxy.port());
        world.settings.insert(MQTT_URL.to_owned(), through);
        (Self::of(world).await, proxy)
    }

    /// Processes that are started from now on reach the broker straight, as another client.
    pub(crate) fn go_straight(&mut self) {
        let straight = format!("mqtt://127.0.0.1:{}", self.world.mqtt_port());
        let id = "WATTLINE_MQTT_CLIENT_ID".to_owned();
        self.world.settings.insert(id, "another".to_owned());
        self.world.settings.insert(MQTT_URL.to_owned(), straight);
    }

    pub(crate) async fn act(&self, body: &Value) -> String {
        let path = format!("/buildings/{}/actions/", self.building);
        let answer = self.client.send(Method::POST, &path, Some(body)).await;
        assert_eq!(answer.status, 204, "{}", answer.text);
        answer
            .header("location")
            .trim_start_matches("/public-api")
            .to_owned()
    }

    pub(crate) async fn reaches(&self, location: &str, status: &str) -> Value {
        eventually(async || {
            let (_, action) = self.client.get(location).await;
            if action["status"] == status {
                Ok(action)
            } else {
                Err(action)
            }
        })
        .await
    }

    pub(crate) fn revisions(&self) -> Vec<i64> {
        let received = self.documents.of(self.building);
        received.iter().map(ReceivedDocument::revision).collect()
    }
}

pub(crate) fn curtailment(percentage: i32, timeout: Option<i32>) -> Value {
    let mut body = json!({"inverters_set_power_percentage": percentage});
    if let Some(timeout) = timeout {
        body["inverters_set_power_timeout"] = json!(timeout);
        body["inverters_set_power_timeout_percentage"] = json!(70);
    }
    body
}
