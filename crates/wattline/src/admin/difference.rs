//! What a change makes different, line by line: `+` what is new, `-` what goes, `~` what changes.

use crate::failure::Failure;
use crate::{output, process};
use std::collections::BTreeMap;
use store::{
    Administered, KeptBuilding, KeptHub, KeptSensor, KeptToken, KeptUser, Role, Run, Snapshot,
};
use uuid::Uuid;
use wire::envelope::format_rfc3339;

/// Prints the difference to standard output: the same whether the change is made or only told.
pub(super) fn print(administered: &Administered, run: Run) -> Result<(), Failure> {
    let lines = lines(&administered.before, &administered.after);
    for line in &lines {
        output::line(line)?;
    }
    if lines.is_empty() {
        output::line("nothing to change")?;
    }
    if run == Run::Dry {
        tell_dry_run();
    }
    Ok(())
}

/// Says, beside the difference, that it was only told.
pub(super) fn tell_dry_run() {
    process::tell("dry run: nothing was changed");
}

fn lines(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut lines = Vec::new();
    compare(&before.buildings, &after.buildings, building, &mut lines);
    compare(&before.hubs, &after.hubs, hub, &mut lines);
    compare(&before.sensors, &after.sensors, sensor, &mut lines);
    compare(&before.users, &after.users, user, &mut lines);
    compare(&before.links, &after.links, link, &mut lines);
    compare(&before.tokens, &after.tokens, token, &mut lines);
    lines
}

/// A row in words.
struct Described {
    identity: String,
    fields: Vec<(&'static str, Told)>,
}

/// A field's value in words.
#[derive(PartialEq, Eq)]
enum Told {
    Nothing,
    Value(String),
    /// Compared and never shown.
    Secret(String),
}

fn compare<K: Ord, V: PartialEq>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
    describe: impl Fn(&K, &V) -> Described,
    lines: &mut Vec<String>,
) {
    let mut keys: Vec<&K> = before.keys().chain(after.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        match (before.get(key), after.get(key)) {
            (Some(old), Some(new)) if old == new => {}
            (Some(old), Some(new)) => lines.push(changed(describe(key, old), describe(key, new))),
            (Some(old), None) => lines.push(whole('-', describe(key, old))),
            (None, Some(new)) => lines.push(whole('+', describe(key, new))),
            (None, None) => {}
        }
    }
}

fn whole(sign: char, row: Described) -> String {
    let fields = row
        .fields
        .into_iter()
        .filter_map(|(name, told)| match told {
            Told::Value(value) => Some(format!("{name} {value}")),
            Told::Nothing | Told::Secret(_) => None,
        });
    format!(
        "{sign} {} {}",
        row.identity,
        fields.collect::<Vec<_>>().join(", ")
    )
}

fn changed(old: Described, new: Described) -> String {
    let pairs = old.fields.into_iter().zip(new.fields);
    let changes = pairs.filter(|((_, old), (_, new))| old != new);
    let changes = changes.map(|((name, old), (_, new))| match (old, new) {
        (Told::Secret(_), _) | (_, Told::Secret(_)) => format!("{name} changed"),
        (old, new) => format!("{name} {} -> {}", shown(old), shown(new)),
    });
    format!(
        "~ {} {}",
        new.identity,
        changes.collect::<Vec<_>>().join(", ")
    )
}

fn shown(told: Told) -> String {
    match told {
        Told::Value(value) => value,
        Told::Nothing => "none".to_owned(),
        Told::Secret(_) => String::new(),
    }
}

fn plain(value: impl ToString) -> Told {
    Told::Value(value.to_string())
}

/// In quotes, control characters escaped: names are other people's texts.
fn quoted(text: &str) -> Told {
    Told::Value(format!("{text:?}"))
}

