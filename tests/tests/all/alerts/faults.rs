//! The faults, and the alert of each.

use super::watched::{MadeUp, Watched};
use crate::WATTLINE;
use crate::records::{meter, now};
use crate::telling::set_topic;
use sqlx::{Connection as _, Executor as _, PgConnection};
use std::time::Duration;
use testkit::{
    Client, DatabaseServer, Direction, Method, Mode, Proxy, Running, USERNAME, World, eventually,
};
use uuid::Uuid;

/// Which alerts fire, and what is done for it.
pub(super) const FAULTS: &[(&[&str], &str)] = &[
    (&["WattlineProcessGone"], "an api is killed"),
    (
        &[
            "WattlineNotReady",
            "WattlineLagTooOld",
            "WattlineLagGrowing",
            "WattlineFoldingBehind",
            "WattlineRetrying",
            "WattlineApiErrors",
        ],
        "the database is killed while records come and requests are made",
    ),
    (
        &["WattlineUnacknowledgedTooOld"],
        "Kafka refuses what the bridge writes",
    ),
    (
        &["WattlineDeadLetters"],
        "a controller sends what is no JSON",
    ),
    (
        &[
            "WattlineConservationViolated",
            "WattlineRetentionOverdue",
            "WattlineControlUnreadable",
        ],
        "a made-up process loses a message, drops nothing and cannot read a state",
    ),
    (
        &["WattlineControlLate"],
        "control is frozen while something is due",
    ),
    (
        &["WattlineOutboxStuck"],
        "the broker's confirmations do not reach control",
    ),
    (&["WattlineLoginsHeldOff"], "somebody tries passwords"),
];

/// How long nothing may fire without a fault: longer than any rule waits, in the scaled time.
const SILENCE: Duration = Duration::from_secs(7);

struct Stage {
    building: Uuid,
    bridge: Running,
    aggregator: Running,
    control: Running,
    api: Running,
    another: Running,
    proxy: Proxy,
    database: DatabaseServer,
    world: World,
}

impl Stage {
    async fn new() -> Self {
        let database = tokio::task::spawn_blocking(DatabaseServer::start)
            .await
            .unwrap();
        let mut world = World::new(WATTLINE, Mode::Kafka).await;
        let url = database.url();
        world
            .settings
            .insert("WATTLINE_DATABASE_URL".to_owned(), url);
        world.command(&["migrate"]);
        let building = world.building();
        let bridge = world.start(&["bridge"]);
        let proxy = Proxy::open(world.mqtt_port()).await;
        let behind = format!("mqtt://127.0.0.1:{}", proxy.port());
        world
            .settings
            .insert("WATTLINE_MQTT_URL".to_owned(), behind);
        let (aggregator, control, api) = (
            world.start(&["aggregator"]),
            world.start(&["control"]),
            world.start(&["api"]),
        );
        let (another, _) = world.start_another_api();
        let stage = Self {
            world,
            database,
            proxy,
            building,
            bridge,
            aggregator,
            control,
            api,
            another,
        };
        for process in stage.processes() {
            process.ready().await;
        }
        stage.is_calm().await;
        stage
    }

    fn processes(&self) -> [&Running; 5] {
        [
            &self.bridge,
            &self.aggregator,
            &self.control,
            &self.api,
            &self.another,
        ]
    }

    /// What was to be published at the start is published.
    async fn is_calm(&self) {
        let waiting = "wattline_control_outbox_documents";
        eventually(async || match self.control.metric(waiting).await {
            0.0 => Ok(()),
            other => Err(other),
        })
        .await;
    }

    /// In a second control has something to do.
    async fn make_due(&self) {
        let mut database = PgConnection::connect(&self.database.url()).await.unwrap();
        database
            .execute("update control_state set due_at = now() + interval '1 second'")
            .await
            .unwrap();
    }
}

/// Records and requests, as long as it is polled.
async fn traffic(stage: &Stage, client: &Client) {
    tokio::join!(
        send(stage),
        ask(client),
        ask(client),
        ask(client),
        ask(client)
    );
}

/// Records, as long as it is polled.
async fn send(stage: &Stage) {
    let controller = stage.world.controller();
    for second in 0.. {
        controller
            .telemetry(stage.building, meter(now() - 3_600 + second, 5))
            .await;
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// Requests, as long as it is polled: 200, or 503 after a while when the database is away.
async fn ask(client: &Client) {
    loop {
        drop(client.attempt(Method::GET, "/buildings/", None).await);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Faults that leave the database alone, all at once.
async fn break_all_but_the_database(stage: &mut Stage, made_up: &MadeUp) {
    let controller = stage.world.controller();
    for number in 0..20 {
        controller
            .telemetry(stage.building, format!("{{ no JSON {number}"))
            .await;
    }
    controller.confirmed().await;
    made_up.lose(1);
    stage.another.kill();
    let somebody = Client::new(stage.world.http_port);
    for _ in 0..40 {
        somebody.log_in(USERNAME, "a guess").await;
    }
    stage.make_due().await;
    stage.control.signal("STOP");
    tokio::time::sleep(Duration::from_millis(4_500)).await;
    stage.control.signal("CONT");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_alert_fires_on_its_fault_and_none_without_one() {
    let mut stage = Stage::new().await;
    let client = stage.world.client().await;
    let made_up = MadeUp::new().await;
    let watched = Watched::new(&stage.processes(), made_up.port).await;

    // Without a fault, under some load, nothing fires.
    let calm = async {
        for _ in 0..SILENCE.as_secs() {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let firing = watched.firing().await;
            assert!(firing.is_empty(), "without a fault: {firing:?}");
        }
    };
    tokio::select! {
        () = calm => {}
        () = traffic(&stage, &client) => {}
    }

    let topic = stage.world.topic("telemetry");
    let kafka = testkit::servers::shared_kafka();
    tokio::join!(
        watched.all_fire(&[
            "WattlineProcessGone",
            "WattlineDeadLetters",
            "WattlineConservationViolated",
            "WattlineRetentionOverdue",
            "WattlineControlUnreadable",
            "WattlineControlLate",
            "WattlineLoginsHeldOff",
        ]),
        break_all_but_the_database(&mut stage, &made_up),
    );
    made_up.lose(0);

    stage.proxy.hold(Direction::ToClient);
    stage.world.building();
    set_topic(kafka, &topic, &[("max.message.bytes", "10")]).await;
    tokio::select! {
        () = watched.all_fire(&["WattlineOutboxStuck", "WattlineUnacknowledgedTooOld"]) => {}
        () = traffic(&stage, &client) => {}
    }
    stage.proxy.release();
    set_topic(kafka, &topic, &[]).await;

    stage.database.control().kill();
    tokio::select! {
        () = watched.all_fire(FAULTS[1].0) => {}
        () = traffic(&stage, &client) => {}
    }
    tokio::task::block_in_place(|| stage.database.control().restart().unwrap());

    // Everything goes on by itself; only the process that is gone is still gone.
    eventually(async || {
        let firing: Vec<String> = watched.firing().await.into_iter().collect();
        if firing == ["WattlineProcessGone"] {
            Ok(())
        } else {
            Err(firing)
        }
    })
    .await;
    drop(watched);
}
