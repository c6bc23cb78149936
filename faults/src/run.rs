//! One run: everything is started, broken for a while, mended, and judged.

use crate::arena::{Arena, Release, name};
use crate::fault::{Kind, Part, Role, Shape};
use crate::judge::{Verdict, judge};
use crate::ledger::Ledger;
use crate::load::Load;
use crate::publisher::{Publishing, publish};
use crate::schedule::{Planned, schedule};
use crate::strike::strike;
use crate::summary::Summary;
use crate::vain::in_vain;
use crate::watch::{Looks, Violations, total, watch};
use crate::{Outcome, clocks};
use domain::time::Timestamp;
use sqlx::{PgPool, Row as _};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::Store;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Connections over which the controllers publish.
const CONNECTIONS: usize = 4;
/// How long everything may take to stand after its start, and again after the last fault.
const RECOVERY: Duration = Duration::from_secs(120);
/// How long nothing may change any more before all counts as arrived, when counting does not show it: longer than a
/// member of the group that was killed keeps its partitions.
const STANDSTILL: Duration = Duration::from_secs(15);
/// Messages that are published when all is well again, to see that the counters agree.
const CALM_MESSAGES: usize = 300;
const LOOK: Duration = Duration::from_millis(500);
/// Late enough that every minute, quarter and day has ended.
const IN_THE_END: Duration = Duration::from_secs(2 * 86_400);

/// What a run is to be.
#[derive(Clone, Debug)]
pub struct Plan {
    /// From it follow the faults and the messages.
    pub seed: u64,
    /// For how long things are broken.
    pub length: Duration,
    /// One fault so often, on average.
    pub every: Duration,
    /// How many of each role.
    pub shape: Shape,
    /// Buildings that publish.
    pub buildings: usize,
    /// Messages a second, all buildings together.
    pub per_second: u32,
}

impl Plan {
    /// What is broken on this machine and what cannot be: a small disk wants root, wrong clocks want libfaketime.
    #[must_use]
    pub fn possible(bridges: usize, aggregators: usize) -> Shape {
        Shape {
            bridges,
            aggregators,
            small_disk: rustix::process::geteuid().is_root(),
            clocks: clocks::library().is_some(),
        }
    }
}

/// Makes the run with the `wattline` of a release. What was found is in the summary; `say` is told how far
/// it is.
///
/// # Errors
/// When it could not be made to its end: a server cannot be started or mended.
pub async fn run(plan: &Plan, release: Release, say: impl Fn(&str)) -> Outcome<Summary> {
    let mut arena = Arena::start(release, plan.shape, plan.buildings).await?;
    let outcome = run_in(plan, &arena, &say).await;
    let failed = outcome.as_ref().is_ok_and(|it| !it.is_clean()) || outcome.is_err();
    let kept = failed.then(|| arena.keep_logs());
    drop(arena);
    if let Some(folder) = kept {
        // By its old name the next run would take it for one that was left behind.
        let logs =
            std::env::temp_dir().join(format!("faults-{}-{}", plan.seed, std::process::id()));
        std::fs::rename(folder, &logs)?;
        say(&format!("logs: {}", logs.display()));
    }
    outcome
}

async fn run_in(plan: &Plan, arena: &Arena, say: &impl Fn(&str)) -> Outcome<Summary> {
    all_ready(arena).await?;
    say("all is ready");
    let planned = schedule(plan.seed, plan.shape, plan.length, plan.every);
    let violations = Violations::default();
    let looks = Mutex::new(Looks::default());
    let publishing = Publishing::default();
    let mut publishers = start_publishers(plan, arena, &publishing);
    let begun = Instant::now();
    let struck = {
        let watching = watch(arena, &publishing.ledger, &violations, &looks);
        let striking = strike_all(arena, &planned, say);
        let upgrading = upgrade(arena, plan.length / 3, say);
        let both = async { futures_util::future::try_join(striking, upgrading).await };
        tokio::select! {
            both = both => both?.0,
            () = watching => return Err("the watch ended".into()),
        }
    };
    let mended = Instant::now();
    say(&format!(
        "{struck} faults in {} s; all is mended",
        begun.elapsed().as_secs()
    ));
    all_ready(arena).await?;
    publishing.stopping.store(true, Ordering::SeqCst);
    let drained = async { while publishers.join_next().await.is_some() {} };
    if timeout(RECOVERY, drained).await.is_err() {
        violations.add("the broker does not acknowledge what is published");
    }
    arrived(arena, &publishing.ledger).await?;
    let recovery = mended.elapsed();
    say(&format!(
        "all has arrived, {} s after the last fault",
        recovery.as_secs()
    ));
    let published = publishing.ledger.all().len();
    calm(plan, arena, &publishing.ledger, &violations).await?;
    if !is_folded(arena).await? {
        violations.add("minutes that have ended are not folded");
    }
    let verdict = settle_and_judge(arena, &publishing.ledger, &planned).await?;
    let unheard = publishing.unheard.load(Ordering::SeqCst);
    if unheard > 0 && plan.shape.bridges == 1 {
        violations.add("the broker had no subscriber for a message");
    }
    let looks = *looks
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    for vain in in_vain(plan, struck, published, looks) {
        violations.add(vain);
    }
    let mut summary = Summary::new(
        plan,
        &planned,
        &publishing.ledger,
        verdict,
        violations.all(),
    );
    summary.recovery = recovery;
    summary.unheard = unheard;
    summary.looks(looks);
    for role in arena.roles() {
        let peak = arena.role(role).lock().await.peak_memory_mib();
        summary.peak_memory_mib.insert(name(role), peak);
    }
    Ok(summary)
}

