//! Requests that are counted together are told what they would be told one after the other.

use domain::time::Timestamp;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use store::{
    Admission, AskedAdmission, Fleet, FleetBuilding, FleetLink, FleetUser, RequestLimit, Role,
    Store,
};
use testkit::{Edition, servers};
use tokio::task::JoinSet;
use uuid::Uuid;

const LIMIT: RequestLimit = RequestLimit {
    each_building: 7,
    least: 5,
    window: Duration::from_secs(60),
};

/// Users, and how many buildings each is linked to: all from the first on, as its operator.
const LINKS: [(&str, usize); 4] = [("ada", 0), ("Bob", 1), ("eve", 2), ("zoë", 3)];

/// Users who are none: unknown, and disabled.
const NOBODY: [&str; 2] = ["nobody", "mallory"];

async fn site(edition: Edition) -> (String, Store, Vec<Uuid>) {
    let url = servers::fresh_database(edition).await;
    let store = Store::open(&url, 4).unwrap();
    store.migrate().await.unwrap();
    let uuids: Vec<Uuid> = (0..3).map(|_| Uuid::new_v4()).collect();
    let building = |uuid: &Uuid| FleetBuilding {
        uuid: *uuid,
        name: "Depot".to_owned(),
        timezone: "UTC".to_owned(),
        consumption_compensated_curtailment: false,
        hubs: Vec::new(),
    };
    let user = |(username, links): (&str, usize)| FleetUser {
        username: username.to_owned(),
        password_hash: String::new(),
        links: uuids[..links]
            .iter()
            .map(|uuid| FleetLink {
                building: *uuid,
                role: Role::Operator,
            })
            .collect(),
    };
    let fleet = Fleet {
        buildings: uuids.iter().map(building).collect(),
        users: LINKS
            .into_iter()
            .chain([(NOBODY[1], 1)])
            .map(user)
            .collect(),
    };
    store.apply_fleet(&fleet, false).await.unwrap();
    let pool = sqlx::PgPool::connect(&url).await.unwrap();
    sqlx::query("update app_user set disabled = true where username = $1")
        .bind(NOBODY[1])
        .execute(&pool)
        .await
        .unwrap();
    (url, store, uuids)
}

/// The rule, for one request after the other.
#[derive(Default)]
struct Budgets(HashMap<String, (Timestamp, i64)>);

impl Budgets {
    fn admit(
        &mut self,
        asked: &AskedAdmission,
        buildings: &[Uuid],
        now: Timestamp,
    ) -> Option<Admission> {
        let (_, links) = LINKS.iter().find(|(name, _)| *name == asked.username)?;
        let limit = (7 * i64::try_from(*links).unwrap()).max(5);
        let budget = self.0.entry(asked.username.clone()).or_insert((now, 0));
        if now.micros() - budget.0.micros() >= 60_000_000 {
            *budget = (now, 0);
        }
        let admitted = budget.1 < limit;
        budget.1 += i64::from(admitted);
        let linked = |uuid: &Uuid| buildings[..*links].contains(uuid);
        Some(Admission {
            role: asked.building.filter(linked).map(|_| Role::Operator),
            limit,
            spent: budget.1,
            window_start: budget.0,
            admitted,
        })
    }
}

async fn as_one_after_the_other(edition: Edition) {
    let (_, store, buildings) = site(edition).await;
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut below = |end: usize| usize::try_from(random.next_u64() % end as u64).unwrap();
    let mut budgets = Budgets::default();
    let mut now = Timestamp::from_seconds(1_800_000_000);
    let mut refused = 0;
    for _ in 0..300 {
        now = now.plus(Duration::from_millis(below(9_000) as u64));
        // Mostly of a few users, so that many of a batch are of one.
        let users = 1 + below(6);
        let asked: Vec<AskedAdmission> = (0..1 + below(12))
            .map(|_| {
                let name = match below(users) {
                    known @ 0..4 => LINKS[known].0,
                    nobody => NOBODY[nobody - 4],
                };
                AskedAdmission {
                    username: name.to_owned(),
                    building: (below(3) > 0).then(|| buildings[below(3)]),
                }
            })
            .collect();
        let told = store.admit_several(&asked, LIMIT, now).await.unwrap();
        let expected: Vec<Option<Admission>> = asked
            .iter()
            .map(|it| budgets.admit(it, &buildings, now))
            .collect();
        assert_eq!(told, expected, "{asked:?}");
        refused += told.iter().flatten().filter(|it| !it.admitted).count();
    }
    assert!(refused > 100, "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_at_once_are_told_what_one_after_the_other_would_be_on_postgresql() {
    as_one_after_the_other(Edition::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_at_once_are_told_what_one_after_the_other_would_be_on_timescaledb() {
    as_one_after_the_other(Edition::Timescale).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_of_several_processes_admit_as_many_as_the_limit_says_each_with_another_rest() {
    const LARGE: RequestLimit = RequestLimit {
        each_building: 500,
        least: 500,
        window: Duration::from_secs(60),
    };
    let (url, _, _) = site(Edition::Plain).await;
    let now = Timestamp::from_seconds(1_800_000_000);
    let mut processes = JoinSet::new();
    for process in 0..6_usize {
        let url = url.clone();
        processes.spawn(async move {
            let store = Store::open(&url, 2).unwrap();
            let mut told = Vec::new();
            for batch in 0..40 {
                // The users in another order in every process.
                let asked: Vec<AskedAdmission> = (0..4 + (batch + process) % 5)
                    .map(|it| AskedAdmission {
                        username: ["ada", "Bob"][(it + process) % 2].to_owned(),
                        building: None,
                    })
                    .collect();
                let admissions = store.admit_several(&asked, LARGE, now).await.unwrap();
                told.extend(asked.into_iter().map(|it| it.username).zip(admissions));
            }
            told
        });
    }
    let told = processes.join_all().await.concat();
    for username in ["ada", "Bob"] {
        let of_user = || {
            let told = told.iter().filter(|(name, _)| name == username);
            told.map(|(_, admission)| admission.unwrap())
        };
        let spent: Vec<i64> = of_user()
            .filter(|it| it.admitted)
            .map(|it| it.spent)
            .collect();
        assert_eq!(spent.len(), 500, "{username}");
        let all: BTreeSet<i64> = (1..=500).collect();
        assert_eq!(spent.into_iter().collect::<BTreeSet<_>>(), all);
        assert!(
            of_user()
                .filter(|it| !it.admitted)
                .all(|it| it.spent == 500)
        );
    }
}
