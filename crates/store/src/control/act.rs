//! Taking a wish: judged, applied, stored and queued for publication in one transaction.

use crate::building::kind;
use crate::control::report::catch_up_wholly;
use crate::control::{Kept, fate, save};
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::control::{Action, Happening, State};
use domain::sensor::SensorKind;
use domain::time::Timestamp;
use fate::Happened;
use serde_json::Value;
use sqlx::{PgConnection, Row};
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

/// How long the same `Idempotency-Key` is the same wish (`decisions.md`, actions).
const KEY_IS_REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// A wish as it came.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// Of which building.
    pub building: Uuid,
    /// Who asks.
    pub username: &'a str,
    /// From where.
    pub address: &'a str,
    /// The body as it was sent: a JSON document.
    pub body: &'a str,
    /// Of the header of this name.
    pub idempotency_key: Option<&'a str>,
    /// The sensors that the body names.
    pub sensors: &'a [Uuid],
}

/// What a wish is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The building's control state now.
    pub state: &'a State,
    /// Those of the building among the sensors that the body names.
    pub sensors: &'a HashMap<Uuid, SensorKind>,
}

/// What became of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acted<E> {
    /// It is the action with this uuid.
    Taken(Uuid),
    /// It was taken before, with the same key and the same body.
    Repeated(Uuid),
    /// The key was used for another body.
    KeyTaken,
    /// The judge refused it.
    Refused(E),
    /// The desired document would grow beyond what a broker takes.
    Full,
}

impl Store {
    /// Judges a wish and takes it if the judge makes an action of it; wishes for one building come one after
    /// the other, and the clock is read when this one's turn has come. `None` when there is no such building.
    ///
    /// # Errors
    /// When the database does not take it; nothing has happened then.
    pub async fn act<E: Send>(
        &self,
        wish: Wish<'_>,
        clock: impl Fn() -> Timestamp + Send,
        judge: impl FnOnce(Facts<'_>) -> Result<Action, E> + Send,
    ) -> Result<Option<Acted<E>>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let locked = Kept::lock(&mut transaction, wish.building, clock).await?;
        let Some((mut kept, now)) = locked.filter(|(kept, _)| !kept.is_disabled) else {
            return Ok(None);
        };
        let earlier = earlier(&mut transaction, wish, now).await?;
        if let Some(Earlier {
            repeated: Some(action_uuid),
        }) = earlier
        {
            return Ok(Some(Acted::Repeated(action_uuid)));
        }
        let sensors = sensors(&mut transaction, wish).await?;
        catch_up_wholly(&mut transaction, &mut kept, now).await?;
        let action = match judge(Facts {
            state: &kept.state,
            sensors: &sensors,
        }) {
            Ok(action) => action,
            Err(refusal) => return Ok(Some(Acted::Refused(refusal))),
        };
        if earlier.is_some() {
            return Ok(Some(Acted::KeyTaken));
        }
        let action_uuid = Uuid::new_v4();
        let changed = kept
            .state
            .apply(action_uuid, &action, &kept.surroundings, now);
        let done = changed.done;
        let mut happened = kept.note(changed);
        if !kept.fits() {
            return Ok(Some(Acted::Full));
        }
        insert(&mut transaction, wish, &kept, (action_uuid, &action), now).await?;
        if done {
            happened.push(nothing_to_do(&kept, action_uuid, now));
        }
        save(&mut transaction, &[kept], now, now).await?;
        fate::happen(&mut transaction, happened).await?;
        transaction.commit().await?;
        Ok(Some(Acted::Taken(action_uuid)))
    }
}

/// A wish with the same key.
struct Earlier {
    /// The action, if its body was the same.
    repeated: Option<Uuid>,
}

async fn earlier(
    connection: &mut PgConnection,
    wish: Wish<'_>,
    now: Timestamp,
) -> Result<Option<Earlier>, StoreFailure> {
    let Some(key) = wish.idempotency_key else {
        return Ok(None);
    };
    let row = sqlx::query(include_str!("../queries/action_by_key.sql"))
        .bind(wish.building)
        .bind(wish.username)
        .bind(key)
        .bind(Instant(now.minus(KEY_IS_REMEMBERED)))
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let body: Value = row.try_get("body")?;
    let is_same = serde_json::from_str(wish.body).is_ok_and(|sent| says_the_same(&sent, &body));
    let action_uuid: Uuid = row.try_get("action_uuid")?;
    Ok(Some(Earlier {
        repeated: is_same.then_some(action_uuid),
    }))
}

/// Whether two bodies say the same, however they are spelled: `60.0` is `60`.
fn says_the_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| says_the_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(key, one): (&String, &Value)| {
                other
                    .get(key)
                    .is_some_and(|other| says_the_same(one, other))
            };
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}

async fn sensors(
    connection: &mut PgConnection,
    wish: Wish<'_>,
) -> Result<HashMap<Uuid, SensorKind>, StoreFailure> {
    if wish.sensors.is_empty() {
        return Ok(HashMap::new());
    }
    let statement =
        "select sensor_uuid, kind from sensor where building_uuid = $1 and sensor_uuid = any($2)";
    let rows = sqlx::query(statement)
        .bind(wish.building)
        .bind(wish.sensors)
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| Ok((row.try_get("sensor_uuid")?, kind(row)?)))
        .collect()
}

async fn insert(
    connection: &mut PgConnection,
    wish: Wish<'_>,
    kept: &Kept,
    (action_uuid, action): (Uuid, &Action),
    now: Timestamp,
) -> Result<(), StoreFailure> {
    sqlx::query(include_str!("../queries/insert_action.sql"))
        .bind(wish.building)
        .bind(action_uuid)
        .bind(Instant(now))
        .bind(wish.username)
        .bind(wish.address)
        .bind(action.family())
        .bind(wish.body)
        .bind(kept.revision)
        .bind(wish.idempotency_key)
        .execute(connection)
        .await?;
    Ok(())
}

fn nothing_to_do(kept: &Kept, action_uuid: Uuid, now: Timestamp) -> Happened {
    Happened {
        building: kept.building,
        action_uuid,
        happening: Happening::Done,
        at: now,
        detail: "there was nothing to cancel".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_say_the_same_whatever_the_spelling_of_a_number_and_the_order_of_keys() {
        let check = |one: &str, other: &str, same| {
            let read = |text| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(
                says_the_same(&read(one), &read(other)),
                same,
                "{one} {other}"
            );
        };
        check(
            r#"{"a": 60, "b": [1, {"c": null}]}"#,
            r#"{"b": [1.0, {"c": null}], "a": 6e1}"#,
            true,
        );
        check(r#"{"a": 60}"#, r#"{"a": 61}"#, false);
        check(r#"{"a": 60}"#, r#"{"a": 60, "b": 1}"#, false);
        check(r#"{"a": 60, "b": 1}"#, r#"{"a": 60}"#, false);
        check("[1]", "[1, 2]", false);
        check("[1, 2]", "[2, 1]", false);
        check("true", "1", false);
        check("\"1\"", "1", false);
    }
}
