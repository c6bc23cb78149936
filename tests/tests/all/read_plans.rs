//! No read costs more for a longer history: on tables with a year of rows each statement goes through
//! an index to the few rows that it needs, also inside the database's functions.

use sqlx::{Connection, PgConnection, PgPool, Row};
use store::Store;
use testkit::{Edition, servers};
use uuid::Uuid;

/// Rows that a read may fetch: the quarters of a day, the minutes of a quarter, and some for each of
/// three series.
const ROWS: i64 = 3 * (96 + 15 + 20);

/// Some minutes of the year, the same for everybody: its last one, and one in its middle.
const MOMENTS: [&str; 2] = ["2025-12-31T23:55:00Z", "2025-06-30T23:55:00Z"];

macro_rules! statement {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../crates/store/src/queries/",
                $name,
                ".sql"
            )),
        )
    };
}

/// Every statement of a read with the types of its parameters, and what is given for those behind the
/// building; `MOMENT` is a moment of the year.
fn reads() -> Vec<((&'static str, &'static str), &'static str, &'static str)> {
    let minute = "'MOMENT', timestamptz 'MOMENT' + interval '1 minute'";
    let day = "date_trunc('day', timestamptz 'MOMENT'), timestamptz 'MOMENT'";
    let registers = "bigint[], bigint[]";
    let all = "timestamptz, timestamptz";
    let own_and_virtual = "'{1, 2, 3, 4, 5, 6}', '{0, 0, -1, -2, 7, null}'";
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    vec![
        (
            statement!("first_meter_readings"),
            leak(format!("{registers}, {all}")),
            leak(format!("{own_and_virtual}, {minute}")),
        ),
        (
            statement!("first_meter_readings"),
            leak(format!("{registers}, {all}")),
            leak(format!("{own_and_virtual}, {day}")),
        ),
        (
            statement!("newest_meter_readings"),
            registers,
            own_and_virtual,
        ),
        (
            statement!("newest_reading_before"),
            leak(format!("{registers}, timestamptz")),
            leak(format!("{own_and_virtual}, 'MOMENT'")),
        ),
        (statement!("latest_key_values"), "", ""),
        (
            statement!("quarter_means"),
            leak(format!("bigint, {all}")),
            leak(format!("6, {day}")),
        ),
        (statement!("sensors_and_samples"), "", ""),
        (statement!("sensors_and_timezone"), "", ""),
        (
            statement!("newest_minutes"),
            leak(format!("bigint[], {all}")),
            "'{0, -1, -2}', '-infinity', 'MOMENT'",
        ),
        (
            statement!("newest_common_minute"),
            leak(format!("bigint[], {all}")),
            "'{0, -1, -2}', '-infinity', 'MOMENT'",
        ),
    ]
}

/// A year of two buildings that measure every five minutes; $1 are the buildings.
const FILL: [&str; 15] = [
    "insert into building (uuid, name)
     select uuid, 'Depot' from unnest($1::uuid[]) as of (uuid)
     union all
     select gen_random_uuid(), 'Other' from generate_series(1, 2000)",
    "insert into sensor_hub (uuid, building_uuid, name, kind, position, origin)
     select uuid, uuid, '', '', 0, 'fleet' from building where $1::uuid[] is not null",
    "insert into sensor (sensor_uuid, building_uuid, hub_uuid, name, kind, min_interval, position, origin)
     select gen_random_uuid(), uuid, uuid, '', 'production', 'day', place, 'fleet'
     from building, generate_series(1, 3) place where $1::uuid[] is not null",
    "insert into minute_bucket (building_uuid, series, start, samples, positive_sum_w,
        negative_sum_w, first_at, last_at, last_power_w, covered_us, positive_energy_wus, negative_energy_wus)
     select uuid, series, start, 1, 1, 0, start, start, 1, 0, 0, 0
     from unnest($1::uuid[]) uuid, generate_series(-2, 0) series,
        generate_series(timestamptz '2025-01-01Z', '2025-12-31T23:55Z', interval '5 minutes') start",
    "insert into quarter_bucket (building_uuid, series, start, samples, positive_sum_w,
        negative_sum_w, first_at, last_at, last_power_w, covered_us, positive_energy_wus, negative_energy_wus)
     select uuid, series, start, 1, 1, 0, start, start, 1, 0, 0, 0
     from unnest($1::uuid[]) uuid, generate_series(-2, 0) series,
        generate_series(timestamptz '2025-01-01Z', '2025-12-31T23:45Z', interval '15 minutes') start",
    "insert into day_bucket (building_uuid, series, start, samples, first_at, last_at, last_power_w,
        covered_us, positive_energy_wus, negative_energy_wus, positive_total_wus, negative_total_wus)
     select uuid, series, start, 1, start, start, 1, 0, 0, 0, 0, 0
     from unnest($1::uuid[]) uuid, generate_series(-2, 0) series,
        generate_series(timestamptz '2025-01-01Z', '2025-12-31Z', interval '1 day') start",
    "insert into telemetry_record (building_uuid, time, received_at, main_meter_status,
        main_meter_active_power_w)
     select uuid, time, time, 0, 1
     from unnest($1::uuid[]) uuid,
        generate_series(timestamptz '2025-01-01Z', '2025-12-31T23:55Z', interval '5 minutes') time",
    "insert into sensor_reading (building_uuid, time, sensor_id, received_at, power_w, meter_reading, value)
     select uuid, time, sensor_id, time, 5, 5, 5
     from unnest($1::uuid[]) uuid, unnest(array[5, 6]) sensor_id,
        generate_series(timestamptz '2025-01-01Z', '2025-12-31T23:55Z', interval '5 minutes') time",
    "insert into register_reading (building_uuid, sensor_id, time, reading)
     select uuid, sensor_id, time, 5
     from unnest($1::uuid[]) uuid, unnest(array[5, 6]) sensor_id,
        generate_series(timestamptz '2025-01-01Z', '2025-12-31T23:55Z', interval '5 minutes') time",
    "insert into value_quarter (building_uuid, sensor_id, start, samples, mean)
     select uuid, 6, start, 1, 5
     from unnest($1::uuid[]) uuid,
        generate_series(timestamptz '2025-01-01Z', '2025-12-31T23:45Z', interval '15 minutes') start",
    "insert into key_value (building_uuid, key_sha256, time, received_at, key, value)
     select uuid, 'x', time, time, 'x', '1'
     from unnest($1::uuid[]) uuid,
        generate_series(timestamptz '2025-01-01Z', '2025-12-31T23:55Z', interval '15 minutes') time",
    "insert into latest_key_value (building_uuid, key_sha256, time, key, value)
     select uuid, 'x'::bytea, timestamptz '2025-12-31Z', 'x', '1'::jsonb from unnest($1::uuid[]) uuid
     union all
     select gen_random_uuid(), 'x', '2025-12-31Z', 'x', '1' from generate_series(1, 2000)",
    "insert into latest_sample (building_uuid, series, time, power_w)
     select uuid, series, timestamptz '2025-12-31T23:55Z', 1
     from unnest($1::uuid[]) uuid, generate_series(-2, 0) series
     union all
     select gen_random_uuid(), 0, '2025-12-31Z', 1 from generate_series(1, 2000)",
    // The newest minute of each building is marked; others have many marks.
    "insert into touched_minute (building_uuid, start)
     select uuid, timestamptz '2025-12-31T23:55Z' from unnest($1::uuid[]) uuid
     union all
     select gen_random_uuid(), timestamptz '2025-12-31Z' from generate_series(1, 2000)",
    "insert into touched_day (building_uuid, start)
     select building_uuid, date_bin('1 day', start, 'epoch') from touched_minute",
];

