//! Of which family a body is: exactly one.

use super::{fcr, inverters, power, setpoints, sockets};
use crate::extract::Fields;

/// Properties that belong together.
struct Family {
    /// One of them makes a body one of this family.
    main: &'static [&'static str],
    /// These go with it, and with no other family.
    further: &'static [&'static str],
}

/// In the order of the interface.
const FAMILIES: [Family; 7] = [
    Family {
        main: &[inverters::PERCENTAGE],
        further: &[inverters::TIMEOUT_PERCENTAGE],
    },
    Family {
        main: &[inverters::WATTS],
        further: &[inverters::TIMEOUT_WATTS],
    },
    Family {
        main: &[power::CHARGE, power::DISCHARGE],
        further: &[power::BATTERY_TIMEOUT],
    },
    Family {
        main: &[power::DELIVERY, power::RETURN_DELIVERY, power::CANCEL],
        further: &[power::DURATION],
    },
    Family {
        main: &[sockets::CONTAINER],
        further: &[],
    },
    Family {
        main: &[setpoints::CONTAINER],
        further: &[],
    },
    Family {
        main: &[fcr::CONTAINER],
        further: &[],
    },
];

/// The families that have the sticky timeout, which is one for both.
const WITH_INVERTER_TIMEOUT: usize = 2;

/// Tells where a body is of no family, or of more than one: at every property that is not of the first.
/// Answers with the JSON pointer of what makes it one of its family.
pub(super) fn tell(fields: &mut Fields) -> String {
    let first_with = |wanted: fn(&Fields, &Family) -> bool| {
        FAMILIES.iter().position(|family| wanted(fields, family))
    };
    let has_any = |fields: &Fields, names: &[&str]| names.iter().any(|name| fields.has(name));
    let own = first_with(|fields, it| it.main.iter().any(|name| fields.has(name)))
        .or_else(|| first_with(|fields, it| it.further.iter().any(|name| fields.has(name))));
    let Some(own) = own else {
        if !has_any(fields, &[inverters::TIMEOUT]) {
            let mains = FAMILIES.iter().flat_map(|family| family.main);
            let mains: Vec<&str> = mains.copied().collect();
            fields.require_one_of(&mains);
        }
        return String::new();
    };
    for (number, family) in FAMILIES.iter().enumerate() {
        if number != own {
            tell_another(fields, family.main);
            tell_another(fields, family.further);
        }
    }
    if own >= WITH_INVERTER_TIMEOUT {
        tell_another(fields, &[inverters::TIMEOUT]);
    }
    let mut mains = FAMILIES.iter().skip(own).flat_map(|family| family.main);
    let main = mains.find(|name| fields.has(name));
    main.map_or_else(String::new, |name| fields.pointer(name))
}

fn tell_another(fields: &mut Fields, names: &[&str]) {
    for name in names {
        if fields.has(name) {
            let rule = "is of another family of actions than what stands with it";
            fields.violate(name, "another_family", rule);
        }
    }
}
