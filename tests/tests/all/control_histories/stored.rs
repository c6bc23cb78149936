//! In the database: 500 buildings, each with a history of its own, on one clock.

use super::history::{Event, History, What};
use super::model::Model;
use super::random::{BEGIN, Step, step, wait_us};
use crate::WATTLINE;
use domain::control::{Action, Fate, Outcome, State, Status};
use domain::grid_limit::GridLimit;
use domain::reading::{Record, Report, ReportedOutcome};
use domain::time::Timestamp;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use sqlx::Row as _;
use std::collections::HashMap;
use std::time::Duration;
use store::{Acted, Batch, Incoming, Letter, Store, Wish};
use testkit::{Mode, World};
use tokio::task::JoinSet;
use uuid::Uuid;

const BUILDINGS: usize = 500;
const STEPS: usize = 14;
/// Steps of different buildings that happen at once.
const LANES: usize = 4;

/// One building and what has happened to it.
struct Site {
    building: Uuid,
    history: History,
    steps: Vec<Step>,
}

/// Everything happens at the same moments in all buildings.
#[derive(Clone)]
struct Driver {
    store: Store,
    database: sqlx::PgPool,
}

impl Driver {
    async fn take(&self, site: &mut Site, number: usize, now: Timestamp) {
        match site.steps[number].clone() {
            Step::Act(action) => self.act(site, action, now).await,
            Step::Report(back, outcomes) => self.report(site, back, &outcomes, now).await,
            Step::Limits(limits) => {
                self.limit(site.building, &limits).await;
                let what = What::Limited(limits);
                site.history.0.push(Event { at: now, what });
            }
            Step::Flag(flag) => {
                let set = "update building set consumption_compensated_curtailment = $2
                    where uuid = $1";
                let set = sqlx::query(set).bind(site.building).bind(flag);
                set.execute(&self.database).await.unwrap();
                let what = What::Flagged(flag);
                site.history.0.push(Event { at: now, what });
            }
            // Every step reads what was kept, as after a restart.
            Step::Restart | Step::Nothing => {}
        }
    }

    async fn act(&self, site: &mut Site, action: Action, now: Timestamp) {
        let wish = Wish {
            building: site.building,
            username: "ada",
            address: "127.0.0.1",
            body: "{}",
            idempotency_key: None,
            sensors: &[],
        };
        let acted = self.store.act(
            wish,
            || now,
            |facts| {
                if let Action::Setpoints {
                    fallback_timeout_minutes: minutes,
                    fallback,
                    ..
                } = &action
                    && facts.state.lacks_fallback(*minutes, fallback.as_deref())
                {
                    return Err(());
                }
                Ok(action.clone())
            },
        );
        let acted = acted.await.unwrap().unwrap();
        if acted == Acted::Refused(()) {
            return;
        }
        let Acted::Taken(action_uuid) = acted else {
            panic!("{acted:?}");
        };
        let revision = "select revision from action where action_uuid = $1";
        let revision = sqlx::query_scalar(revision).bind(action_uuid);
        let what = What::Acted {
            action_uuid,
            action,
            revision: revision.fetch_one(&self.database).await.unwrap(),
        };
        site.history.0.push(Event { at: now, what });
    }

    async fn report(
        &self,
        site: &mut Site,
        back: i64,
        outcomes: &[(usize, Outcome)],
        now: Timestamp,
    ) {
        let actions: Vec<Uuid> = site.history.actions().map(|(_, uuid, _, _)| uuid).collect();
        let named = outcomes.iter().filter_map(|(place, outcome)| {
            let action_uuid = *actions.iter().rev().nth(*place)?;
            Some((action_uuid, *outcome))
        });
        let outcomes: Vec<(Uuid, Outcome)> = named.collect();
        let revision = "select revision from control_state where building_uuid = $1";
        let newest = sqlx::query_scalar::<_, i64>(revision).bind(site.building);
        let revision = newest.fetch_one(&self.database).await.unwrap() - back;
        self.ingest(site.building, revision, &outcomes, now).await;
        let what = What::Reported { revision, outcomes };
        site.history.0.push(Event { at: now, what });
    }

    async fn ingest(
        &self,
        building: Uuid,
        revision: i64,
        outcomes: &[(Uuid, Outcome)],
        now: Timestamp,
    ) {
        let outcomes = outcomes
            .iter()
            .map(|(action_uuid, outcome)| ReportedOutcome {
                action_uuid: *action_uuid,
                outcome: *outcome,
                detail: None,
            });
        let record = Record::Reported(Report {
            time: now,
            revision,
            outcomes: outcomes.collect(),
        });
        let letter = Letter {
            building: Some(building),
            source: "test".to_owned(),
            received_at: now,
            traceparent: None,
            redelivered: false,
            payload: Vec::new(),
            kept_as: None,
        };
        let batch = Batch {
            records: vec![Incoming {
                building,
                record,
                letter,
            }],
            ..Batch::default()
        };
        let retention = Duration::from_secs(7 * 86_400);
        assert_eq!(
            self.store.ingest(&batch, retention).await.unwrap().stored,
            1
        );
    }

