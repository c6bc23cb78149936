//! What a record costs the database with a little and with much stored already: batches as the aggregator makes them of a
//! backlog, stored and folded, on a private PostgreSQL that writes to the disk before it confirms.
#![expect(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "figures are for people"
)]

use benches::Outcome;
use benches::cost::Machine;
use benches::figures::keep;
use benches::files::Files;
use clap::Parser as _;
use domain::reading::Record;
use domain::record::{Battery, MainMeter, Solar, Status, TelemetryRecord};
use domain::time::Timestamp;
use embedded::{Edition, Postgres, PostgresOptions};
use serde::Serialize;
use serde_json::json;
use sqlx::{PgPool, Row as _};
use std::time::Duration;
use store::{Batch, Folded, Incoming, Letter, Store};
use uuid::Uuid;

const BUILDINGS: i64 = 1_000;
/// Of each building in a batch, a second each.
const RECORDS_EACH: i64 = 30;
/// Buildings of a batch.
const AT_ONCE: usize = 150;
const RETENTION: Duration = Duration::from_secs(30 * 86_400);
/// Stored between two statements.
const LOADED_AT_ONCE: i64 = 2_000;

/// Measures what a record costs the database, with so many stored already.
#[derive(Debug, clap::Parser)]
struct Options {
    /// How many are stored before each measurement, ascending.
    #[arg(long, value_delimiter = ',', default_value = "1000000,100000000")]
    stored: Vec<i64>,
    /// Measured records of each building: whole minutes.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(i64).range(60..=36_000))]
    seconds: i64,
    /// Takes PostgreSQL without TimescaleDB.
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    files: Files,
}

/// What was measured with so many stored.
#[derive(Debug, Serialize)]
struct Measured {
    stored_before: i64,
    records: u64,
    records_per_s: f64,
    /// Of PostgreSQL with all its processes, for a million records.
    database_cpu_s_per_million: f64,
    /// Of the calling process: sorting, encoding, waiting.
    store_cpu_s_per_million: f64,
    wal_bytes_per_record: f64,
}

struct Site {
    store: Store,
    pool: PgPool,
    machine: Machine,
    buildings: Vec<Uuid>,
    /// Up to here everything is stored, epoch seconds.
    until: i64,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::parse();
    let folder = embedded::temporary_folder()?;
    let edition = if options.plain {
        Edition::Plain
    } else {
        Edition::Timescale
    };
    let postgres = Postgres::start(&PostgresOptions::new(
        folder.path().join("postgres"),
        edition,
    ))?;
    postgres.create_database("wattline")?;
    let mut site = Site::new(&postgres, &options).await?;
    let mut measured = Vec::new();
    let mut stored = 0;
    for wanted in options.stored {
        let missing = (wanted - stored) / BUILDINGS;
        println!("{wanted} stored:");
        site.load(missing).await?;
        let figures = site
            .measure(stored + missing * BUILDINGS, options.seconds)
            .await?;
        stored = figures.stored_before + i64::try_from(figures.records)?;
        println!(
            "  PostgreSQL {:.2}, we {:.2} processor seconds per million; {:.0} records/s; {:.0} bytes of WAL a record",
            figures.database_cpu_s_per_million,
            figures.store_cpu_s_per_million,
            figures.records_per_s,
            figures.wal_bytes_per_record,
        );
        measured.push(figures);
    }
    keep(&json!({ "history": measured }), &options.files.json()?)?;
    site.store.close().await;
    Ok(())
}

impl Site {
    async fn new(postgres: &Postgres, options: &Options) -> Outcome<Self> {
        let url = postgres.url("wattline");
        let store = Store::open(&url, 4)?;
        store.migrate().await?;
        let pool = PgPool::connect(&url).await?;
        let made = "insert into building (uuid, name) \
                    select gen_random_uuid(), 'Depot' from generate_series(1, $1) returning uuid";
        let made = sqlx::query(made).bind(BUILDINGS).fetch_all(&pool).await?;
        let mut buildings = Vec::new();
        for row in made {
            buildings.push(row.try_get("uuid")?);
        }
        let most = options.stored.iter().max().copied().unwrap_or_default();
        let seconds = most / BUILDINGS + 2 * options.seconds * 2;
        let now: i64 = sqlx::query("select extract(epoch from now())::bigint")
            .fetch_one(&pool)
            .await?
            .try_get(0)?;
        Ok(Self {
            store,
            pool,
            machine: Machine::new(vec![("postgresql", postgres.id())]),
            buildings,
            // Whole quarters, so that every run folds the same.
            until: (now - seconds).div_euclid(900) * 900,
        })
    }