fn building(uuid: &Uuid, row: &KeptBuilding) -> Described {
    Described {
        identity: format!("building {uuid}"),
        fields: vec![
            ("name", quoted(&row.name)),
            ("timezone", plain(&row.timezone)),
            (
                "consumption_compensated_curtailment",
                plain(row.consumption_compensated_curtailment),
            ),
            ("disabled", plain(row.disabled)),
        ],
    }
}

fn hub(uuid: &Uuid, row: &KeptHub) -> Described {
    Described {
        identity: format!("hub {uuid}"),
        fields: vec![
            ("building", plain(row.building)),
            ("name", quoted(&row.name)),
            ("kind", quoted(&row.kind)),
            ("position", plain(row.position)),
            ("origin", plain(&row.origin)),
        ],
    }
}

fn sensor(uuid: &Uuid, row: &KeptSensor) -> Described {
    let optional = |text: &Option<String>| text.as_deref().map_or(Told::Nothing, quoted);
    Described {
        identity: format!("sensor {uuid}"),
        fields: vec![
            ("building", plain(row.building)),
            ("hub", plain(row.hub)),
            ("name", quoted(&row.name)),
            ("kind", plain(&row.kind)),
            ("min_interval", plain(&row.min_interval)),
            ("meter_name", optional(&row.meter_name)),
            ("tariff", optional(&row.tariff)),
            ("position", plain(row.position)),
            ("origin", plain(&row.origin)),
        ],
    }
}

fn user(username: &String, row: &KeptUser) -> Described {
    Described {
        identity: format!("user {username:?}"),
        fields: vec![
            ("password", Told::Secret(row.password_hash.clone())),
            ("disabled", plain(row.disabled)),
        ],
    }
}

fn link((username, building): &(String, Uuid), role: &Role) -> Described {
    Described {
        identity: format!("link {username:?} {building}"),
        fields: vec![("role", plain(role.as_str()))],
    }
}

fn token(jti: &Uuid, row: &KeptToken) -> Described {
    Described {
        identity: format!("token {jti}"),
        fields: vec![
            ("user", quoted(&row.username)),
            ("issued_at", plain(format_rfc3339(row.issued_at))),
            ("expires_at", plain(format_rfc3339(row.expires_at))),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(name: &str, password_hash: &str, tariff: Option<&str>) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let sensor = KeptSensor {
            building: Uuid::nil(),
            hub: Uuid::nil(),
            name: name.to_owned(),
            kind: "delivery".to_owned(),
            min_interval: "minute".to_owned(),
            meter_name: None,
            tariff: tariff.map(str::to_owned),
            position: 1,
            origin: "fleet".to_owned(),
        };
        snapshot.sensors.insert(Uuid::nil(), sensor);
        let user = KeptUser {
            password_hash: password_hash.to_owned(),
            disabled: false,
        };
        snapshot.users.insert("ada".to_owned(), user);
        snapshot
    }

    #[test]
    fn a_change_tells_its_fields_and_never_a_hash() {
        let nil = Uuid::nil();
        let (before, after) = (
            snapshot("a", "$old", None),
            snapshot("b\n", "$new", Some("low")),
        );
        assert_eq!(
            lines(&before, &after),
            [
                format!(r#"~ sensor {nil} name "a" -> "b\n", tariff none -> "low""#),
                r#"~ user "ada" password changed"#.to_owned(),
            ]
        );
        assert!(lines(&before, &before).is_empty());
    }

    #[test]
    fn what_is_new_or_goes_is_told_whole_without_its_hash() {
        let nil = Uuid::nil();
        let (nothing, all) = (Snapshot::default(), snapshot("a", "$hash", None));
        let whole = |sign: char| {
            [
                format!(
                    r#"{sign} sensor {nil} building {nil}, hub {nil}, name "a", kind delivery, min_interval minute, position 1, origin fleet"#
                ),
                format!(r#"{sign} user "ada" disabled false"#),
            ]
        };
        assert_eq!(lines(&nothing, &all), whole('+'));
        assert_eq!(lines(&all, &nothing), whole('-'));
    }
}
