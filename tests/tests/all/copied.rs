//! Large batches are copied into the table, which refuses all of it when one record is known: nothing of that is seen.

use crate::records::now;
use crate::retention::fixture::{KEPT, at, incoming};
use domain::reading::Record;
use domain::record::{Battery, MainMeter, Solar, Status, TelemetryRecord};
use domain::time::Timestamp;
use serde_json::Value;
use sqlx::{Connection as _, PgConnection, PgPool, Row as _};
use std::time::Duration;
use store::{Batch, Ingested, Store};
use testkit::{Edition, eventually, servers};
use uuid::Uuid;

/// So many in a batch are copied.
const MANY: i32 = 600;
/// So many are inserted.
const FEW: usize = 60;

struct Database {
    store: Store,
    pool: PgPool,
    url: String,
}

impl Database {
    async fn new(edition: Edition, connections: u32) -> Self {
        let url = servers::fresh_database(edition).await;
        let store = Store::open(&url, connections).unwrap();
        store.migrate().await.unwrap();
        let pool = PgPool::connect(&url).await.unwrap();
        Self { store, pool, url }
    }

    async fn building(&self) -> Uuid {
        let building = Uuid::new_v4();
        sqlx::query("insert into building (uuid, name) values ($1, 'Depot')")
            .bind(building)
            .execute(&self.pool)
            .await
            .unwrap();
        building
    }

    /// What is stored of a building, but its name.
    async fn rows(&self, building: Uuid) -> Vec<Value> {
        let query = "select to_jsonb(kept) - 'building_uuid' from telemetry_record kept \
                     where building_uuid = $1 order by time";
        let rows = sqlx::query(query).bind(building).fetch_all(&self.pool);
        rows.await.unwrap().iter().map(|row| row.get(0)).collect()
    }
}

/// A record in which each value is there or not, and small, large or negative, by the bits of its number.
fn record(start: i64, number: i32) -> TelemetryRecord {
    let power = |place: i32| {
        let value = number.wrapping_mul(2_654_435).wrapping_add(place * 977);
        (value & 3 != 0).then_some(if value & 4 == 0 { value } else { value % 5_000 })
    };
    let status = [Status::Available, Status::Degraded, Status::Unavailable];
    let status = status[usize::try_from(number % 3).unwrap()];
    let time = at(start).micros() + i64::from(number) * 1_000_003;
    TelemetryRecord {
        time: Timestamp::from_micros(time),
        main_meter: (number & 1 == 0).then(|| MainMeter {
            status,
            active_power_w: power(1),
        }),
        battery: (number & 2 == 0).then(|| Battery {
            status,
            active_power_w: power(2),
            active_power_setpoint_w: power(3),
            baseline_power_w: power(4),
            soc_percent: power(5).map(|it| f64::from(it) / 7.0),
            charge_limit_w: power(6),
            remaining_charge_time_s: power(7),
            discharge_limit_w: power(8),
            remaining_discharge_time_s: power(9),
        }),
        solar: (number & 4 == 0).then(|| Solar {
            status,
            active_power_w: power(10),
            active_power_setpoint_w: power(11),
            rated_power_w: power(12),
            min_power_w: power(13),
            max_power_w: power(14),
            baseline_power_w: power(15),
        }),
    }
}

fn batch(building: Uuid, records: impl IntoIterator<Item = TelemetryRecord>) -> Batch {
    let records = records.into_iter();
    let received_at = |it: &TelemetryRecord| at(it.time.seconds() + 1);
    let records = records.map(|it| incoming(building, Record::Telemetry(it), received_at(&it)));
    Batch {
        records: records.collect(),
        ..Batch::default()
    }
}