    /// Puts in a record a second of each building, for so many seconds, as rows that nobody folds.
    async fn load(&mut self, seconds: i64) -> Outcome<()> {
        let end = self.until + seconds.div_euclid(900) * 900;
        let rows = "insert into telemetry_record \
                        (building_uuid, time, received_at, main_meter_status, main_meter_active_power_w) \
                    select uuid, to_timestamp(second), to_timestamp(second), 0, second % 5000 \
                    from generate_series($1, $2 - 1) second, building";
        while self.until < end {
            let until = end.min(self.until + LOADED_AT_ONCE);
            sqlx::query(rows)
                .bind(self.until)
                .bind(until)
                .execute(&self.pool)
                .await?;
            self.until = until;
        }
        sqlx::query("vacuum (analyze) telemetry_record")
            .execute(&self.pool)
            .await?;
        sqlx::query("checkpoint").execute(&self.pool).await?;
        Ok(())
    }

    /// Stores and folds as many seconds of all buildings twice, and measures the second time.
    async fn measure(&mut self, stored_before: i64, seconds: i64) -> Outcome<Measured> {
        self.run(seconds).await?;
        let (wal, spent) = (self.wal().await?, self.machine.spent()?);
        let begun = std::time::Instant::now();
        let records = self.run(seconds).await?;
        let took = begun.elapsed().as_secs_f64();
        let (costs, _) = self.machine.spent()?.since(&spent, records);
        let cost = |name: &str| {
            let cost = costs.iter().find(|it| it.process == name);
            cost.map_or(0.0, |it| it.cpu_s_per_million)
        };
        Ok(Measured {
            stored_before,
            records,
            records_per_s: records as f64 / took,
            database_cpu_s_per_million: cost("postgresql"),
            store_cpu_s_per_million: cost("load"),
            wal_bytes_per_record: (self.wal().await? - wal) / records as f64,
        })
    }

    async fn run(&mut self, seconds: i64) -> Outcome<u64> {
        let mut records = 0;
        let end = self.until + seconds;
        while self.until < end {
            for some in self.buildings.chunks(AT_ONCE) {
                let batch = batch(some, self.until);
                records += self.store.ingest_whole(&batch, RETENTION).await?.stored;
            }
            self.until += RECORDS_EACH;
            if self.until % 60 == 0 {
                let now = Timestamp::from_seconds(self.until);
                while self.store.fold(now).await? != Folded::default() {}
            }
        }
        Ok(records)
    }

    async fn wal(&self) -> Outcome<f64> {
        let bytes = "select (pg_current_wal_lsn() - '0/0')::float8";
        Ok(sqlx::query(bytes).fetch_one(&self.pool).await?.try_get(0)?)
    }
}

fn batch(buildings: &[Uuid], start: i64) -> Batch {
    let seconds = start..start + RECORDS_EACH;
    let records = seconds.flat_map(|second| buildings.iter().map(move |it| incoming(*it, second)));
    Batch {
        records: records.collect(),
        ..Batch::default()
    }
}

/// A record with all that a record can have.
fn incoming(building: Uuid, second: i64) -> Incoming {
    let time = Timestamp::from_seconds(second);
    let number = i32::try_from(second % 5_000).unwrap_or_default();
    let (value, status) = (Some(number), Status::Available);
    let record = TelemetryRecord {
        time,
        main_meter: Some(MainMeter {
            status,
            active_power_w: value,
        }),
        battery: Some(Battery {
            status,
            active_power_w: Some(-number),
            active_power_setpoint_w: value,
            baseline_power_w: value,
            soc_percent: Some(f64::from(number % 100)),
            charge_limit_w: value,
            remaining_charge_time_s: value,
            discharge_limit_w: value,
            remaining_discharge_time_s: value,
        }),
        solar: Some(Solar {
            status,
            active_power_w: Some(-number),
            active_power_setpoint_w: value,
            rated_power_w: value,
            min_power_w: Some(0),
            max_power_w: value,
            baseline_power_w: value,
        }),
    };
    Incoming {
        building,
        record: Record::Telemetry(record),
        letter: Letter {
            building: Some(building),
            source: format!("v1/buildings/{building}/telemetry"),
            received_at: time,
            traceparent: None,
            redelivered: false,
            payload: Vec::new(),
            kept_as: None,
        },
    }
}
