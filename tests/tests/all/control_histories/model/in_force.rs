//! What must be desired at a moment.

use super::{Hold, Model, Slot};
use crate::control_histories::history::What;
use domain::control::{
    Action, Battery, Desired, Fallback, FcrBlock, GridTarget, GridTargetPower, InverterPower,
    Inverters, Setpoints, Socket,
};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use std::collections::BTreeSet;

impl<'a> Model<'a> {
    /// The action in force in a slot, or whose fallback is.
    fn last(&self, slot: Slot) -> Option<&Hold<'a>> {
        let holds = self.holds.get(&slot)?;
        let last = holds.iter().rev().find(|it| !it.idle)?;
        let refused = self.refused_at(last.action_uuid).is_some();
        (!refused || slot == Slot::Setpoints).then_some(last)
    }

    /// As [`Model::last`], while its time is not over.
    fn running(&self, slot: Slot, now: Timestamp) -> Option<&Hold<'a>> {
        let last = self.last(slot)?;
        last.until.is_none_or(|until| now < until).then_some(last)
    }

    /// What must be desired at `now`.
    pub(crate) fn desired(&self, now: Timestamp) -> Desired {
        let slots: BTreeSet<Slot> = self.holds.keys().copied().collect();
        let grid_limits = self.grid_limits(now);
        Desired {
            inverters: self.inverters(now),
            battery: self.battery(now),
            grid_target: self.grid_target(&grid_limits, now),
            ev_sockets: slots
                .iter()
                .filter_map(|slot| self.socket(*slot, now))
                .collect(),
            setpoints: self.setpoints(now),
            fcr: slots
                .iter()
                .filter_map(|slot| self.block(*slot, now))
                .collect(),
            grid_limits,
        }
    }

    fn grid_limits(&self, now: Timestamp) -> Vec<GridLimit> {
        let said = self
            .history
            .0
            .iter()
            .rev()
            .find_map(|event| match &event.what {
                What::Limited(limits) => Some(limits.clone()),
                What::Acted { .. } | What::Reported { .. } | What::Flagged(_) => None,
            });
        let mut limits = said.unwrap_or_default();
        limits.retain(|limit| limit.end > now);
        limits.sort_by_key(|limit| (limit.start, limit.grid_limit_uuid));
        limits
    }

    fn inverters(&self, now: Timestamp) -> Option<Inverters> {
        let last = self.last(Slot::Inverters)?;
        let Action::Inverters {
            power, fallback, ..
        } = last.action
        else {
            return None;
        };
        let flag = self
            .history
            .0
            .iter()
            .rev()
            .find_map(|event| match event.what {
                What::Flagged(flag) => Some(flag),
                What::Acted { .. } | What::Reported { .. } | What::Limited(_) => None,
            });
        let entry = |power, end| Inverters {
            action_uuid: last.action_uuid,
            power,
            end,
            consumption_compensated: flag.unwrap_or(false),
        };
        let default = match power {
            InverterPower::Percentage(_) => Fallback::FullPercentage,
            InverterPower::Watts(_) => Fallback::UnlimitedWatts,
        };
        let fallback = fallback.filter(|it| *it != InverterPower::Percentage(100.0));
        match last.until {
            Some(until) if until <= now => fallback.map(|power| entry(power, None)),
            Some(until) => {
                let fallback = fallback.map_or(default, Fallback::To);
                Some(entry(*power, Some((until, fallback))))
            }
            None => Some(entry(*power, None)),
        }
    }

    fn battery(&self, now: Timestamp) -> Option<Battery> {
        let hold = self.running(Slot::Battery, now)?;
        let Action::Battery { power, .. } = hold.action else {
            return None;
        };
        Some(Battery {
            action_uuid: hold.action_uuid,
            power: *power,
            until: hold.until?,
        })
    }

    fn grid_target(&self, limits: &[GridLimit], now: Timestamp) -> Option<GridTarget> {
        let hold = self.running(Slot::Grid, now)?;
        let Action::GridTarget { power, .. } = hold.action else {
            return None;
        };
        let running = limits.iter().filter(|it| (it.start..it.end).contains(&now));
        let effective = match *power {
            GridTargetPower::Delivery(watts) => {
                let limit = running.map(|it| it.delivery_limit_watts).min();
                GridTargetPower::Delivery(limit.map_or(watts, |limit| limit.min(watts)))
            }
            GridTargetPower::ReturnDelivery(watts) => {
                let limit = running.map(|it| it.return_delivery_limit_watts).min();
                GridTargetPower::ReturnDelivery(limit.map_or(watts, |limit| limit.min(watts)))
            }
        };
        Some(GridTarget {
            action_uuid: hold.action_uuid,
            power: *power,
            effective,
            until: hold.until?,
        })
    }

    fn socket(&self, slot: Slot, now: Timestamp) -> Option<Socket> {
        let Slot::Socket(sensor_uuid) = slot else {
            return None;
        };
        let hold = self.running(slot, now)?;
        let Action::EvSockets(wishes) = hold.action else {
            return None;
        };
        let wish = wishes.iter().find(|it| it.sensor_uuid == sensor_uuid)?;
        Some(Socket {
            action_uuid: hold.action_uuid,
            sensor_uuid,
            charge_watts: wish.charge_watts,
            until: hold.until?,
        })
    }

    fn block(&self, slot: Slot, now: Timestamp) -> Option<FcrBlock> {
        let hold = self.running(slot, now)?;
        let Action::FcrPlan {
            start,
            stop,
            power_watts,
        } = hold.action
        else {
            return None;
        };
        Some(FcrBlock {
            action_uuid: hold.action_uuid,
            power_watts: *power_watts,
            start: *start,
            stop: *stop,
        })
    }

    fn setpoints(&self, now: Timestamp) -> Option<Setpoints> {
        let last = self.last(Slot::Setpoints)?;
        let mut command = self.command(last.action_uuid);
        let brought = matches!(
            last.action,
            Action::Setpoints {
                values: Some(_),
                ..
            }
        );
        if brought && self.refused_at(last.action_uuid).is_some() {
            command.values.clear();
        }
        if let Some((_, fallback)) = command.end.take_if(|(until, _)| *until <= now) {
            command.values = fallback;
        }
        let is_something = !command.values.is_empty() || command.end.is_some();
        is_something.then_some(Setpoints {
            action_uuid: last.action_uuid,
            values: command.values,
            end: command.end,
        })
    }
}
