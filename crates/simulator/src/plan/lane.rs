//! One building's way through the plan.

use super::reports::Reports;
use super::{Kind, Made, Publication, delay};
use crate::controller::Controller;
use crate::fault::Fault;
use crate::fleet::{Building, fates};
use crate::payload::encode;
use crate::scenario::{Fate, Scenario, Topics};
use bytes::Bytes;
use domain::record::TelemetryRecord;
use domain::time::Timestamp;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
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
        }
    }

    /// The telemetry record of `time`, and what is due besides; telemetry is the same with and without
    /// the rest.
    pub(super) fn make(&mut self, time: Timestamp, scenario: &Scenario) -> (Vec<Made>, Made) {
        let sample = self.controller.measure(time);
        let reports = self
            .reports
            .as_mut()
            .map_or_else(Vec::new, |reports| reports.due(time, &sample, scenario));
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
