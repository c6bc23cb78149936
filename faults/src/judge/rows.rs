//! What is in the database, in the ledger's words.

use crate::Outcome;
use crate::arena::Arena;
use crate::ledger::{Fact, FactKind, Identity, Micros};
use crate::oracle::{Bucket, Day, Series};
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row as _};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use uuid::Uuid;

/// What is so far ahead of its receipt is still taken.
const FUTURE_TOLERANCE: Micros = 5 * 60 * 1_000_000;

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) identities: BTreeSet<Identity>,
    /// How often a message is among the dead letters.
    pub(super) refused: BTreeMap<Identity, u32>,
    /// Dead letters that are none of ours, in words.
    pub(super) strangers: Vec<String>,
    pub(super) kept: Kept,
}

/// What is made of the records.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) minutes: BTreeMap<(Series, Micros), Bucket>,
    pub(super) quarters: BTreeMap<(Series, Micros), Bucket>,
    pub(super) days: BTreeMap<(Series, Micros), Day>,
    pub(super) latest: BTreeMap<Series, (Micros, i64)>,
    pub(super) registers: BTreeMap<(usize, Micros), f64>,
    pub(super) key_values: BTreeMap<usize, (Micros, i64)>,
}

struct Reader {
    pool: PgPool,
    numbers: HashMap<Uuid, usize>,
}

pub(super) async fn read(arena: &Arena) -> Outcome<Stored> {
    let reader = Reader {
        pool: PgPool::connect(&arena.database_url()).await?,
        numbers: arena
            .buildings
            .iter()
            .map(|it| (it.uuid, it.number))
            .collect(),
    };
    let mut stored = Stored::default();
    let tables = [
        ("telemetry_record", FactKind::Telemetry),
        ("sensor_reading", FactKind::Register),
        ("key_value", FactKind::KeyValue),
    ];
    for (table, kind) in tables {
        let all = format!(
            "select building_uuid, {} as at from {table}",
            micros("time")
        );
        for row in reader.all(&all).await? {
            let (building, at) = (reader.building(&row)?, row.try_get("at")?);
            stored.identities.insert(Identity { building, kind, at });
        }
    }
    reader.dead_letters(&mut stored).await?;
    stored.kept = reader.kept().await?;
    reader.pool.close().await;
    Ok(stored)
}

fn micros(column: &str) -> String {
    format!("(extract(epoch from {column}) * 1000000)::bigint")
}

impl Reader {
    async fn all(&self, query: &str) -> Outcome<Vec<PgRow>> {
        Ok(sqlx::query(query).fetch_all(&self.pool).await?)
    }

    fn building(&self, row: &PgRow) -> Outcome<usize> {
        let uuid: Uuid = row.try_get("building_uuid")?;
        Ok(*self
            .numbers
            .get(&uuid)
            .ok_or("a building that is none of the fleet")?)
    }

    fn series(&self, row: &PgRow) -> Outcome<Series> {
        let series: i64 = row.try_get("series")?;
        Ok((self.building(row)?, usize::try_from(-series)?))
    }

    async fn dead_letters(&self, stored: &mut Stored) -> Outcome<()> {
        let all = format!(
            "select building_uuid, reason, source, payload, {} as received_at from dead_letter",
            micros("received_at")
        );
        for row in self.all(&all).await? {
            let (reason, payload): (String, Vec<u8>) =
                (row.try_get("reason")?, row.try_get("payload")?);
            let building = self.building(&row)?;
            let identity = if reason == "time_in_future" {
                // By the clock of its receipt it must have been, else it is nobody's.
                let earliest = row.try_get::<Micros, _>("received_at")? + FUTURE_TOLERANCE;
                valid(building, &row.try_get::<String, _>("source")?, &payload)
                    .filter(|it| it.at > earliest)
            } else {
                let number = Fact::invalid_number(&payload);
                number.map(|at| Identity {
                    building,
                    kind: FactKind::Invalid,
                    at,
                })
            };
            match identity {
                Some(identity) => *stored.refused.entry(identity).or_default() += 1,
                None => stored
                    .strangers
                    .push(format!("{reason}: {}", String::from_utf8_lossy(&payload))),
            }
        }
        Ok(())
    }

