//! Ends of timeouts: how late a controller is told of each.

use crate::buildings::Building;
use crate::site::Site;
use benches::Outcome;
use domain::control::{Action, BatteryPower, GridTargetPower, InverterPower, InverterTimeout};
use domain::time::Timestamp;
use ops::clock::Clock;
use serde_json::Value;
use std::collections::HashMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};
use store::{Acted, Store, StoreFailure, Wish};
use testkit::ReceivedDocument;
use tokio::task::JoinSet;
use uuid::Uuid;

/// Timeouts put in at once.
const LANES: u32 = 8;
/// The families in the document, of which each building has a running timeout.
const FAMILIES: [&str; 3] = ["inverters", "battery", "grid_target"];
/// What inverters fall back to, percent.
const FALLBACK: f64 = 80.0;
/// Longest wait for a document after the last end.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

/// What became of the ends.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Seconds from each end until a document that shows it was received; below 0 when it came early.
    pub(crate) late_s: Vec<f64>,
    /// Ends that no document has shown.
    pub(crate) lost: usize,
    /// How long it took to put the timeouts in, seconds.
    pub(crate) put_in_s: f64,
}

/// An end that is waited for.
#[derive(Clone, Copy)]
struct End {
    until: Timestamp,
    /// Whether a document has announced it.
    announced: bool,
    shown_at: Option<Instant>,
}

/// Puts in three timeouts for each building, whose ends begin `lead` seconds from now and are spread evenly
/// over so many seconds, and watches for all ends.
pub(crate) async fn run(
    site: &Site,
    buildings: &[Building],
    (lead, spread): (u32, u32),
) -> Outcome<Ended> {
    let (now, begun) = (now(), Instant::now());
    let first = Timestamp::from_seconds(now.seconds() + i64::from(lead));
    let mut ends = plan(buildings, first, spread);
    put_in(site, &ends).await?;
    site.until_published().await?;
    let put_in_s = begun.elapsed().as_secs_f64();
    if put_in_s + 1.0 > f64::from(lead) {
        return Err(format!("to put in timeouts took {put_in_s:.0} s: raise --lead").into());
    }
    let last = Duration::from_secs(u64::from(lead + spread));
    let at = |instant: Instant| now.plus(instant - begun);
    loop {
        site.receiver
            .take()
            .iter()
            .for_each(|it| look_at(it, &mut ends));
        let all = ends.values().flatten().all(|it| it.shown_at.is_some());
        if all || begun.elapsed() > last + PATIENCE {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(Ended::of(&ends, at, put_in_s))
}

impl Ended {
    fn of(
        ends: &HashMap<Uuid, [End; 3]>,
        at: impl Fn(Instant) -> Timestamp,
        put_in_s: f64,
    ) -> Self {
        let mut ended = Self {
            put_in_s,
            ..Self::default()
        };
        for end in ends.values().flatten() {
            match end.shown_at {
                Some(shown) => {
                    let late_micros = at(shown).micros_since(end.until);
                    ended.late_s.push(late_micros as f64 / 1e6);
                }
                None => ended.lost += 1,
            }
        }
        ended
    }
}

/// As many ends each second, and those of a building as far apart as they can be.
fn plan(buildings: &[Building], first: Timestamp, spread: u32) -> HashMap<Uuid, [End; 3]> {
    let ends = |place: u32| {
        [0, 1, 2].map(|family| {
            let second = (place + family * spread / 3) % spread;
            End {
                until: first.plus(Duration::from_secs(u64::from(second))),
                announced: false,
                shown_at: None,
            }
        })
    };
    let places = (0..).zip(buildings);
    places.map(|(place, it)| (it.uuid, ends(place))).collect()
}

async fn put_in(site: &Site, ends: &HashMap<Uuid, [End; 3]>) -> Outcome<()> {
    let store = site.store(LANES)?;
    let mut lanes: Vec<Vec<(Uuid, [Timestamp; 3])>> = vec![Vec::new(); LANES as usize];
    for (place, (building, ends)) in ends.iter().enumerate() {
        lanes[place % LANES as usize].push((*building, ends.map(|it| it.until)));
    }
    let mut tasks = JoinSet::new();
    for lane in lanes {
        let store = store.clone();
        tasks.spawn(async move {
            for (building, ends) in lane {
                for (family, until) in ends.into_iter().enumerate() {
                    act(&store, building, family, until).await?;
                }
            }
            Ok::<(), StoreFailure>(())
        });
    }
    while let Some(lane) = tasks.join_next().await {
        lane??;
    }
    store.close().await;
    Ok(())
}

/// As an api process takes it that had the request at the last whole second, so that the end is exact.
async fn act(
    store: &Store,
    building: Uuid,
    family: usize,
    until: Timestamp,
) -> Result<(), StoreFailure> {
    let now = Timestamp::from_seconds(now().seconds());
    let seconds = i32::try_from(until.seconds_from(now)).unwrap_or(i32::MAX);
    let wish = Wish {
        building,
        username: "user",
        address: "127.0.0.1",
        body: "{}",
        idempotency_key: None,
        sensors: &[],
    };
    let judge = |_: store::Facts<'_>| Ok::<Action, Infallible>(action(family, seconds));
    match store.act(wish, || now, judge).await? {
        Some(Acted::Taken(_)) => Ok(()),
        other => Err(StoreFailure::Permanent(format!("{other:?}"))),
    }
}

fn action(family: usize, seconds: i32) -> Action {
    match family {
        0 => Action::Inverters {
            power: InverterPower::Percentage(50.0),
            timeout: InverterTimeout::Seconds(seconds),
            fallback: Some(InverterPower::Percentage(FALLBACK)),
        },
        1 => Action::Battery {
            power: BatteryPower::Charge(3_000),
            timeout_s: seconds,
        },
        _ => Action::GridTarget {
            power: GridTargetPower::Delivery(5_000),
            duration_s: seconds,
        },
    }
}

/// Notes what a document says of the building's ends.
fn look_at(document: &ReceivedDocument, ends: &mut HashMap<Uuid, [End; 3]>) {
    let ends = ends.get_mut(&document.building).into_iter().flatten();
    for (family, end) in FAMILIES.into_iter().zip(ends) {
        let entry = &document.body[family];
        if entry["until"] == end.until.seconds() {
            end.announced = true;
        } else if end.announced && is_over(family, entry) {
            end.shown_at.get_or_insert(document.at);
        }
    }
}

/// Whether the entry is gone, or its fallback in force.
fn is_over(family: &str, entry: &Value) -> bool {
    if family == FAMILIES[0] {
        entry["until"].is_null() && entry["power_percentage"].as_f64() == Some(FALLBACK)
    } else {
        entry.is_null()
    }
}

fn now() -> Timestamp {
    Timestamp::from_micros(Clock::system().now_micros())
}
