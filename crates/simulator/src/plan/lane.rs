//! One building's way through the plan.

use super::reports::Reports;
use super::{Kind, Made, Publication, delay};
use crate::controller::Controller;
use crate::fault::Fault;
use crate::fleet::{Building, fates};
use crate::obedience::{Answer, Obedience, Report};
use crate::orders::Orders;
use crate::payload::{encode, time_text};
use crate::scenario::{Answers, Fate, Scenario, Topics};
use bytes::Bytes;
use domain::record::TelemetryRecord;
use domain::time::Timestamp;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use tracing::warn;
use uuid::Uuid;
use wire::topic::{MqttTopic, RecordKind};

#[derive(Debug)]
pub(super) struct Lane {
    /// The building's number in the whole fleet.
    pub(super) index: u64,
    pub(super) uuid: Uuid,
    topic: Arc<str>,
    controller: Controller,
    fates: ChaCha8Rng,
    faults: usize,
    /// What it sends besides telemetry, unless it sends telemetry only.
    reports: Option<Reports>,
    /// What is desired of it, unless it does not listen.
    obedience: Option<Obedience>,
}

impl Lane {
    pub(super) fn new(building: &Building, index: usize, scenario: &Scenario) -> Self {
        let reports = match scenario.topics {
            Topics::All => Some(Reports::new(building, index, scenario)),
            Topics::TelemetryOnly => None,
        };
        Self {
            index: index as u64,
            uuid: building.uuid,
            topic: MqttTopic::format(RecordKind::Telemetry, building.uuid).into(),
            controller: Controller::new(building, scenario.interval),
            fates: fates(scenario.seed, index),
            faults: index,
            reports,
            obedience: listens(scenario).then(|| Obedience::new(scenario.answers)),
        }
    }

    /// The telemetry record of `time`, and what is due besides; telemetry is the same with and without
    /// the rest.
    pub(super) fn make(&mut self, time: Timestamp, scenario: &Scenario) -> (Vec<Made>, Made) {
        let obedience = self.obedience.as_ref();
        let orders = obedience.map_or_else(Orders::default, |it| it.orders(time));
        let sample = self.controller.obey(time, &orders);
        let reports = self.reports.as_mut().map_or_else(Vec::new, |reports| {
            reports.due(time, &sample, &orders, scenario)
        });
        let fate = scenario.shares.fate(self.fates.random());
        let delay = delay(&mut self.fates, fate, scenario.late_delay);
        let publication = self.publication(&sample.record, fate);
        let telemetry = Made {
            fate,
            delay,
            publication,
        };
        (reports, telemetry)
    }

    /// Takes what is desired of the building, and answers what to report on it.
    pub(super) fn desire(&mut self, payload: &[u8], now: Timestamp) -> Option<Publication> {
        let obedience = self.obedience.as_mut()?;
        let report = match obedience.take(payload, now, &self.controller.abilities()) {
            Ok(report) => report?,
            Err(unreadable) => {
                warn!(building = %self.uuid, %unreadable, "desired document is none");
                return None;
            }
        };
        if let Some(reports) = &mut self.reports {
            // What has changed shall be seen soon.
            reports.hurry();
        }
        Some(Publication {
            topic: MqttTopic::format(RecordKind::Reported, self.uuid).into(),
            record: RecordKind::Reported,
            payload: written(&report),
            kind: Kind::Good,
            building: self.uuid,
            time: report.time,
        })
    }

    fn publication(&mut self, record: &TelemetryRecord, fate: Fate) -> Publication {
        let (kind, payload) = match fate {
            Fate::Corrupted => {
                // In turn, so that every reason occurs however few records there are.
                let fault = Fault::ALL[self.faults % Fault::ALL.len()];
                self.faults += 1;
                let variant = self.fates.random_range(0..1_000);
                (
                    Kind::Invalid(fault.reason()),
                    fault.corrupt(record, variant),
                )
            }
            Fate::Late => (Kind::Late, encode(record)),
            Fate::Usual | Fate::Doubled => (Kind::Good, encode(record)),
            Fate::Missing => (Kind::Good, Bytes::new()),
        };
        Publication {
            topic: Arc::clone(&self.topic),
            record: RecordKind::Telemetry,
            payload,
            kind,
            building: self.uuid,
            time: record.time,
        }
    }
}

/// Whether controllers listen to what is desired of them.
pub(super) fn listens(scenario: &Scenario) -> bool {
    let answers = match scenario.answers {
        Answers::Obeys | Answers::Rejects | Answers::Silent => true,
        Answers::Deaf => false,
    };
    answers && scenario.topics == Topics::All
}

fn written(report: &Report) -> Bytes {
    let outcome = |answer: &Answer| {
        let mut outcome = json!({
            "action_uuid": answer.action_uuid,
            "status": answer.outcome.as_str(),
        });
        if let Some(detail) = &answer.detail {
            outcome["detail"] = json!(detail);
        }
        outcome
    };
    let outcomes: Value = report.outcomes.iter().map(outcome).collect();
    let (time, revision) = (time_text(report.time), report.revision);
    format!(r#"{{"time":{time},"revision":{revision},"outcomes":{outcomes}}}"#).into()
}
