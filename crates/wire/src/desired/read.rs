//! From a JSON tree to the desired state that it says.

use super::{Document, Unreadable};
use domain::control::{
    Battery, BatteryPower, Desired, Fallback, FcrBlock, GridTarget, GridTargetPower, InverterPower,
    Inverters, SetpointValue, Setpoints, Socket,
};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use serde_json::Value;
use uuid::Uuid;

type Read<T> = Result<T, Unreadable>;

/// A place in a tree, which knows its pointer.
pub(super) struct Place<'tree> {
    value: &'tree Value,
    pointer: String,
}

/// The whole document.
pub(super) fn document(place: &Place<'_>) -> Read<Document> {
    Ok(Document {
        revision: place.member("revision")?.integer(1)?,
        issued_at: place.member("issued_at")?.time()?,
        desired: Desired {
            inverters: place.optional("inverters", inverters)?,
            battery: place.optional("battery", battery)?,
            grid_target: place.optional("grid_target", grid_target)?,
            ev_sockets: place.list("ev_sockets", socket)?,
            setpoints: place.optional("setpoints", setpoints)?,
            fcr: place.list("fcr", fcr_block)?,
            grid_limits: place.list("grid_limits", grid_limit)?,
        },
    })
}

fn inverters(place: &Place<'_>) -> Read<Inverters> {
    let end = match place.member("until")?.end()? {
        Some(until) => Some((until, fallback(&place.member("fallback")?)?)),
        None => None,
    };
    Ok(Inverters {
        action_uuid: place.member("action_uuid")?.uuid()?,
        power: match place.one_of("power_percentage", "power_watts")? {
            Which::First(percentage) => InverterPower::Percentage(percentage.percentage()?),
            Which::Second(watts) => InverterPower::Watts(watts.watts()?),
        },
        end,
        consumption_compensated: place.member("consumption_compensated")?.boolean()?,
    })
}

fn fallback(place: &Place<'_>) -> Read<Fallback> {
    match place.one_of("power_percentage", "power_watts")? {
        Which::First(percentage) => {
            let percentage = percentage.percentage()?;
            if percentage >= 100.0 {
                return Ok(Fallback::FullPercentage);
            }
            Ok(Fallback::To(InverterPower::Percentage(percentage)))
        }
        Which::Second(unlimited) if unlimited.value.is_null() => Ok(Fallback::UnlimitedWatts),
        Which::Second(watts) => Ok(Fallback::To(InverterPower::Watts(watts.watts()?))),
    }
}

fn battery(place: &Place<'_>) -> Read<Battery> {
    Ok(Battery {
        action_uuid: place.member("action_uuid")?.uuid()?,
        power: match place.one_of("charge_watts", "discharge_watts")? {
            Which::First(watts) => BatteryPower::Charge(watts.watts()?),
            Which::Second(watts) => BatteryPower::Discharge(watts.watts()?),
        },
        until: place.member("until")?.time()?,
    })
}

fn grid_target(place: &Place<'_>) -> Read<GridTarget> {
    let watts = |key: &str| place.member(key)?.watts();
    let (power, effective) = match place.one_of("delivery_watts", "return_delivery_watts")? {
        Which::First(wished) => (
            GridTargetPower::Delivery(wished.watts()?),
            GridTargetPower::Delivery(watts("effective_delivery_watts")?),
        ),
        Which::Second(wished) => (
            GridTargetPower::ReturnDelivery(wished.watts()?),
            GridTargetPower::ReturnDelivery(watts("effective_return_delivery_watts")?),
        ),
    };
    Ok(GridTarget {
        action_uuid: place.member("action_uuid")?.uuid()?,
        power,
        effective,
        until: place.member("until")?.time()?,
    })
}

fn socket(place: &Place<'_>) -> Read<Socket> {
    Ok(Socket {
        action_uuid: place.member("action_uuid")?.uuid()?,
        sensor_uuid: place.member("sensor_uuid")?.uuid()?,
        charge_watts: place.member("charge_watts")?.watts()?,
        until: place.member("until")?.time()?,
    })
}

fn setpoints(place: &Place<'_>) -> Read<Setpoints> {
    let end = match place.member("until")?.end()? {
        Some(until) => {
            place.member("fallback")?;
            Some((until, place.list("fallback", setpoint_value)?))
        }
        None => None,
    };
    Ok(Setpoints {
        action_uuid: place.member("action_uuid")?.uuid()?,
        values: place.list("values", setpoint_value)?,
        end,
    })
}

fn setpoint_value(place: &Place<'_>) -> Read<SetpointValue> {
    Ok(SetpointValue {
        sensor_uuid: place.member("sensor_uuid")?.uuid()?,
        value: place.member("value")?.number()?,
    })
}

