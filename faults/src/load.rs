//! What the controllers send: records of now and of the last two days, some twice, some in another order, some broken.

use crate::ledger::{Fact, Identity, Micros};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use uuid::Uuid;
use wire::topic::{MqttTopic, RecordKind};

/// Times are whole milliseconds: what a double in seconds holds exactly enough.
const MILLISECOND: Micros = 1_000;
const MINUTE: Micros = 60_000_000;
/// Late records come in blocks of so long, so that their minutes are amended again and again.
const BLOCK: Micros = 10 * MINUTE;
/// How far back the blocks begin; the service takes records for 49 hours at least.
const BLOCKS_BACK: [Micros; 4] = [
    60 * MINUTE,
    5 * 60 * MINUTE,
    26 * 60 * MINUTE,
    46 * 60 * MINUTE,
];
/// The longest time for which a message is held back to come in another order, or again.
const HELD_BACK: Micros = 20_000_000;

/// A building and its gas meter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Building {
    /// Its number in the fleet.
    pub(crate) number: usize,
    pub(crate) uuid: Uuid,
    pub(crate) gas_sensor: Uuid,
}

/// One thing to publish.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) identity: Identity,
    pub(crate) fact: Fact,
    pub(crate) topic: String,
    pub(crate) payload: String,
}

/// An endless stream of messages for some of the buildings; the same seed gives the same messages at the same times.
pub(crate) struct Load {
    draw: ChaCha8Rng,
    buildings: Vec<Building>,
    /// When the run began: where the late blocks lie.
    begun: Micros,
    next_building: usize,
    next_invalid: Micros,
    /// Of each building the newest time of now, so that no two are the same.
    newest: Vec<Micros>,
    /// Held back until then; the number keeps those of one moment apart.
    held_back: BTreeMap<(Micros, u64), Message>,
    held_back_number: u64,
}

impl Load {
    pub(crate) fn new(seed: u64, buildings: Vec<Building>, begun: Micros) -> Self {
        Self {
            draw: ChaCha8Rng::seed_from_u64(seed),
            newest: vec![0; buildings.len()],
            buildings,
            begun: begun - begun.rem_euclid(MINUTE),
            next_building: 0,
            next_invalid: 0,
            held_back: BTreeMap::new(),
            held_back_number: 0,
        }
    }

    /// These messages and no more: all of them are the rest.
    pub(crate) fn of(messages: Vec<Message>) -> Self {
        let mut load = Self::new(0, Vec::new(), 0);
        load.held_back = (0..).map(|number| (0, number)).zip(messages).collect();
        load
    }

    /// The next message to publish now.
    pub(crate) fn next(&mut self, now: Micros) -> Message {
        loop {
            if let Some(message) = self.due(now) {
                return message;
            }
            let message = self.fresh(now);
            // Twice, the second time at another place in the order.
            if self.draw.random_bool(0.06) && message.fact != Fact::Invalid {
                self.hold_back(now, message.clone());
            }
            if self.draw.random_bool(0.08) {
                self.hold_back(now, message);
            } else {
                return message;
            }
        }
    }