async fn ingest(database: &Database, batch: &Batch) -> Ingested {
    // What goes to a partition that is made at this moment is tried again, as the writer does.
    loop {
        match database.store.ingest_whole(batch, KEPT).await {
            Err(failure) if failure.is_transient() => {}
            ingested => return ingested.unwrap(),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_is_the_same_whether_it_was_copied_or_inserted() {
    for edition in [Edition::Plain, Edition::Timescale] {
        let database = Database::new(edition, 2).await;
        let (copied, inserted) = (database.building().await, database.building().await);
        let start = now() - 7_200;
        let records: Vec<TelemetryRecord> = (0..MANY).map(|it| record(start, it)).collect();
        // The newest first: the order of arrival does not matter.
        let whole = batch(copied, records.iter().rev().copied());
        assert_eq!(ingest(&database, &whole).await.stored, 600);
        for some in records.chunks(FEW) {
            ingest(&database, &batch(inserted, some.iter().copied())).await;
        }
        let rows = database.rows(copied).await;
        assert_eq!(rows.len(), 600);
        assert_eq!(rows, database.rows(inserted).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn known_records_among_many_new_ones_change_nothing_and_are_counted() {
    for edition in [Edition::Plain, Edition::Timescale] {
        let database = Database::new(edition, 2).await;
        let building = database.building().await;
        let start = now() - 7_200;
        let first = batch(building, [record(start, 17), record(start, 18)]);
        assert_eq!(ingest(&database, &first).await.stored, 2);
        let before = database.rows(building).await;
        let mut all: Vec<TelemetryRecord> = (0..MANY).map(|it| record(start, it)).collect();
        // One of the two says something else now, and one that is new comes twice.
        all[18].solar = record(start, 1).solar;
        all.push(record(start, 300));
        let ingested = ingest(&database, &batch(building, all)).await;
        let counts = (ingested.stored, ingested.duplicates, ingested.conflicts);
        assert_eq!(counts, (598, 3, 1));
        let rows = database.rows(building).await;
        assert_eq!(rows.len(), 600);
        assert_eq!(rows[17..19], before);
        let again = ingest(
            &database,
            &batch(building, (0..MANY).map(|it| record(start, it))),
        )
        .await;
        assert_eq!((again.stored, again.duplicates), (0, 600));
        assert_eq!(database.rows(building).await, rows);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_was_given_up_halfway_leaves_no_connection_that_answers_the_wrong_question() {
    let database = Database::new(Edition::Plain, 1).await;
    let building = database.building().await;
    let start = now() - 7_200;
    // Somebody else is about to store one of the records: the copy waits to see whether that comes to pass.
    let mut other = PgConnection::connect(&database.url).await.unwrap();
    let mut stores = other.begin().await.unwrap();
    let one = "insert into telemetry_record (building_uuid, time, received_at) \
               values ($1, timestamptz 'epoch' + $2 * interval '1 microsecond', now())";
    sqlx::query(one)
        .bind(building)
        .bind(record(start, 400).time.micros())
        .execute(&mut *stores)
        .await
        .unwrap();
    let whole = batch(building, (0..MANY).map(|it| record(start, it)));
    let copies = database.store.ingest_whole(&whole, KEPT);
    let waits = async {
        let waiting = "select count(*) from pg_stat_activity \
                       where query like 'copy telemetry_record%' or query like '%copy telemetry_record%' \
                         and wait_event_type = 'Lock' and pid <> pg_backend_pid()";
        eventually(async || {
            let row = sqlx::query(waiting)
                .fetch_one(&database.pool)
                .await
                .unwrap();
            match row.get::<i64, _>(0) {
                0 => Err("no copy waits"),
                _ => Ok(()),
            }
        })
        .await;
    };
    tokio::select! {
        ingested = copies => panic!("{ingested:?}"),
        () = waits => {}
    }
    // Given up. The only connection is asked at once, while the server still works at the copy.
    let goes_on = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stores.rollback().await.unwrap();
    };
    let (asked, ()) = tokio::join!(database.store.ping(), goes_on);
    asked.unwrap();
    assert_eq!(ingest(&database, &whole).await.stored, 600);
    let again = ingest(&database, &whole).await;
    assert_eq!((again.stored, again.duplicates), (0, 600));
    assert_eq!(database.rows(building).await.len(), 600);
}
