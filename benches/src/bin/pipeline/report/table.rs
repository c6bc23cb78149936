//! The table.

use super::Report;
use crate::latency::Latency;
use crate::roles::PeakMemory;
use crate::run::Figures;
use crate::targets::{self, verdict};

const NAME_WIDTH: usize = 34;

impl Report {
    /// The figures as people read them.
    pub(crate) fn text(&self) -> String {
        let mut table = Table::default();
        table.title(&format!(
            "{} cores ({}), {:.0} GiB; {}, Kafka and Mosquitto on the same machine, all durable",
            self.machine.cores,
            self.machine.processor,
            self.machine.memory_mib / 1024.0,
            self.database,
        ));
        table.row(
            "fleet",
            &format!(
                "{} buildings, {} connections, quality of service 1",
                self.buildings, self.connections
            ),
        );

        table.title("sustained");
        table.run(&self.sustained);
        table.row(
            "target",
            &format!(
                "at least {:.0} stored/s for {:.0} s without loss: {}",
                targets::RECORDS_PER_S,
                targets::SUSTAINED_S,
                verdict(self.is_sustained()),
            ),
        );
        table.costs(&self.sustained);

        table.title("from publish to readable over HTTP");
        table.latency(&self.latency);
        table.title("the fleet beside it");
        table.run(&self.latency_load);
        table.costs(&self.latency_load);

        table.title("peak resident memory");
        table.memory(&self.memory);

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

    fn run(&mut self, run: &Figures) {
        self.row(
            "published",
            &format!(
                "{} in {:.1} s: {:.0}/s",
                run.published, run.published_s, run.published_per_s
            ),
        );
        self.row(
            "confirmed by the broker",
            &format!("{}, {} sent again", run.confirmed, run.repeated),
        );
        let stored = run.stored;
        self.row(
            "stored, counted by identity",
            &format!(
                "{}: missing {}, doubled {}, unexpected {}",
                stored.records, stored.missing, stored.doubled, stored.unexpected
            ),
        );
        self.row("stored per second", &format!("{:.0}", run.stored_per_s));
        self.row(
            "last stored after last confirmed",
            &format!("{:.2} s", run.last_stored_after_s),
        );
        if let Some(waiting) = run.most_waiting {
            self.row("most on their way at once", &waiting.to_string());
        }
        self.row(
            "duplicates, retried batches",
            &format!("{}, {}", run.duplicates, run.retries),
        );
        let lossless = run.is_lossless();
        self.row(
            "loss",
            if lossless {
                "none"
            } else {
                "RECORDS WERE LOST OR DOUBLED"
            },
        );
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
        self.row(
            "target",
            &format!(
                "under {:.0} s at the 99th percentile: {}",
                targets::READABLE_S,
                verdict(latency.reached),
            ),
        );
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