    async fn kept(&self) -> Outcome<Kept> {
        Ok(Kept {
            minutes: self.buckets("minute_bucket").await?,
            quarters: self.buckets("quarter_bucket").await?,
            days: self.days().await?,
            latest: self.latest().await?,
            registers: self.registers().await?,
            key_values: self.key_values().await?,
        })
    }

    async fn buckets(&self, table: &str) -> Outcome<BTreeMap<(Series, Micros), Bucket>> {
        let all = format!(
            "select building_uuid, series, {} as at, samples::bigint, positive_sum_w, negative_sum_w, \
             {} as first_at, {} as last_at, last_power_w::bigint, covered_us, \
             positive_energy_wus::text as positive, negative_energy_wus::text as negative from {table}",
            micros("start"),
            micros("first_at"),
            micros("last_at"),
        );
        let mut buckets = BTreeMap::new();
        for row in self.all(&all).await? {
            let bucket = Bucket {
                samples: row.try_get("samples")?,
                positive_sum_w: row.try_get("positive_sum_w")?,
                negative_sum_w: row.try_get("negative_sum_w")?,
                first_at: row.try_get("first_at")?,
                last_at: row.try_get("last_at")?,
                last_power_w: row.try_get("last_power_w")?,
                covered_us: row.try_get("covered_us")?,
                positive_energy_wus: row.try_get::<String, _>("positive")?.parse()?,
                negative_energy_wus: row.try_get::<String, _>("negative")?.parse()?,
            };
            buckets.insert((self.series(&row)?, row.try_get("at")?), bucket);
        }
        Ok(buckets)
    }

    async fn days(&self) -> Outcome<BTreeMap<(Series, Micros), Day>> {
        let all = format!(
            "select building_uuid, series, {} as at, samples, \
             trunc(positive_total_wus)::text as positive, trunc(negative_total_wus)::text as negative \
             from day_bucket",
            micros("start"),
        );
        let mut days = BTreeMap::new();
        for row in self.all(&all).await? {
            let day = Day {
                samples: row.try_get("samples")?,
                positive_total_wus: row.try_get::<String, _>("positive")?.parse()?,
                negative_total_wus: row.try_get::<String, _>("negative")?.parse()?,
            };
            days.insert((self.series(&row)?, row.try_get("at")?), day);
        }
        Ok(days)
    }

    async fn latest(&self) -> Outcome<BTreeMap<Series, (Micros, i64)>> {
        let all = format!(
            "select building_uuid, series, {} as at, power_w::bigint from latest_sample",
            micros("time"),
        );
        let rows = self.all(&all).await?;
        rows.iter()
            .map(|row| {
                Ok((
                    self.series(row)?,
                    (row.try_get("at")?, row.try_get("power_w")?),
                ))
            })
            .collect()
    }

    async fn registers(&self) -> Outcome<BTreeMap<(usize, Micros), f64>> {
        let all = format!(
            "select building_uuid, {} as at, reading from register_reading",
            micros("time"),
        );
        let rows = self.all(&all).await?;
        rows.iter()
            .map(|row| {
                Ok((
                    (self.building(row)?, row.try_get("at")?),
                    row.try_get("reading")?,
                ))
            })
            .collect()
    }

    async fn key_values(&self) -> Outcome<BTreeMap<usize, (Micros, i64)>> {
        let all = format!(
            "select building_uuid, {} as at, (value #>> '{{}}')::bigint as value from latest_key_value",
            micros("time"),
        );
        let rows = self.all(&all).await?;
        rows.iter()
            .map(|row| {
                Ok((
                    self.building(row)?,
                    (row.try_get("at")?, row.try_get("value")?),
                ))
            })
            .collect()
    }
}

/// A message of ours that was refused for its time alone.
fn valid(building: usize, source: &str, payload: &[u8]) -> Option<Identity> {
    let kind = match source.rsplit_once('/')?.1 {
        "telemetry" => FactKind::Telemetry,
        "readings" => FactKind::Register,
        "keyvalues" => FactKind::KeyValue,
        _ => return None,
    };
    let record: serde_json::Value = serde_json::from_slice(payload).ok()?;
    let at = domain::time::Timestamp::from_record_time(record.get("time")?.as_f64()?).micros();
    Some(Identity { building, kind, at })
}