fn start_publishers(plan: &Plan, arena: &Arena, publishing: &Publishing) -> JoinSet<()> {
    let now = ops::clock::Clock::system().now_micros();
    let port = arena.route(crate::fault::Route::ControllersToBroker).port();
    let share = arena.buildings.len().div_ceil(CONNECTIONS);
    let parts: Vec<_> = arena.buildings.chunks(share).collect();
    #[expect(clippy::cast_precision_loss, reason = "a handful of connections")]
    let per_second = f64::from(plan.per_second) / parts.len() as f64;
    let mut publishers = JoinSet::new();
    for (number, buildings) in parts.into_iter().enumerate() {
        let seed = plan
            .seed
            .wrapping_add(u64::try_from(number).unwrap_or_default());
        let load = Load::new(seed, buildings.to_vec(), now);
        publishers.spawn(publish(port, load, per_second, publishing.clone()));
    }
    publishers
}

/// Strikes as planned, and returns when the last one is mended.
async fn strike_all(arena: &Arena, planned: &[Planned], say: &impl Fn(&str)) -> Outcome<usize> {
    let begun = Instant::now();
    let parts: BTreeMap<Part, tokio::sync::Mutex<()>> = planned
        .iter()
        .map(|it| (it.fault.part(), tokio::sync::Mutex::default()))
        .collect();
    let strikes = planned.iter().map(|planned| async {
        sleep(planned.at.saturating_sub(begun.elapsed())).await;
        // To mend the last fault of this part may have taken longer than planned.
        let _alone = parts[&planned.fault.part()].lock().await;
        say(&format!(
            "{:>7.1} s  {:?} for {:?}",
            begun.elapsed().as_secs_f64(),
            planned.fault,
            planned.lasts
        ));
        let failed = |error| format!("{:?}: {error}", planned.fault);
        strike(arena, planned.fault, planned.lasts)
            .await
            .map_err(failed)
    });
    futures_util::future::try_join_all(strikes).await?;
    Ok(planned.len())
}

/// With an old release: brings the schema up to date in the middle of everything. Processes follow as they are
/// started again.
async fn upgrade(arena: &Arena, after: Duration, say: &impl Fn(&str)) -> Outcome<()> {
    if !arena.is_to_be_upgraded() {
        return Ok(());
    }
    sleep(after).await;
    let begun = Instant::now();
    // The database may be struck just now.
    while let Err(error) = tokio::task::block_in_place(|| arena.upgrade()) {
        if begun.elapsed() > RECOVERY {
            return Err(error);
        }
        sleep(LOOK).await;
    }
    say("the schema is that of the new release");
    Ok(())
}

async fn all_ready(arena: &Arena) -> Outcome<()> {
    let begun = Instant::now();
    loop {
        let mut causes = Vec::new();
        for role in arena.roles() {
            let process = arena.role(role).lock().await;
            let Some(running) = process.running() else {
                continue;
            };
            match timeout(Duration::from_secs(2), running.readiness()).await {
                Ok(Ok((200, _))) => {}
                Ok(Ok((_, body))) => causes.push(format!("{}: {body}", name(role))),
                Ok(Err(error)) => causes.push(format!("{}: {error}", name(role))),
                Err(_) => causes.push(format!("{} does not answer", name(role))),
            }
        }
        if causes.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > RECOVERY {
            return Err(format!("not ready after {RECOVERY:?}: {}", causes.join("; ")).into());
        }
        sleep(LOOK).await;
    }
}

