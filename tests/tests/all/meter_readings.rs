//! What registers read is a function of the stored records alone: the same as told from raw records by
//! the decisions' words, in whatever order they came and however far folding has got.

use crate::meter_records::{Message, Meter, batches, hub, moment};
use crate::register_oracle::{Days, MINUTE, QUARTER, Read, SECOND, Sent};
use domain::calendar::{MinInterval, Timezone};
use domain::time::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::ops::Range;
use std::time::Duration;
use store::{Batch, Fleet, FleetBuilding, Incoming, Letter, MeterReading, Metered, Reading, Store};
use testkit::{Edition, servers};
use tokio::runtime::Runtime;
use uuid::Uuid;

const TIMEZONE: &str = "Europe/Amsterdam";
const RETENTION: Duration = Duration::from_secs(30 * 86_400);

/// A building with its meters, and what they have sent so far.
struct Building {
    store: Store,
    uuid: Uuid,
    sensors: [Uuid; 7],
    metered: Vec<Metered>,
    days: Days,
    sent: [Sent; 7],
}

/// What was read, by its meter.
type Found = Vec<(Meter, i64, Read)>;

impl Building {
    async fn new(store: &Store, days: Days) -> Self {
        let (hub, sensors) = hub();
        let uuid = Uuid::new_v4();
        let building = FleetBuilding {
            uuid,
            name: "Depot".to_owned(),
            timezone: TIMEZONE.to_owned(),
            consumption_compensated_curtailment: false,
            hubs: vec![hub],
        };
        let fleet = Fleet {
            buildings: vec![building],
            users: Vec::new(),
        };
        store.apply_fleet(&fleet, false).await.unwrap();
        let known = store.sensors_of(uuid).await.unwrap();
        let metered = Meter::ALL.iter().zip(sensors).map(|(meter, sensor)| {
            let known = known.iter().find(|it| it.sensor_uuid == sensor);
            meter.metered(known.unwrap().id)
        });
        Self {
            store: store.clone(),
            uuid,
            sensors,
            metered: metered.collect(),
            days,
            sent: Meter::ALL.map(Meter::sent_nothing),
        }
    }

    async fn ingest(&mut self, messages: &[Message]) {
        let incoming = |message: &Message| Incoming {
            building: self.uuid,
            record: message.record(&self.sensors),
            letter: Letter {
                building: Some(self.uuid),
                source: "test".to_owned(),
                received_at: Timestamp::from_seconds(self.days.0[5]),
                traceparent: None,
                redelivered: false,
                payload: Vec::new(),
                kept_as: None,
            },
        };
        let batch = Batch {
            records: messages.iter().map(incoming).collect(),
            ..Batch::default()
        };
        let ingested = self.store.ingest(&batch, RETENTION).await.unwrap();
        assert_eq!(ingested.stored, messages.len() as u64);
        for message in messages {
            message.note(&mut self.sent);
        }
    }

    /// The interval of one kind that contains a moment, as the oracle knows it.
    fn interval(&self, interval: MinInterval, moment: i64) -> Range<i64> {
        let length = match interval {
            MinInterval::Minute => MINUTE,
            MinInterval::Quarter => QUARTER,
            MinInterval::Day => return self.days.containing(moment),
        };
        let start = moment / length * length;
        start..start + length
    }

    fn expected(&self, read: impl Fn(&Sent) -> Option<(i64, Read)>) -> Found {
        let read = |(meter, sent): (&Meter, &Sent)| {
            let (time, read) = read(sent)?;
            Some((*meter, time, read))
        };
        Meter::ALL.iter().zip(&self.sent).filter_map(read).collect()
    }

    fn found(&self, readings: &[MeterReading]) -> Found {
        let read = |reading: &MeterReading| {
            let mut sensors = self.metered.iter();
            let index = sensors.position(|it| it.sensor_id == reading.sensor_id);
            let read = match reading.reading {
                Reading::Own(read) => Read::Own(read),
                Reading::Virtual(energy_wus) => Read::Counted(energy_wus),
            };
            (Meter::ALL[index.unwrap()], reading.time.micros(), read)
        };
        let mut found: Found = readings.iter().map(read).collect();
        found.sort_by_key(|it| it.0);
        found
    }

    async fn check_interval(&self, interval: MinInterval, moment: i64) {
        let timezone = Timezone::parse(TIMEZONE).unwrap();
        let of = interval.containing(Timestamp::from_micros(moment), &timezone);
        let expected = self.interval(interval, moment);
        assert_eq!(of.start.micros()..of.end.micros(), expected);
        let found = self
            .store
            .first_meter_readings(self.uuid, &self.metered, &of);
        assert_eq!(
            self.found(&found.await.unwrap()),
            self.expected(|sent| sent.first_in(&expected)),
            "{interval:?} of {moment}"
        );
    }

    async fn check_last_processed(&self, interval: MinInterval, now: i64) {
        let timezone = Timezone::parse(TIMEZONE).unwrap();
        let found = self.store.last_processed_meter_readings(
            self.uuid,
            &self.metered,
            interval,
            &timezone,
            Timestamp::from_micros(now),
        );
        let ended = self.interval(interval, now).start;
        let last = self.expected(|sent| sent.last_before(ended));
        let newest = last.iter().map(|(_, time, _)| *time).max();
        let expected = newest.map_or_else(Vec::new, |newest| {
            let last = self.interval(interval, newest);
            self.expected(|sent| sent.first_in(&last))
        });
        assert_eq!(
            self.found(&found.await.unwrap()),
            expected,
            "last {interval:?} at {now}"
        );
    }

