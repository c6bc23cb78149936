//! A service behind the shipped broker, a victim and somebody who knows one password.

use super::Before;
use crate::mqtt_wire::{Connect, Wire};
use crate::{WATTLINE, records};
use testkit::{BuildingPlan, Mode, Running, ShippedBroker, World, eventually};

pub(super) struct Site {
    /// Before the world, in whose folder its log is.
    pub(super) service: Running,
    pub(super) world: World,
    pub(super) broker: ShippedBroker,
    pub(super) victim: String,
    pub(super) hostile: String,
    before: Before,
}

impl Site {
    pub(super) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// The same with these settings.
    pub(super) async fn start_with(settings: &[(&str, &str)]) -> Self {
        let plans = [BuildingPlan::new(), BuildingPlan::new()];
        let [victim, hostile] = [&plans[0], &plans[1]].map(|it| it.uuid.to_string());
        let users = [victim.clone(), hostile.clone()];
        let broker = tokio::task::spawn_blocking(move || {
            ShippedBroker::start(&[users[0].as_str(), &users[1]])
        })
        .await
        .unwrap();
        let mut world = World::new(WATTLINE, Mode::Direct).await;
        let url = broker.service_url();
        let ours = [("WATTLINE_MQTT_URL", url.as_str())];
        for (name, value) in ours.iter().chain(settings) {
            world
                .settings
                .insert((*name).to_owned(), (*value).to_owned());
        }
        world.apply(&plans);
        let service = world.serve().await;
        let before = Before::of(&service);
        Self {
            broker,
            world,
            service,
            victim,
            hostile,
            before,
        }
    }

    /// A connection with the one password that the hostile one knows.
    pub(super) async fn intruder(&self) -> Wire {
        Wire::controller(&self.broker, &Connect::v5(&self.hostile)).await
    }

    pub(super) fn victims(&self, kind: &str) -> String {
        format!("v1/buildings/{}/{kind}", self.victim)
    }

    pub(super) fn own(&self, kind: &str) -> String {
        format!("v1/buildings/{}/{kind}", self.hostile)
    }

    /// The victim sends so many records, and all of them are stored, and nothing else of the victim.
    pub(super) async fn victim_is_heard(&self, records: i64) {
        let connect = Connect::v5(&self.victim);
        let mut controller = Wire::controller(&self.broker, &connect).await;
        let before = self.stored(&self.victim).await;
        let start = records::now() - 3_000 + before;
        for number in 0..records {
            let payload = records::meter(start + number, 5);
            let topic = self.victims("telemetry");
            let answer = controller.publish(&topic, payload.as_bytes()).await;
            assert_eq!(answer, Ok(0), "the broker hands it on");
        }
        eventually(async || match self.stored(&self.victim).await - before {
            all if all == records => Ok(()),
            other => Err(other),
        })
        .await;
    }

    pub(super) async fn stored(&self, building: &str) -> i64 {
        let query =
            format!("select count(*) from telemetry_record where building_uuid = '{building}'");
        self.world.count(&query).await
    }

    pub(super) async fn dead_letters(&self) -> i64 {
        self.world.count("select count(*) from dead_letter").await
    }

    /// The service has never lost the broker, and is as it was.
    pub(super) async fn is_unharmed(&self) {
        let reconnects = self
            .service
            .metric("wattline_bridge_reconnects_total")
            .await;
        assert_eq!(reconnects, 0.0, "{}", self.service.log());
        self.before.is_still_so(&self.service).await;
    }
}