/// Waits until nothing waits in the log, nothing is in flight, and the tables have as much as the book or stand still.
async fn arrived(arena: &Arena, ledger: &Ledger) -> Outcome<()> {
    let published = i64::try_from(ledger.all().len())?;
    let pool = PgPool::connect(&arena.database_url()).await?;
    let begun = Instant::now();
    let mut last = (0, Instant::now());
    loop {
        let count: i64 = sqlx::query(
            "select (select count(*) from telemetry_record) + (select count(*) from sensor_reading) \
             + (select count(*) from key_value) + (select count(*) from dead_letter)",
        )
        .fetch_one(&pool)
        .await?
        .try_get(0)?;
        let waiting = waiting(arena).await;
        if count != last.0 || waiting > 0.0 {
            last = (count, Instant::now());
        } else if count == published || last.1.elapsed() > STANDSTILL {
            return Ok(());
        }
        if begun.elapsed() > RECOVERY {
            return Err(format!("{waiting} messages still wait after {RECOVERY:?}").into());
        }
        sleep(LOOK).await;
    }
}

async fn waiting(arena: &Arena) -> f64 {
    let names = [
        "wattline_bridge_in_flight_messages",
        "wattline_aggregator_lag_messages",
    ];
    let series = scrape_all(arena).await;
    let of = |all: &BTreeMap<String, f64>| names.map(|it| total(all, it)).iter().sum::<f64>();
    series.values().map(of).sum()
}

async fn scrape_all(arena: &Arena) -> BTreeMap<Role, BTreeMap<String, f64>> {
    let mut all = BTreeMap::new();
    for role in arena.roles() {
        let process = arena.role(role).lock().await;
        if let Some(running) = process.running()
            && let Ok(series) = running.scrape().await
        {
            all.insert(role, series);
        }
    }
    all
}

/// With nothing broken every message is counted once: what the publishers had acknowledged, what the bridges and the
/// aggregators counted, and what the tables hold.
async fn calm(plan: &Plan, arena: &Arena, ledger: &Ledger, violations: &Violations) -> Outcome<()> {
    let before = scrape_all(arena).await;
    let now = ops::clock::Clock::system().now_micros();
    let publishing = Publishing {
        ledger: ledger.clone(),
        ..Publishing::default()
    };
    let known = ledger.all();
    let mut load = Load::new(plan.seed ^ 1, arena.buildings.clone(), now);
    let mut messages: BTreeMap<_, _> = BTreeMap::new();
    while messages.len() < CALM_MESSAGES {
        let message = load.next(ops::clock::Clock::system().now_micros());
        // Late ones may be known already, and numbers of invalid ones come again.
        if !known.contains_key(&message.identity) {
            messages.insert(message.identity, message);
        }
    }
    let port = arena.route(crate::fault::Route::ControllersToBroker).port();
    let sent: Vec<_> = messages.into_values().collect();
    crate::publisher::publish_all(port, sent, publishing).await;
    arrived(arena, ledger).await?;
    let after = scrape_all(arena).await;
    let grown = |name: &str| -> f64 {
        let of = |all: &BTreeMap<Role, BTreeMap<String, f64>>| -> f64 {
            all.values().map(|it| total(it, name)).sum()
        };
        of(&after) - of(&before)
    };
    #[expect(clippy::cast_precision_loss, reason = "some hundred messages")]
    let published = CALM_MESSAGES as f64;
    let received = grown("wattline_bridge_received_messages_total");
    let refused = grown("wattline_bridge_dead_lettered_messages_total");
    let stored = grown("wattline_aggregator_stored_messages_total");
    if received != published || stored + refused != published {
        violations.add(format!(
            "of {published} messages in the calm {received} were received, {refused} refused and {stored} stored"
        ));
    }
    Ok(())
}

/// Whether the service itself, once all is well, folds every minute that has ended: the rest is made for the judge.
async fn is_folded(arena: &Arena) -> Outcome<bool> {
    let pool = PgPool::connect(&arena.database_url()).await?;
    let begun = Instant::now();
    loop {
        let marks: i64 = sqlx::query_scalar(
            "select count(*) from touched_minute where start < now() - interval '2 minutes'",
        )
        .fetch_one(&pool)
        .await?;
        if marks == 0 || begun.elapsed() > RECOVERY {
            return Ok(marks == 0);
        }
        sleep(LOOK).await;
    }
}

/// Folds what is still open, as its end would, and compares.
async fn settle_and_judge(arena: &Arena, ledger: &Ledger, planned: &[Planned]) -> Outcome<Verdict> {
    let store = Store::open(&arena.database_url(), 2)?;
    let now = ops::clock::Clock::system().now_micros();
    let end = Timestamp::from_micros(now).plus(IN_THE_END);
    while store.fold(end).await? != store::Folded::default() {}
    store.close().await;
    let clocks_went_back = planned.iter().any(|it| it.kind == Kind::StepClock);
    judge(arena, &ledger.all(), clocks_went_back).await
}