fn fcr_block(place: &Place<'_>) -> Read<FcrBlock> {
    Ok(FcrBlock {
        action_uuid: place.member("action_uuid")?.uuid()?,
        power_watts: place.member("power_watts")?.watts()?,
        start: place.member("start")?.time()?,
        stop: place.member("stop")?.time()?,
    })
}

fn grid_limit(place: &Place<'_>) -> Read<GridLimit> {
    let watts = |key: &str| place.member(key)?.watts();
    Ok(GridLimit {
        grid_limit_uuid: place.member("grid_limit_uuid")?.uuid()?,
        start: place.member("start")?.time()?,
        end: place.member("end")?.time()?,
        delivery_limit_watts: watts("delivery_limit_watts")?,
        return_delivery_limit_watts: watts("return_delivery_limit_watts")?,
    })
}

/// Which of two keys is there.
enum Which<'tree> {
    First(Place<'tree>),
    Second(Place<'tree>),
}

impl<'tree> Place<'tree> {
    /// The tree itself.
    pub(super) const fn whole(tree: &'tree Value) -> Self {
        Self {
            value: tree,
            pointer: String::new(),
        }
    }

    fn below(&self, step: impl std::fmt::Display, value: &'tree Value) -> Self {
        Self {
            value,
            pointer: format!("{}/{step}", self.pointer),
        }
    }

    fn expected<T>(&self, what: &str) -> Read<T> {
        Err(Unreadable {
            pointer: self.pointer.clone(),
            expected: what.to_owned(),
        })
    }

    fn find(&self, key: &str) -> Read<Option<Self>> {
        let Value::Object(members) = self.value else {
            return self.expected("an object");
        };
        Ok(members.get(key).map(|value| self.below(key, value)))
    }

    fn member(&self, key: &str) -> Read<Self> {
        match self.find(key)? {
            Some(member) => Ok(member),
            None => self.below(key, self.value).expected("this property"),
        }
    }

    fn one_of(&self, first: &str, second: &str) -> Read<Which<'tree>> {
        match (self.find(first)?, self.find(second)?) {
            (Some(first), None) => Ok(Which::First(first)),
            (None, Some(second)) => Ok(Which::Second(second)),
            (Some(_), Some(_)) | (None, None) => {
                self.expected(&format!("exactly one of {first} and {second}"))
            }
        }
    }

    fn optional<T>(&self, key: &str, read: fn(&Self) -> Read<T>) -> Read<Option<T>> {
        self.find(key)?.map(|it| read(&it)).transpose()
    }

    /// No items where the key is missing.
    fn list<T>(&self, key: &str, read: fn(&Self) -> Read<T>) -> Read<Vec<T>> {
        let Some(list) = self.find(key)? else {
            return Ok(Vec::new());
        };
        let Value::Array(items) = list.value else {
            return list.expected("an array");
        };
        let items = items.iter().enumerate();
        items
            .map(|(index, item)| read(&list.below(index, item)))
            .collect()
    }

    fn number(&self) -> Read<f64> {
        self.value
            .as_f64()
            .map_or_else(|| self.expected("a number"), Ok)
    }

    fn percentage(&self) -> Read<f64> {
        match self.number()? {
            percentage if (0.0..=100.0).contains(&percentage) => Ok(percentage),
            _ => self.expected("a number of 0 to 100"),
        }
    }

    /// By JSON Schema's rules `5.0` is an integer.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole double within the bounds of 64 bits"
    )]
    fn integer(&self, at_least: i64) -> Read<i64> {
        let whole = |number: f64| number.fract() == 0.0 && number.abs() < 2_f64.powi(63);
        let double = self.value.as_f64().filter(|number| whole(*number));
        let integer = self.value.as_i64().or(double.map(|number| number as i64));
        match integer {
            Some(integer) if integer >= at_least => Ok(integer),
            Some(_) | None => self.expected(&format!("an integer of {at_least} or more")),
        }
    }

    fn watts(&self) -> Read<i32> {
        let watts = self.integer(0)?;
        i32::try_from(watts).or_else(|_| self.expected("an integer up to 2147483647"))
    }

    fn time(&self) -> Read<Timestamp> {
        self.integer(i64::MIN).map(Timestamp::from_seconds)
    }

    fn end(&self) -> Read<Option<Timestamp>> {
        match self.value {
            Value::Null => Ok(None),
            Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => self.time().map(Some),
        }
    }

    fn boolean(&self) -> Read<bool> {
        self.value
            .as_bool()
            .map_or_else(|| self.expected("true or false"), Ok)
    }

    fn uuid(&self) -> Read<Uuid> {
        let uuid = self.value.as_str().and_then(crate::topic::parse_building);
        uuid.map_or_else(|| self.expected("a lower-case uuid with hyphens"), Ok)
    }
}
