//! Every message ends in exactly one place, and the counters say so at every moment.

use crate::WATTLINE;
use crate::reported::{insert_action, send_of_every_fate};
use domain::rejection::Reason;
use ops::metrics::Counter;
use simulator::{Config, Fleet, Limit, Pace, Scenario, Shares, Topics};
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::{Mode, World, eventually};
use tokio_util::sync::CancellationToken;

type Scrape = BTreeMap<String, f64>;

fn all_reasons(scrape: &Scrape, series: &str) -> f64 {
    scrape
        .iter()
        .filter(|(name, _)| name.starts_with(series))
        .map(|(_, value)| value)
        .sum()
}

/// Both equations of `operations.md`; answers with what came in and what has an end.
fn balance(scrape: &Scrape) -> (f64, f64) {
    let of = |role: &str, noun: &str| scrape[&format!("wattline_{role}_{noun}")];
    let received = of("bridge", "received_messages_total");
    let bridge = of("bridge", "forwarded_messages_total")
        + all_reasons(scrape, "wattline_bridge_dead_lettered_messages_total")
        + of("bridge", "abandoned_messages_total")
        + of("bridge", "in_flight_messages");
    assert_eq!(received, bridge, "{scrape:?}");
    let consumed = of("aggregator", "consumed_messages_total");
    let aggregator = of("aggregator", "stored_messages_total")
        + of("aggregator", "duplicate_messages_total")
        + all_reasons(scrape, "wattline_aggregator_dead_lettered_messages_total");
    assert_eq!(consumed, aggregator, "{scrape:?}");
    assert!(consumed <= received);
    (received, consumed)
}

async fn balances_at_every_scrape(mode: Mode) {
    const BUILDINGS: usize = 20;
    const REPORTS: i64 = 100;
    let world = World::new(WATTLINE, mode).await;
    let mut scenario = Scenario::new(5, BUILDINGS, Duration::from_secs(1));
    scenario.limit = Limit::Records(20_000);
    scenario.topics = Topics::All;
    scenario.late_delay = Duration::from_secs(60);
    scenario.shares = Shares {
        duplicates: 0.1,
        late: 0.1,
        invalid: 0.1,
        gaps: 0.1,
    };
    let fleet = Fleet::new(scenario.seed, BUILDINGS);
    world.apply_fleet(&fleet.fleet_file("x"));
    let building = fleet.buildings()[0].uuid;
    let action = insert_action(&world, building).await;
    let serve = world.serve().await;

    let begin = crate::records::now() - 10_000;
    let start = domain::time::Timestamp::from_seconds(begin);
    let mut config = Config::new(world.mosquitto().url(), scenario);
    config.pace = Pace::AsFastAsPossible { start };
    let clock = ops::clock::Clock::system();
    let fleet = simulator::run(config, move || clock.now_micros(), CancellationToken::new());
    let scraping = async {
        let mut scrapes = 0;
        eventually(async || {
            scrapes += 1;
            let (received, consumed) = balance(&serve.metrics().await);
            if consumed > 10_000.0 {
                Ok(())
            } else {
                Err((received, consumed))
            }
        })
        .await;
        scrapes
    };
    let controller = world.controller();
    let reporting = send_of_every_fate(&controller, building, action, begin, REPORTS);
    let (summary, scrapes, ()) = tokio::join!(fleet, scraping, reporting);
    let summary = summary.unwrap();
    assert!(scrapes > 1, "it was looked at on the way");

    #[expect(clippy::cast_precision_loss, reason = "some thousand records")]
    let (reports, published, valid, duplicates) = (
        REPORTS as f64,
        summary.published() as f64,
        summary.total().valid() as f64,
        summary.total().duplicates as f64,
    );
    let scrape = eventually(async || {
        let scrape = serve.metrics().await;
        let (received, consumed) = balance(&scrape);
        let refused = all_reasons(&scrape, "wattline_bridge_dead_lettered_messages_total");
        if received == published + 5.0 * reports && consumed == received - refused {
            Ok(scrape)
        } else {
            Err(scrape)
        }
    })
    .await;
    let of = |noun: &str| scrape[&format!("wattline_aggregator_{noun}")];
    assert_eq!(of("stored_messages_total"), valid + reports);
    assert_eq!(of("duplicate_messages_total"), duplicates + 2.0 * reports);
    assert_eq!(of("conflict_messages_total"), reports);
    let unknown = "dead_lettered_messages_total{reason=\"unknown_action\"}";
    assert_eq!(of(unknown), reports);
    assert_eq!(scrape["wattline_bridge_in_flight_messages"], 0.0);
    eventually(async || {
        let imported = serve
            .metric("wattline_aggregator_imported_dead_letters_total")
            .await;
        let refused = published - valid - duplicates + reports;
        if imported == refused {
            Ok(())
        } else {
            Err((imported, refused))
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counters_balance_at_every_scrape() {
    balances_at_every_scrape(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counters_balance_at_every_scrape_in_direct_mode() {
    balances_at_every_scrape(Mode::Direct).await;
}

#[test]
fn every_reason_has_its_series() {
    let reasons = Reason::ALL.map(Reason::as_str);
    for counter in [
        Counter::BridgeDeadLetteredMessages,
        Counter::AggregatorDeadLetteredMessages,
    ] {
        let label = counter.row().label.unwrap();
        assert_eq!((label.key, label.values), ("reason", reasons.as_slice()));
    }
}
