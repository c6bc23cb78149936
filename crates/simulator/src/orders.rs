//! What a desired document asks for at a moment: a function of the two and of nothing else, so a
//! controller that is cut off ends what is over, and falls back, by itself and at the second.

use domain::control::{
    BatteryPower, Desired, Fallback, GridTargetPower, InverterPower, SetpointValue,
};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use uuid::Uuid;
use wire::desired::Document;

/// What is in force at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Orders<'document> {
    pub(crate) inverters: Option<Curtailment>,
    /// Power of the batteries in watt, charging positive.
    pub(crate) battery_w: Option<i32>,
    /// Power of the grid connection in watt, import positive; grid limits are taken off it.
    pub(crate) meter_w: Option<i32>,
    sockets: Vec<(Uuid, i32)>,
    setpoints: &'document [SetpointValue],
    /// Awarded power of the running block, watt.
    pub(crate) fcr_w: Option<i32>,
    pub(crate) limits: Option<Limits>,
}

/// The most that all inverters may produce.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curtailment {
    pub(crate) power: InverterPower,
    /// Whether they may produce, besides, what the building uses itself.
    pub(crate) consumption_compensated: bool,
}

/// The strictest of the running grid limits, watt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) delivery_w: i32,
    pub(crate) return_delivery_w: i32,
}

impl<'document> Orders<'document> {
    /// What the document asks for at `time`: an end is over at its second, and its fallback holds.
    pub(crate) fn of(document: &'document Document, time: Timestamp) -> Self {
        let desired = &document.desired;
        let running = |until: Timestamp| time < until;
        let sockets = desired.ev_sockets.iter();
        let blocks = desired.fcr.iter();
        Self {
            inverters: curtailment(desired, time),
            battery_w: desired
                .battery
                .filter(|it| running(it.until))
                .map(|it| match it.power {
                    BatteryPower::Charge(watts) => watts,
                    BatteryPower::Discharge(watts) => watts.saturating_neg(),
                }),
            meter_w: meter_w(document, time),
            sockets: sockets
                .filter(|it| running(it.until))
                .map(|it| (it.sensor_uuid, it.charge_watts))
                .collect(),
            setpoints: match &desired.setpoints {
                None => &[],
                Some(setpoints) => match &setpoints.end {
                    Some((until, fallback)) if !running(*until) => fallback,
                    Some(_) | None => &setpoints.values,
                },
            },
            fcr_w: blocks
                .filter(|it| it.start <= time && running(it.stop))
                .map(|it| it.power_watts)
                .next(),
            limits: limits(&desired.grid_limits, time),
        }
    }

    /// What a car socket shall charge with, watt.
    pub(crate) fn socket_w(&self, sensor: Uuid) -> Option<i32> {
        let mut sockets = self.sockets.iter();
        sockets.find(|it| it.0 == sensor).map(|it| it.1)
    }

    /// What a setpoint shall be.
    pub(crate) fn setpoint(&self, sensor: Uuid) -> Option<f64> {
        let mut setpoints = self.setpoints.iter();
        let found = setpoints.find(|it| it.sensor_uuid == sensor);
        found.map(|it| it.value)
    }
}

fn curtailment(desired: &Desired, time: Timestamp) -> Option<Curtailment> {
    let inverters = desired.inverters?;
    let power = match inverters.end {
        Some((until, fallback)) if until <= time => match fallback {
            Fallback::To(power) => power,
            Fallback::FullPercentage | Fallback::UnlimitedWatts => return None,
        },
        Some(_) | None => inverters.power,
    };
    Some(Curtailment {
        power,
        consumption_compensated: inverters.consumption_compensated,
    })
}

/// The document says what the grid limits left of the target when it was made; once one of them has
/// begun or ended since, it is taken off anew.
fn meter_w(document: &Document, time: Timestamp) -> Option<i32> {
    let target = document.desired.grid_target?;
    if target.until <= time {
        return None;
    }
    let limits = &document.desired.grid_limits;
    let since = |at: Timestamp| document.issued_at < at && at <= time;
    let effective = match limits.iter().any(|it| since(it.start) || since(it.end)) {
        true => target.power.within(limits, time),
        false => target.effective,
    };
    Some(match effective {
        GridTargetPower::Delivery(watts) => watts,
        GridTargetPower::ReturnDelivery(watts) => watts.saturating_neg(),
    })
}

fn limits(occurrences: &[GridLimit], time: Timestamp) -> Option<Limits> {
    let running = occurrences
        .iter()
        .filter(|it| it.start <= time && time < it.end);
    running
        .map(|it| Limits {
            delivery_w: it.delivery_limit_watts,
            return_delivery_w: it.return_delivery_limit_watts,
        })
        .reduce(|one, other| Limits {
            delivery_w: one.delivery_w.min(other.delivery_w),
            return_delivery_w: one.return_delivery_w.min(other.return_delivery_w),
        })
}

#[cfg(test)]
mod tests;