    /// What is still held back, for the end.
    pub(crate) fn rest(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.held_back).into_values().collect()
    }

    fn due(&mut self, now: Micros) -> Option<Message> {
        let first = self.held_back.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    fn hold_back(&mut self, now: Micros, message: Message) {
        let until = now + self.draw.random_range(0..HELD_BACK);
        self.held_back_number += 1;
        self.held_back
            .insert((until, self.held_back_number), message);
    }

    fn fresh(&mut self, now: Micros) -> Message {
        let index = self.next_building;
        self.next_building = (index + 1) % self.buildings.len();
        let building = self.buildings[index];
        match self.draw.random_range(0..100) {
            0..82 => {
                let at = self.now_of(index, now);
                self.telemetry(building, at)
            }
            82..90 => {
                let at = self.late();
                self.telemetry(building, at)
            }
            90..94 => {
                let at = self.now_of(index, now);
                register(building, at)
            }
            94..98 => {
                let at = self.now_of(index, now);
                self.key_value(building, at)
            }
            _ => self.invalid(building),
        }
    }

    fn now_of(&mut self, index: usize, now: Micros) -> Micros {
        let at = (now - now.rem_euclid(MILLISECOND)).max(self.newest[index] + MILLISECOND);
        self.newest[index] = at;
        at
    }

    /// Before the run began, so that no record of now has the same time.
    fn late(&mut self) -> Micros {
        let block = BLOCKS_BACK[self.draw.random_range(0..BLOCKS_BACK.len())];
        let within = self.draw.random_range(0..BLOCK / MILLISECOND) * MILLISECOND;
        self.begun - block + within
    }

    /// What a record says follows from its building and its time: the same identity never says two things.
    fn telemetry(&mut self, building: Building, at: Micros) -> Message {
        let mut said = ChaCha8Rng::seed_from_u64(mixed(building.number, at));
        let mut powers_w = [None; 3];
        let mut payload = format!("{{\"time\":{}", seconds(at));
        for (power_w, section) in powers_w.iter_mut().zip(["main_meter", "battery", "solar"]) {
            let status = match said.random_range(0..20) {
                0 => "unavailable",
                1 => "degraded",
                _ => "available",
            };
            let measured = (status != "unavailable").then(|| power(&mut said, section));
            let written =
                measured.map_or_else(String::new, |it| format!(",\"active_power_w\":{it}"));
            write!(
                payload,
                ",\"{section}\":{{\"status\":\"{status}\"{written}}}"
            )
            .unwrap();
            *power_w = measured;
        }
        payload.push('}');
        let fact = Fact::Telemetry { powers_w };
        message(building, RecordKind::Telemetry, at, fact, payload)
    }

    fn key_value(&mut self, building: Building, at: Micros) -> Message {
        let value = i64::from(self.draw.random_range(0..1_000_000_u32)) + at % 1_000_000;
        let payload = format!(
            "{{\"time\":{},\"values\":{{\"key\":{value}}}}}",
            seconds(at)
        );
        let fact = Fact::KeyValue { value };
        message(building, RecordKind::KeyValues, at, fact, payload)
    }

    fn invalid(&mut self, building: Building) -> Message {
        self.next_invalid += 1;
        let number = self.next_invalid;
        let payload = match self.draw.random_range(0..3) {
            0 => format!("{{\"invalid\":{number}"),
            1 => format!("{{\"time\":1700000000,\"invalid\":{number}}}"),
            _ => format!("{{\"time\":\"invalid {number}\"}}"),
        };
        message(
            building,
            RecordKind::Telemetry,
            number,
            Fact::Invalid,
            payload,
        )
    }
}

/// A meter that never turns back, whatever the order in which its readings are made.
fn register(building: Building, at: Micros) -> Message {
    #[expect(
        clippy::cast_precision_loss,
        reason = "whole milliseconds are far below 2^52"
    )]
    let reading = (at / MILLISECOND) as f64 / 1_000.0;
    let sensor = building.gas_sensor;
    let payload = format!(
        "{{\"time\":{},\"readings\":[{{\"sensor_uuid\":\"{sensor}\",\"meter_reading\":{reading}}}]}}",
        seconds(at)
    );
    let fact = Fact::Register { reading };
    message(building, RecordKind::Readings, at, fact, payload)
}

fn message(
    building: Building,
    kind: RecordKind,
    at: Micros,
    fact: Fact,
    payload: String,
) -> Message {
    Message {
        identity: Identity {
            building: building.number,
            kind: fact.kind(),
            at,
        },
        fact,
        topic: MqttTopic::format(kind, building.uuid),
        payload,
    }
}

fn power(draw: &mut impl Rng, section: &str) -> i32 {
    if section == "solar" {
        -draw.random_range(0..6_000)
    } else {
        draw.random_range(-9_000..9_000)
    }
}

/// Seconds with three decimals.
fn seconds(at: Micros) -> String {
    format!("{}.{:03}", at / 1_000_000, at % 1_000_000 / 1_000)
}

fn mixed(building: usize, at: Micros) -> u64 {
    let number = u64::try_from(building).unwrap_or_default();
    at.unsigned_abs() ^ number.rotate_left(48)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_same_identity_says_the_same_thing_and_some_come_again_late_or_broken() {
        let building = |number| Building {
            number,
            uuid: Uuid::from_u128(1),
            gas_sensor: Uuid::from_u128(2),
        };
        let begun = 1_700_000_000_000_000;
        let mut load = Load::new(7, vec![building(0), building(1)], begun);
        let mut said = BTreeMap::new();
        let (mut again, mut late, mut invalid) = (0, 0, 0);
        for tick in 0..20_000 {
            let message = load.next(begun + tick * 3_000);
            invalid += u32::from(message.fact == Fact::Invalid);
            late += u32::from(message.identity.at < begun && message.fact != Fact::Invalid);
            if let Some(before) = said.insert(message.identity, message.payload.clone()) {
                assert_eq!(before, message.payload);
                again += 1;
            }
        }
        assert!(
            again > 500 && late > 500 && invalid > 100,
            "{again} {late} {invalid}"
        );
    }
}
