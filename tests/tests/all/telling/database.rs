//! Every role that uses the database tells what is wrong with it.

use super::cause::{all_are_well, all_tell, are_untouched};
use crate::WATTLINE;
use sqlx::{Connection as _, Executor as _, PgConnection};
use testkit::{DatabaseServer, Mode, Running, World};

struct Stage {
    database: DatabaseServer,
    bridge: Running,
    roles: [Running; 3],
    _world: World,
}

impl Stage {
    /// A database of the test's own, and a process for each role.
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
        world.building();
        let bridge = world.start(&["bridge"]);
        let roles = ["aggregator", "control", "api"].map(|role| world.start(&[role]));
        let stage = Self {
            database,
            bridge,
            roles,
            _world: world,
        };
        all_are_well("start", &stage.all()).await;
        stage
    }

    fn all(&self) -> [&Running; 4] {
        let [aggregator, control, api] = &self.roles;
        [&self.bridge, aggregator, control, api]
    }

    /// All roles but the bridge tell this of the database, soon.
    async fn tells(&self, cause: &str, words: &[&str]) {
        let affected = self.roles.each_ref().map(|role| (role, "database", words));
        all_tell(cause, &affected).await;
        are_untouched(cause, &[&self.bridge]).await;
    }

    async fn is_well(&self, cause: &str) {
        all_are_well(cause, &self.all()).await;
    }

    /// A session that no process of ours has.
    async fn operator(&self) -> PgConnection {
        let url = self.database.url();
        let (server, _) = url.rsplit_once('/').unwrap();
        let url = format!("{server}/template1?application_name=operator");
        PgConnection::connect(&url).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_role_tells_within_five_seconds_that_the_database_is_away_and_why() {
    let stage = Stage::new().await;
    let control = || stage.database.control();

    control().kill();
    stage.tells("killed", &["database /", ":5432"]).await;
    tokio::task::block_in_place(|| control().restart().unwrap());
    stage.is_well("killed").await;

    control().freeze();
    stage.tells("frozen", &["database /", "no answer"]).await;
    control().thaw();
    stage.is_well("frozen").await;

    let mut operator = stage.operator().await;
    let name = stage.database.url();
    let (_, name) = name.rsplit_once('/').unwrap();
    let refuse = format!("alter database {name} with allow_connections false");
    operator.execute(refuse.as_str()).await.unwrap();
    let end =
        format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'");
    operator.execute(end.as_str()).await.unwrap();
    let words = &["database /", "is not currently accepting connections"];
    stage.tells("refused", words).await;
    let allow = format!("alter database {name} with allow_connections true");
    operator.execute(allow.as_str()).await.unwrap();
    stage.is_well("refused").await;

    operator
        .execute("alter system set default_transaction_read_only = on")
        .await
        .unwrap();
    operator.execute("select pg_reload_conf()").await.unwrap();
    stage.tells("read-only", &["database /", "read-only"]).await;
    operator
        .execute("set default_transaction_read_only = off")
        .await
        .unwrap();
    operator
        .execute("alter system reset default_transaction_read_only")
        .await
        .unwrap();
    operator.execute("select pg_reload_conf()").await.unwrap();
    stage.is_well("read-only").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_role_tells_within_five_seconds_that_a_statement_hangs_and_who_holds_it() {
    let stage = Stage::new().await;
    let url = format!("{}?application_name=operator", stage.database.url());
    let mut operator = PgConnection::connect(&url).await.unwrap();
    let [aggregator, control, api] = &stage.roles;

    operator
        .execute("begin; lock table building in access exclusive mode")
        .await
        .unwrap();
    let words = &["database /", "for a lock on building", "(operator)"];
    stage.tells("building locked", words).await;
    operator.execute("rollback").await.unwrap();
    stage.is_well("building locked").await;

    // What only one of them works with is told by that one.
    operator
        .execute("begin; lock table touched_minute in access exclusive mode")
        .await
        .unwrap();
    let words: &[&str] = &["for a lock on touched_minute", "(operator)"];
    all_tell("marks locked", &[(aggregator, "database", words)]).await;
    are_untouched("marks locked", &[&stage.bridge, control, api]).await;
    operator.execute("rollback").await.unwrap();
    stage.is_well("marks locked").await;

    operator
        .execute("begin; lock table control_state in access exclusive mode")
        .await
        .unwrap();
    let words: &[&str] = &["for a lock on control_state", "(operator)"];
    all_tell("control locked", &[(control, "database", words)]).await;
    operator.execute("rollback").await.unwrap();
    stage.is_well("control locked").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn direct_mode_tells_within_five_seconds_that_the_database_is_away() {
    let database = tokio::task::spawn_blocking(DatabaseServer::start)
        .await
        .unwrap();
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let url = database.url();
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), url);
    world.command(&["migrate"]);
    let serve = world.serve().await;
    database.control().freeze();
    all_tell(
        "frozen",
        &[(&serve, "database", &["database /", "no answer"])],
    )
    .await;
    database.control().thaw();
    all_are_well("frozen", &[&serve]).await;
}
