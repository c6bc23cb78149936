//! Who there is: the buildings of a seeded fleet.

mod file;

pub use crate::battery::BatteryPack;
pub use crate::load::DayProfile;

use crate::instruments::Instruments;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

/// Streams of random numbers: two a building, one for what it is and one for what becomes of its
/// records, so that neither disturbs the other.
const STREAMS_PER_BUILDING: u64 = 2;

const NAMES: [(&str, DayProfile); 8] = [
    ("Depot", DayProfile::Business),
    ("School", DayProfile::Business),
    ("Office", DayProfile::Business),
    ("Farm", DayProfile::Household),
    ("Warehouse", DayProfile::Business),
    ("Hotel", DayProfile::Household),
    ("Workshop", DayProfile::Business),
    ("Residence", DayProfile::Household),
];

/// A fleet of buildings that follows from its seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    buildings: Vec<Building>,
}

impl Fleet {
    /// Draws `buildings` buildings; a larger fleet of the same seed begins with the smaller one.
    #[must_use]
    pub fn new(seed: u64, buildings: usize) -> Self {
        let buildings = (0..buildings).map(|index| Building::draw(seed, index));
        Self {
            buildings: buildings.collect(),
        }
    }

    /// The buildings, in the order in which they were drawn.
    #[must_use]
    pub fn buildings(&self) -> &[Building] {
        &self.buildings
    }
}

/// What stays the same about a building.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Building {
    /// Names the building in topics.
    pub uuid: Uuid,
    /// For people.
    pub name: String,
    /// Rhythm of its day.
    pub profile: DayProfile,
    /// Load at rest, in watt.
    pub base_w: i32,
    /// What comes on top when it is busiest, in watt.
    pub busy_w: i32,
    /// Rated power of the solar inverters in watt; some buildings have none.
    pub solar_rated_w: Option<i32>,
    /// Some buildings have no battery.
    pub battery: Option<BatteryPack>,
    pub(crate) soc_percent: u8,
    pub(crate) seed: u64,
    pub(crate) hubs: Hubs,
    pub(crate) instruments: Instruments,
}

/// The identities of the building's hubs and sensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hubs {
    pub(crate) meter: Uuid,
    pub(crate) delivery: Uuid,
    pub(crate) return_delivery: Uuid,
    pub(crate) inverters: Uuid,
    pub(crate) production: Uuid,
    pub(crate) battery: Uuid,
    pub(crate) charge: Uuid,
    pub(crate) discharge: Uuid,
}

impl Building {
    fn draw(seed: u64, index: usize) -> Self {
        let mut random = stream(seed, index, 0);
        let uuid = draw_uuid(&mut random);
        let (word, profile) = NAMES[random.random_range(0..NAMES.len())];
        let base_w = random.random_range(150..1_500);
        let busy_w = base_w * random.random_range(3..12);
        let has_solar = random.random_bool(0.8);
        let solar_rated_w = random.random_range(3..60) * 1_000;
        let has_battery = random.random_bool(0.7);
        let battery = draw_battery(&mut random);
        Self {
            uuid,
            name: format!("{word} {:03}", index + 1),
            profile,
            base_w,
            busy_w,
            solar_rated_w: has_solar.then_some(solar_rated_w),
            battery: has_battery.then_some(battery),
            soc_percent: random.random_range(10..=90),
            seed: random.next_u64(),
            hubs: Hubs::draw(&mut random),
            instruments: Instruments::draw(&mut further_stream(seed, index, 0)),
        }
    }
}

impl Hubs {
    fn draw(random: &mut ChaCha8Rng) -> Self {
        Self {
            meter: draw_uuid(random),
            delivery: draw_uuid(random),
            return_delivery: draw_uuid(random),
            inverters: draw_uuid(random),
            production: draw_uuid(random),
            battery: draw_uuid(random),
            charge: draw_uuid(random),
            discharge: draw_uuid(random),
        }
    }
}

fn draw_battery(random: &mut ChaCha8Rng) -> BatteryPack {
    let capacity_kwh: i32 = random.random_range(5..=120);
    let max_charge_w = capacity_kwh * random.random_range(300..=600);
    BatteryPack {
        capacity_wh: capacity_kwh * 1_000,
        max_charge_w,
        max_discharge_w: max_charge_w,
        follow_percent: random.random_range(85..=99),
    }
}

pub(crate) fn draw_uuid(random: &mut ChaCha8Rng) -> Uuid {
    let mut bytes = [0; 16];
    random.fill_bytes(&mut bytes);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// What becomes of the building's telemetry.
pub(crate) fn fates(seed: u64, index: usize) -> ChaCha8Rng {
    stream(seed, index, 1)
}

/// What becomes of the building's readings.
pub(crate) fn fates_of_readings(seed: u64, index: usize) -> ChaCha8Rng {
    further_stream(seed, index, 1)
}

fn stream(seed: u64, index: usize, which: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(index as u64 * STREAMS_PER_BUILDING + which);
    random
}

/// Streams for what is besides telemetry, numbered from the other end: so neither disturbs the other.
fn further_stream(seed: u64, index: usize, which: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::MAX - (index as u64 * STREAMS_PER_BUILDING + which));
    random
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_fleet_of_the_same_seed_begins_with_the_smaller_one() {
        let small = Fleet::new(7, 10);
        let large = Fleet::new(7, 100);
        assert_eq!(small.buildings(), &large.buildings()[..10]);
        assert_ne!(small, Fleet::new(8, 10));
    }

    #[test]
    fn some_buildings_have_no_sun_and_some_no_battery() {
        let fleet = Fleet::new(1, 100);
        let count =
            |has: fn(&Building) -> bool| fleet.buildings().iter().filter(|b| has(b)).count();
        assert!((60..100).contains(&count(|building| building.solar_rated_w.is_some())));
        assert!((50..90).contains(&count(|building| building.battery.is_some())));
    }
}
