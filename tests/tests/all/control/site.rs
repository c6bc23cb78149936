//! A building with everything that can be acted on, an api and a control role that share a clock.

use crate::WATTLINE;
use domain::control::Outcome;
use domain::reading::{Record, Report, ReportedOutcome};
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::{Batch, Incoming, Letter, Store};
use testkit::{
    Answer, ApiUnderClock, Client, ControlUnderClock, DesiredDocuments, Method, Mode, PASSWORD,
    USERNAME, World,
};
use uuid::Uuid;

/// 2023-11-14T12:00:00Z.
pub(crate) const NOON: i64 = 1_699_963_200;

pub(crate) struct ControlSite {
    pub(crate) world: World,
    pub(crate) api: ApiUnderClock,
    control: Option<ControlUnderClock>,
    pub(crate) store: Store,
    pub(crate) documents: DesiredDocuments,
    pub(crate) client: Client,
    pub(crate) building: Uuid,
    /// Two car sockets and two setpoints.
    pub(crate) sockets: [Uuid; 2],
    pub(crate) setpoints: [Uuid; 2],
}

/// A fleet file with one building that has two car sockets and two setpoints.
pub(crate) fn fleet(building: Uuid, sockets: [Uuid; 2], setpoints: [Uuid; 2]) -> Value {
    let sensor = |uuid: &Uuid, kind: &str| json!({"sensor_uuid": uuid, "name": kind, "kind": kind, "min_interval": "minute"});
    let sockets = sockets.iter().map(|uuid| sensor(uuid, "ev_socket"));
    let setpoints = setpoints.iter().map(|uuid| sensor(uuid, "setpoint"));
    let sensors: Vec<Value> = sockets.chain(setpoints).collect();
    json!({
        "buildings": [{"uuid": building, "name": "Depot", "sensor_hubs": [
            {"uuid": Uuid::new_v4(), "name": "Hub", "kind": "hub", "sensors": sensors}]}],
        "users": [{"username": USERNAME, "password": PASSWORD,
            "buildings": [{"uuid": building, "role": "operator"}]}],
    })
}

impl ControlSite {
    /// The clock stands at [`NOON`].
    pub(crate) async fn new() -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        let building = Uuid::new_v4();
        let sockets = [Uuid::new_v4(), Uuid::new_v4()];
        let setpoints = [Uuid::new_v4(), Uuid::new_v4()];
        world.apply_fleet(&fleet(building, sockets, setpoints));
        // Logged in later than any test comes to, so that the token lasts wherever the clock is set.
        let api = ApiUnderClock::start(&world, NOON + 30 * 86_400).await;
        let client = api.client().login(USERNAME, PASSWORD).await;
        api.clock.set_micros(NOON * 1_000_000);
        Self {
            store: Store::open(&world.settings["WATTLINE_DATABASE_URL"], 2).unwrap(),
            documents: DesiredDocuments::subscribe(world.mqtt_port()).await,
            control: Some(ControlUnderClock::start(&world, &api.clock)),
            world,
            api,
            client,
            building,
            sockets,
            setpoints,
        }
    }

    /// Control goes away.
    pub(crate) async fn stop_control(&mut self) {
        self.control.take().unwrap().stop().await;
    }

    /// Control is back.
    pub(crate) fn start_control(&mut self) {
        self.control = Some(ControlUnderClock::start(&self.world, &self.api.clock));
    }

    pub(crate) fn now(&self) -> i64 {
        self.api.clock.now_micros() / 1_000_000
    }

    pub(crate) fn path(&self) -> String {
        format!("/buildings/{}/actions/", self.building)
    }

    pub(crate) async fn post(&self, body: &Value) -> Answer {
        self.client
            .send(Method::POST, &self.path(), Some(body))
            .await
    }

    /// Posts an action that must be taken, and answers its uuid.
    pub(crate) async fn act(&self, body: Value) -> String {
        let answer = self.post(&body).await;
        assert_eq!(answer.status, 204, "{body}: {}", answer.text);
        let location = answer.header("location").trim_end_matches('/');
        location.rsplit('/').next().unwrap().to_owned()
    }

    /// The controller reports, at the clock's time.
    pub(crate) async fn report(&self, revision: i64, outcomes: &[(&str, Outcome, Option<&str>)]) {
        let outcomes = outcomes
            .iter()
            .map(|(action, outcome, detail)| ReportedOutcome {
                action_uuid: action.parse().unwrap(),
                outcome: *outcome,
                detail: detail.map(str::to_owned),
            });
        let time = Timestamp::from_micros(self.api.clock.now_micros());
        self.ingest(Record::Reported(Report {
            time,
            revision,
            outcomes: outcomes.collect(),
        }))
        .await;
    }

    /// A record comes, received at the clock's time.
    pub(crate) async fn ingest(&self, record: Record) {
        let letter = Letter {
            building: Some(self.building),
            source: "test".to_owned(),
            received_at: Timestamp::from_micros(self.api.clock.now_micros()),
            traceparent: None,
            redelivered: false,
            payload: Vec::new(),
            kept_as: None,
        };
        let batch = Batch {
            records: vec![Incoming {
                building: self.building,
                record,
                letter,
            }],
            ..Batch::default()
        };
        let retention = std::time::Duration::from_secs(7 * 86_400);
        let ingested = self.store.ingest(&batch, retention).await.unwrap();
        assert_eq!(ingested.stored, 1, "{ingested:?}");
    }

    /// An action, once it has this status.
    pub(crate) async fn reaches(&self, action_uuid: &str, status: &str) -> Value {
        testkit::eventually(async || {
            let action = self.action(action_uuid).await;
            if action["status"] == status {
                Ok(action)
            } else {
                Err(action)
            }
        })
        .await
    }

    /// What the api says of an action.
    pub(crate) async fn action(&self, action_uuid: &str) -> Value {
        let (status, body) = self
            .client
            .get(&format!("{}{action_uuid}/", self.path()))
            .await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// The newest document, once it says exactly this, without revision and time.
    pub(crate) async fn desires(&self, expected: Value) -> Value {
        let document = self.documents.until(self.building, |body| {
            body.is_object() && super::in_force(body) == expected
        });
        document.await.body
    }
}