async fn a_year() -> (String, Uuid) {
    let url = servers::fresh_database(Edition::Plain).await;
    Store::open(&url, 1).unwrap().migrate().await.unwrap();
    let pool = PgPool::connect(&url).await.unwrap();
    let building = Uuid::new_v4();
    for insert in FILL {
        sqlx::query(insert)
            .bind(vec![building, Uuid::new_v4()])
            .execute(&pool)
            .await
            .unwrap();
    }
    let marks = "insert into touched_quarter (building_uuid, start)
        select building_uuid, date_bin('15 minutes', start, 'epoch') from touched_minute";
    sqlx::query(marks).execute(&pool).await.unwrap();
    sqlx::query("analyze").execute(&pool).await.unwrap();
    (url, building)
}

/// Tables that statements scanned as a whole, and the rows that they fetched through indexes: as
/// counted by a connection that does nothing else.
async fn work(url: &str, statements: &[String]) -> (Vec<String>, i64) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let mut transaction = connection.begin().await.unwrap();
    let asked = "select relname::text as name, coalesce(seq_scan, 0) > 0 as scanned,
        coalesce(idx_tup_fetch, 0) as fetched from pg_stat_xact_user_tables";
    let counted = |rows: Vec<sqlx::postgres::PgRow>| -> (Vec<String>, i64) {
        let scanned = rows.iter().filter(|row| row.get("scanned"));
        let fetched = rows.iter().map(|row| row.get::<i64, _>("fetched")).sum();
        (scanned.map(|row| row.get("name")).collect(), fetched)
    };
    for statement in statements {
        sqlx::raw_sql(statement)
            .execute(&mut *transaction)
            .await
            .unwrap();
    }
    let rows = sqlx::query(asked).fetch_all(&mut *transaction).await;
    transaction.rollback().await.unwrap();
    connection.close().await.unwrap();
    counted(rows.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_takes_few_rows_of_a_year_and_those_from_indexes() {
    let (url, building) = a_year().await;
    let mut fetched_at_all = 0;
    for plan in ["force_custom_plan", "force_generic_plan"] {
        for ((name, statement), types, values) in reads() {
            for moment in MOMENTS {
                let comma = if types.is_empty() { "" } else { ", " };
                let values = values.replace("MOMENT", moment);
                let statements = [
                    format!("set local plan_cache_mode = {plan}"),
                    format!("prepare read (uuid{comma}{types}) as {statement}"),
                    format!("execute read ('{building}'{comma}{values})"),
                ];
                let (scanned, fetched) = work(&url, &statements).await;
                assert_eq!(scanned, Vec::<String>::new(), "{name} at {moment}, {plan}");
                assert!(
                    fetched <= ROWS,
                    "{name} at {moment}, {plan}: {fetched} rows"
                );
                fetched_at_all += fetched;
            }
        }
    }
    assert!(fetched_at_all > 1_000, "the reads found what they are for");
}
