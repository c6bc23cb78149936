//! Locks of an administration: so that what it tells is what it did, and nothing of others.

use crate::StoreFailure;
use crate::administration::change::Change;
use crate::administration::snapshot::Scope;
use sqlx::PgConnection;
use uuid::Uuid;

/// The advisory lock that an administration holds.
const ADMINISTRATION_LOCK: i64 = 0x77_61_74_74_61_64_6d_6e;

/// Waits for other administrations, as long as a statement may take; from then on statements may take
/// longer, since what is removed may be large.
pub(crate) async fn one_at_a_time(connection: &mut PgConnection) -> Result<(), StoreFailure> {
    sqlx::query("select pg_advisory_xact_lock($1)")
        .bind(ADMINISTRATION_LOCK)
        .execute(&mut *connection)
        .await?;
    sqlx::query("set local statement_timeout = 0")
        .execute(connection)
        .await?;
    Ok(())
}

/// Locks the buildings and the user that a change may touch. Buildings that it removes come first and
/// wait for the batches that hold them: asked for later, batch and removal could wait for each other.
/// All others in the order in which batches lock theirs.
pub(crate) async fn rows(
    connection: &mut PgConnection,
    change: &Change,
    scope: &Scope,
) -> Result<(), StoreFailure> {
    match change {
        Change::Fleet { fleet, prune: true } => {
            let named: Vec<Uuid> = fleet.buildings.iter().map(|it| it.uuid).collect();
            sqlx::query("select from building where uuid <> all($1) order by uuid for update")
                .bind(named)
                .execute(&mut *connection)
                .await?;
        }
        Change::RemoveBuilding(building) => {
            sqlx::query("select from building where uuid = $1 for update")
                .bind(building)
                .execute(&mut *connection)
                .await?;
        }
        Change::Fleet { .. }
        | Change::PutBuilding(_)
        | Change::DisableBuilding { .. }
        | Change::PutUser { .. }
        | Change::DisableUser { .. }
        | Change::RemoveUser(_)
        | Change::PutLink { .. }
        | Change::RemoveLink { .. }
        | Change::PutSensor(_)
        | Change::RemoveSensor(_)
        | Change::RevokeTokens { .. } => {}
    }
    sqlx::query(include_str!("../queries/lock_administered_buildings.sql"))
        .bind(scope.everything)
        .bind(scope.building)
        .execute(&mut *connection)
        .await?;
    // A login locks its user likewise before it hands out a token.
    sqlx::query("select from app_user where username = $1 for update")
        .bind(&scope.user)
        .execute(connection)
        .await?;
    Ok(())
}
