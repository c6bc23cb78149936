//! A database of an earlier release is brought up to date with its data.

use domain::time::Timestamp;
use sqlx::migrate::Migrator;
use sqlx::{PgPool, Row};
use std::path::Path;
use store::{Folded, Store};
use testkit::{Edition, servers};
use uuid::Uuid;

/// Two quarters of one building, as the first release folded them: a sample a minute of each section.
const EARLIER_DATA: &str = "
    insert into building (uuid, name) values ('00000000-0000-4000-8000-00000000000a', 'Depot');
    insert into latest_sample
    select '00000000-0000-4000-8000-00000000000a', section, '2026-01-01 00:29:00Z', 60
    from generate_series(0, 2) section;
    insert into quarter_bucket (building_uuid, section, start, samples, positive_sum_w, negative_sum_w,
        first_at, last_at, last_power_w, covered_us, positive_energy_wus, negative_energy_wus)
    select '00000000-0000-4000-8000-00000000000a', section, start, 15, 900, 0,
           start, start + interval '14 minutes', 60, 840000000, 60 * 840000000::bigint, 0
    from generate_series(0, 2) section,
         generate_series('2026-01-01 00:00Z', '2026-01-01 00:15Z', interval '15 minutes') start";

async fn an_earlier_release_is_brought_up_to_date(edition: Edition) {
    let url = servers::fresh_database(edition).await;
    let pool = PgPool::connect(&url).await.unwrap();
    let first =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/store/migrations/0001_initial.sql");
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(&first, folder.path().join("0001_initial.sql")).unwrap();
    let earlier = Migrator::new(folder.path()).await.unwrap();
    earlier.run(&pool).await.unwrap();
    sqlx::raw_sql(EARLIER_DATA).execute(&pool).await.unwrap();

    let store = Store::open(&url, 2).unwrap();
    store.migrate().await.unwrap();
    let now = Timestamp::from_seconds(1_767_398_400);
    while store.fold(now).await.unwrap() != Folded::default() {}

    let series = "select series from latest_sample order by series";
    let series = sqlx::query(series).fetch_all(&pool).await.unwrap();
    let series: Vec<i64> = series.iter().map(|row| row.get(0)).collect();
    assert_eq!(series, [-2, -1, 0]);
    // Half an hour less a minute at 60 W: the minute between the quarters is counted.
    let register = "select positive_wus::bigint from register_before($1, -1, \
        '2026-01-02 00:00Z', '2026-01-02 00:00Z')";
    let building: Uuid = "00000000-0000-4000-8000-00000000000a".parse().unwrap();
    let counted: i64 = sqlx::query(register)
        .bind(building)
        .fetch_one(&pool)
        .await
        .unwrap()
        .get(0);
    assert_eq!(counted, 60 * 29 * 60 * 1_000_000);

    // It has a control state, which is looked at and published.
    assert_eq!(store.execute_due(now).await.unwrap().buildings, 1);
    let publishing = store.begin_publishing(256, now).await.unwrap().unwrap();
    let [publication] = publishing.publications() else {
        panic!("{publishing:?}");
    };
    assert_eq!((publication.building, publication.revision), (building, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_release_is_brought_up_to_date_on_postgresql() {
    an_earlier_release_is_brought_up_to_date(Edition::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_release_is_brought_up_to_date_on_timescaledb() {
    an_earlier_release_is_brought_up_to_date(Edition::Timescale).await;
}