    async fn limit(&self, building: Uuid, limits: &[GridLimit]) {
        let delete = sqlx::query("delete from grid_limit where building_uuid = $1").bind(building);
        delete.execute(&self.database).await.unwrap();
        for limit in limits {
            let insert = "insert into grid_limit values
                ($1, $2, to_timestamp($3::float8), to_timestamp($4::float8), $5, $6)";
            let insert = sqlx::query(insert)
                .bind(building)
                .bind(limit.grid_limit_uuid)
                .bind(limit.start.seconds())
                .bind(limit.end.seconds())
                .bind(limit.delivery_limit_watts)
                .bind(limit.return_delivery_limit_watts);
            insert.execute(&self.database).await.unwrap();
        }
        let touch = "update control_state set due_at = 'epoch' where building_uuid = $1";
        let touch = sqlx::query(touch).bind(building);
        touch.execute(&self.database).await.unwrap();
    }

    /// What control does at a moment.
    async fn look(&self, now: Timestamp) {
        while self.store.handle_reports(now).await.unwrap() > 0 {}
        while self.store.execute_due(now).await.unwrap().buildings > 0 {}
    }

    async fn compare(&self, sites: &[Site], now: Timestamp) {
        let rows = sqlx::query("select building_uuid, state from control_state");
        let rows = rows.fetch_all(&self.database).await.unwrap();
        let states: HashMap<Uuid, State> = rows
            .iter()
            .map(|row| (row.get(0), serde_json::from_value(row.get(1)).unwrap()))
            .collect();
        let fates = fates(&self.database).await;
        for site in sites {
            let model = Model::of(&site.history);
            let desired = states[&site.building].desired();
            assert_eq!(*desired, model.desired(now), "{:#?}", site.history);
            for (_, action_uuid, _, _) in site.history.actions() {
                let (fate, expected) = (fates[&action_uuid], model.fate(action_uuid, now));
                assert_eq!(fate, expected, "{action_uuid} in {:#?}", site.history);
            }
        }
    }
}

async fn fates(database: &sqlx::PgPool) -> HashMap<Uuid, Fate> {
    let text = "select action_uuid, status, (extract(epoch from ended_at) * 1000000)::bigint
        from action";
    let rows = sqlx::query(text).fetch_all(database).await.unwrap();
    let fate = |row: &sqlx::postgres::PgRow| {
        let ended_at: Option<i64> = row.get(2);
        let fate = Fate {
            status: Status::parse(row.get(1)).unwrap(),
            ended_at: ended_at.map(Timestamp::from_micros),
        };
        (row.get(0), fate)
    };
    rows.iter().map(fate).collect()
}

async fn sites(database: &sqlx::PgPool, runner: &mut TestRunner) -> Vec<Site> {
    let mut sites = Vec::new();
    for _ in 0..BUILDINGS {
        let building = Uuid::new_v4();
        let insert = sqlx::query("insert into building (uuid, name) values ($1, 'Depot')");
        insert.bind(building).execute(database).await.unwrap();
        let steps = (0..STEPS).map(|_| step().new_tree(runner).unwrap().current());
        sites.push(Site {
            building,
            history: History::default(),
            steps: steps.collect(),
        });
    }
    sites
}

/// One step of every building, some at once.
async fn take_all(driver: &Driver, sites: Vec<Site>, number: usize, now: Timestamp) -> Vec<Site> {
    let mut lanes: Vec<Vec<Site>> = (0..LANES).map(|_| Vec::new()).collect();
    for (index, site) in sites.into_iter().enumerate() {
        lanes[index % LANES].push(site);
    }
    let mut tasks = JoinSet::new();
    for mut lane in lanes {
        let driver = driver.clone();
        tasks.spawn(async move {
            for site in &mut lane {
                driver.take(site, number, now).await;
            }
            lane
        });
    }
    tasks.join_all().await.into_iter().flatten().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_random_histories_end_as_the_model_says() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let driver = Driver {
        store: Store::open(&world.settings["WATTLINE_DATABASE_URL"], 4).unwrap(),
        database: world.database.clone(),
    };
    let mut runner = TestRunner::deterministic();
    let mut sites = sites(&world.database, &mut runner).await;
    let mut now = Timestamp::from_seconds(BEGIN);
    for number in 0..STEPS {
        let wait = wait_us().new_tree(&mut runner).unwrap().current();
        now = now.plus(Duration::from_micros(wait));
        sites = take_all(&driver, sites, number, now).await;
        // Twice in three times nothing is looked at when it is due, but later.
        if number % 3 == 2 {
            driver.look(now).await;
            driver.compare(&sites, now).await;
        }
    }
    now = now.plus(Duration::from_secs(1_000));
    driver.look(now).await;
    driver.compare(&sites, now).await;
}