    async fn check_newest(&self) {
        let found = self.store.newest_meter_readings(self.uuid, &self.metered);
        assert_eq!(
            self.found(&found.await.unwrap()),
            self.expected(|sent| sent.last_before(i64::MAX)),
            "newest"
        );
    }
}

/// When folding runs.
#[derive(Clone, Copy, Debug)]
enum FoldAt {
    /// At a moment, in microseconds.
    Moment(i64),
    /// This long after a message: its minute has ended then, but maybe not its quarter, or its day.
    After(prop::sample::Index, i64),
}

impl FoldAt {
    fn moment(self, messages: &[Message]) -> Timestamp {
        Timestamp::from_micros(match self {
            Self::Moment(moment) => moment,
            Self::After(message, later) => message.get(messages).time() + later,
        })
    }
}

fn fold_at(end: i64) -> impl Strategy<Value = FoldAt> + Clone {
    let later = prop::sample::select(vec![MINUTE, QUARTER]);
    let after = (any::<prop::sample::Index>(), later);
    prop_oneof![
        2 => Just(FoldAt::Moment(end)),
        3 => after.prop_map(|(message, later)| FoldAt::After(message, later)),
    ]
}

/// What happens after a batch.
#[derive(Clone, Debug)]
struct Step {
    messages: Vec<Message>,
    /// When folding runs, if it does; then once or until nothing is left.
    fold: Option<(FoldAt, bool)>,
    /// Moments that are asked about.
    moments: Vec<i64>,
}

/// A building's days and what happens in them.
type Case = (Days, Vec<Step>);

fn case() -> impl Strategy<Value = Case> {
    prop_oneof![Just(Days::SPRING), Just(Days::AUTUMN)].prop_flat_map(|days| {
        let end = days.0[5] * SECOND;
        let steps = batches(days).prop_flat_map(move |batches| {
            let fold = prop::option::weighted(0.8, (fold_at(end), any::<bool>()));
            let moments = prop::collection::vec(moment(days), 1..4);
            let step = move |messages| {
                (fold.clone(), moments.clone()).prop_map(move |(fold, moments)| Step {
                    messages: Vec::clone(&messages),
                    fold,
                    moments,
                })
            };
            batches.into_iter().map(step).collect::<Vec<_>>()
        });
        (Just(days), steps)
    })
}

async fn check(store: &Store, (days, steps): Case) {
    let mut building = Building::new(store, days).await;
    for step in steps {
        building.ingest(&step.messages).await;
        check_reads(&building, &step.moments).await;
        if let Some((at, all)) = step.fold {
            let now = at.moment(&step.messages);
            while store.fold(now).await.unwrap() != store::Folded::default() && all {}
            check_reads(&building, &step.moments).await;
        }
    }
}

async fn check_reads(building: &Building, moments: &[i64]) {
    building.check_newest().await;
    for moment in moments {
        for interval in MinInterval::ALL {
            building.check_interval(interval, *moment).await;
            building.check_last_processed(interval, *moment).await;
        }
    }
}

/// Runs random cases on one database.
fn registers_read_what_the_records_say(edition: Edition, cases: u32) {
    let runtime = Runtime::new().unwrap();
    let store = runtime.block_on(async {
        let url = servers::fresh_database(edition).await;
        let store = Store::open(&url, 2).unwrap();
        store.migrate().await.unwrap();
        store
    });
    let config = Config {
        cases,
        max_shrink_iters: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&case(), |case| {
        runtime.block_on(check(&store, case));
        Ok(())
    });
    result.unwrap();
}

#[test]
fn registers_read_what_the_records_say_folded_or_not() {
    registers_read_what_the_records_say(Edition::Plain, 80);
}

#[test]
fn registers_read_what_the_records_say_with_timescaledb_too() {
    registers_read_what_the_records_say(Edition::Timescale, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_sample_that_begins_a_folded_minute_counts_at_once() {
    let url = servers::fresh_database(Edition::Plain).await;
    let store = Store::open(&url, 2).unwrap();
    store.migrate().await.unwrap();
    let mut building = Building::new(&store, Days::SPRING).await;
    let start = Days::SPRING.0[2] * SECOND;
    let sample = |second: i64| Message::Reading {
        time: start + second * SECOND,
        of: Meter::Socket,
        power_w: Some(1_000),
        register: None,
    };
    // 121 s later comes too late to hold; 119 s later, in the same minute, does not.
    building.ingest(&[sample(30), sample(151)]).await;
    let end = Timestamp::from_seconds(Days::SPRING.0[5]);
    while store.fold(end).await.unwrap() != store::Folded::default() {}
    building.ingest(&[sample(149)]).await;
    building.check_newest().await;
    building
        .check_interval(MinInterval::Minute, start + 120 * SECOND)
        .await;
    let found = store.newest_meter_readings(building.uuid, &building.metered);
    let counted = Read::Counted(90_000 * i128::from(SECOND));
    let expected = (Meter::Socket, start + 120 * SECOND, counted);
    assert_eq!(building.found(&found.await.unwrap()), [expected]);
}
