//! A line every few seconds: what came in and what became of it.

use crate::failure::Failure;
use crate::output;
use ops::metrics::Metrics;
use ops::shutdown::Shutdown;
use std::time::Duration;

/// Pause between two lines.
const PAUSE: Duration = Duration::from_secs(5);

/// Tells until told to stop.
pub(super) async fn tell(metrics: &Metrics, shutdown: &Shutdown) -> Result<(), Failure> {
    loop {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = shutdown.requested() => return Ok(()),
        }
        output::line(&line(&metrics.render()))?;
    }
}

fn line(scrape: &str) -> String {
    let sum = |name: &str| -> f64 {
        scrape
            .lines()
            .filter_map(|line| line.rsplit_once(' '))
            .filter(|(series, _)| series.split('{').next() == Some(name))
            .filter_map(|(_, value)| value.parse::<f64>().ok())
            // Not `sum`, whose zero is −0.
            .fold(0.0, |sum, value| sum + value)
    };
    format!(
        "received {}   stored {}   duplicate {}   refused {}   in flight {}",
        sum("wattline_bridge_received_messages_total"),
        sum("wattline_aggregator_stored_messages_total"),
        sum("wattline_aggregator_duplicate_messages_total"),
        sum("wattline_bridge_dead_lettered_messages_total")
            + sum("wattline_aggregator_dead_lettered_messages_total"),
        sum("wattline_bridge_in_flight_messages"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labelled_series_are_added_up() {
        let scrape = "# HELP x y\n\
            wattline_bridge_received_messages_total 7\n\
            wattline_bridge_dead_lettered_messages_total{reason=\"schema\"} 2\n\
            wattline_bridge_dead_lettered_messages_total{reason=\"not_json\"} 1\n";
        assert_eq!(
            line(scrape),
            "received 7   stored 0   duplicate 0   refused 3   in flight 0"
        );
    }
}
