//! The table.

use super::Report;
use crate::latency::Latency;
use crate::outage::Outage;
use crate::roles::PeakMemory;
use crate::run::Figures;
use crate::stored::Stored;
use crate::targets;
use benches::figures::verdict;

const NAME_WIDTH: usize = 34;

impl Report {
    /// The figures as people read them.
    pub(crate) fn text(&self) -> String {
        let mut table = Table::default();
        table.head(self);

        table.title("sustained");
        table.run(&self.sustained);
        let target = format!(
            "at least {:.0} stored/s for {:.0} s without loss",
            targets::RECORDS_PER_S,
            targets::SUSTAINED_S,
        );
        table.target(&target, self.is_sustained());
        table.costs(&self.sustained);

        table.title("from publish to readable over HTTP");
        table.latency(&self.latency);
        table.title("the fleet beside it");
        table.run(&self.latency_load);
        table.costs(&self.latency_load);

        table.title("peak resident memory");
        table.memory(&self.memory);

        if let Some(outage) = &self.outage {
            table.title("after an outage of the aggregator, with new records beside");
            table.outage(outage);
        }

        if let Some(maximum) = &self.maximum {
            table.title("as fast as possible, records of the past day");
            table.run(maximum);
            table.costs(maximum);
            table.title("peak resident memory after that");
            table.memory(self.memory_after_maximum.as_deref().unwrap_or_default());
        }
        table.0
    }
}

#[derive(Default)]
struct Table(String);

impl Table {
    fn title(&mut self, text: &str) {
        self.0.push_str(&format!("\n{text}\n"));
    }

    fn row(&mut self, name: &str, value: &str) {
        self.0.push_str(&format!("  {name:NAME_WIDTH$} {value}\n"));
    }

    fn target(&mut self, target: &str, reached: bool) {
        self.row("target", &format!("{target}: {}", verdict(reached)));
    }

    fn head(&mut self, report: &Report) {
        let machine = &report.machine;
        let gib = machine.memory_mib / 1024.0;
        let (cores, processor, database) = (machine.cores, &machine.processor, report.database);
        self.title(&format!(
            "{cores} cores ({processor}), {gib:.0} GiB; {database}, Kafka and Mosquitto on the same \
             machine, all durable"
        ));
        let (buildings, connections) = (report.buildings, report.connections);
        self.row(
            "fleet",
            &format!("{buildings} buildings, {connections} connections, quality of service 1"),
        );
    }

    fn run(&mut self, run: &Figures) {
        let (published, seconds, rate) = (run.published, run.published_s, run.published_per_s);
        self.row(
            "published",
            &format!("{published} in {seconds:.1} s: {rate:.0}/s"),
        );
        let confirmed = format!("{}, {} sent again", run.confirmed, run.repeated);
        self.row("confirmed by the broker", &confirmed);
        self.stored(&run.stored);
        self.row("stored per second", &format!("{:.0}", run.stored_per_s));
        let last = format!("{:.2} s", run.last_stored_after_s);
        self.row("last stored after last confirmed", &last);
        if let Some(waiting) = run.most_waiting {
            self.row("most on their way at once", &waiting.to_string());
        }
        let (again, reconnects) = (run.duplicates, run.bridge_reconnects);
        self.row(
            "arrived again",
            &format!("{again}, the bridge reconnected {reconnects} times"),
        );
        self.row("batches tried again", &run.retries.to_string());
        let lossless = run.is_lossless();
        let loss = ["RECORDS WERE LOST OR DOUBLED", "none"][usize::from(lossless)];
        self.row("loss", loss);
    }

    fn stored(&mut self, stored: &Stored) {
        let counts = format!(
            "{}: missing {}, doubled {}, unexpected {}",
            stored.records, stored.missing, stored.doubled, stored.unexpected
        );
        self.row("stored, counted by identity", &counts);
    }

    fn costs(&mut self, run: &Figures) {
        self.row("processor", "     CPU s   CPU s per million records");
        for cost in &run.costs {
            self.row(
                &format!("  {}", cost.process),
                &format!("{:10.2}   {:10.1}", cost.cpu_s, cost.cpu_s_per_million),
            );
        }
        let all: f64 = run.costs.iter().map(|cost| cost.cpu_s).sum();
        let per_million: f64 = run.costs.iter().map(|cost| cost.cpu_s_per_million).sum();
        self.row("  together", &format!("{all:10.2}   {per_million:10.1}"));
        self.row(
            "  others on this machine",
            &format!("{:10.2}", run.others_cpu_s),
        );
    }

    fn latency(&mut self, latency: &Latency) {
        self.row(
            "probes",
            &format!(
                "{}, never readable {}",
                latency.probes, latency.never_readable
            ),
        );
        let percentiles = [
            ("50th percentile", latency.p50_s),
            ("95th percentile", latency.p95_s),
            ("99th percentile", latency.p99_s),
            ("longest", latency.max_s),
        ];
        for (name, seconds) in percentiles {
            self.row(name, &format!("{seconds:.3} s"));
        }
        let target = format!("under {:.0} s at the 99th percentile", targets::READABLE_S);
        self.target(&target, latency.reached);
    }

    fn outage(&mut self, outage: &Outage) {
        let (seconds, rate) = (outage.seconds, outage.records_per_s);
        self.row("outage", &format!("{seconds} s at {rate} records/s"));
        self.stored(&outage.piled_up);
        let times = outage.times_real_time;
        let caught_up = format!("{:.1} s: {times:.1} times real time", outage.caught_up_s);
        self.row("all of it stored after", &caught_up);
        self.stored(&outage.arrived_meanwhile);
        self.latency(&outage.latency);
        let target = format!(
            "{:.0} times real time, what is new as above",
            targets::TIMES_REAL_TIME
        );
        self.target(&target, outage.reached);
    }

    fn memory(&mut self, memory: &[PeakMemory]) {
        for peak in memory {
            let target = targets::MEMORY_MB
                .iter()
                .find(|(name, _)| *name == peak.process);
            let target = target.map_or(0.0, |(_, mb)| *mb);
            self.row(
                peak.process,
                &format!(
                    "{:6.1} MB, target {target:.0} MB: {}",
                    peak.peak_mb,
                    verdict(Report::keeps_to_memory(peak)),
                ),
            );
        }
    }
}
