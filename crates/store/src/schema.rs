//! Whether the database's schema fits this binary.
//!
//! A migration is one that an older binary can go on with, unless its name begins with `breaking_`: sqlx keeps the
//! name beside the number, so that a binary can tell also of migrations that it does not know.

use crate::migrate::MIGRATIONS;
use crate::{Store, StoreFailure};
use sqlx::{PgConnection, Row};

/// How the description of a migration begins that older binaries cannot go on with.
const BREAKING: &str = "breaking";

/// The schema beside the migrations of this binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaAge {
    /// These migrations of this binary are not in the database, oldest first; all of them when it has no schema.
    Older(Vec<i64>),
    /// The same.
    Equal,
    /// The database has more, and this binary can go on: a rolling upgrade.
    Newer(Vec<i64>),
    /// The database has more, and this binary must not touch it.
    TooNew(Vec<i64>),
}

impl SchemaAge {
    /// Why a process cannot work with it, if it cannot.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        match self {
            Self::Older(missing) => Some(format!(
                "the schema is missing or old ({} to come): run `wattline migrate`",
                numbers(missing)
            )),
            Self::TooNew(unknown) => Some(format!(
                "the schema is newer than this binary can work with ({}): run the newer one",
                numbers(unknown)
            )),
            Self::Equal | Self::Newer(_) => None,
        }
    }
}

impl Store {
    /// How old the schema is.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn schema_age(&self) -> Result<SchemaAge, StoreFailure> {
        let mut connection = self.pool.acquire().await?;
        Ok(schema_age(&mut connection).await?)
    }
}

/// How old the schema is that this connection sees.
pub(crate) async fn schema_age(connection: &mut PgConnection) -> Result<SchemaAge, sqlx::Error> {
    let known: Vec<i64> = MIGRATIONS.iter().map(|it| it.version).collect();
    let is_there: bool = sqlx::query("select to_regclass('_sqlx_migrations') is not null")
        .fetch_one(&mut *connection)
        .await?
        .try_get(0)?;
    if !is_there {
        return Ok(SchemaAge::Older(known));
    }
    let rows =
        sqlx::query("select version, description from _sqlx_migrations where success order by 1")
            .fetch_all(connection)
            .await?;
    let applied: Result<Vec<(i64, String)>, sqlx::Error> = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect();
    Ok(compare(&known, &applied?))
}

/// Fails when this binary must not touch what the connection leads to.
pub(crate) async fn refuse_too_new(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    match schema_age(connection).await? {
        age @ SchemaAge::TooNew(_) => Err(sqlx::Error::Protocol(age.trouble().unwrap_or_default())),
        SchemaAge::Older(_) | SchemaAge::Equal | SchemaAge::Newer(_) => Ok(()),
    }
}

fn compare(known: &[i64], applied: &[(i64, String)]) -> SchemaAge {
    let unknown = applied
        .iter()
        .filter(|(version, _)| !known.contains(version));
    let breaking = unknown
        .clone()
        .any(|(_, description)| description.starts_with(BREAKING));
    let unknown: Vec<i64> = unknown.map(|(version, _)| *version).collect();
    let missing = known
        .iter()
        .filter(|version| !applied.iter().any(|(applied, _)| applied == *version));
    let missing: Vec<i64> = missing.copied().collect();
    if breaking {
        SchemaAge::TooNew(unknown)
    } else if !missing.is_empty() {
        SchemaAge::Older(missing)
    } else if unknown.is_empty() {
        SchemaAge::Equal
    } else {
        SchemaAge::Newer(unknown)
    }
}

/// Migrations as their files are numbered.
fn numbers(versions: &[i64]) -> String {
    let numbers: Vec<String> = versions.iter().map(|it| format!("{it:04}")).collect();
    let word = if numbers.len() == 1 {
        "migration"
    } else {
        "migrations"
    };
    format!("{word} {}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_older_equal_newer_or_too_new() {
        let check = |applied: &[(i64, &str)], expected: SchemaAge| {
            let applied: Vec<(i64, String)> = applied
                .iter()
                .map(|(version, text)| (*version, (*text).to_owned()))
                .collect();
            assert_eq!(compare(&[1, 2], &applied), expected, "{applied:?}");
        };
        check(&[], SchemaAge::Older(vec![1, 2]));
        check(&[(1, "initial")], SchemaAge::Older(vec![2]));
        check(&[(1, "initial"), (2, "breaking names")], SchemaAge::Equal);
        let both = [(1, "initial"), (2, "b"), (3, "more columns")];
        check(&both, SchemaAge::Newer(vec![3]));
        let breaking = [(1, "initial"), (2, "b"), (3, "c"), (4, "breaking names")];
        check(&breaking, SchemaAge::TooNew(vec![3, 4]));
        check(&[(1, "a"), (3, "c")], SchemaAge::Older(vec![2]));
    }

    #[test]
    fn what_is_wrong_names_the_migrations_and_what_to_do() {
        let older = SchemaAge::Older(vec![7]).trouble().unwrap();
        assert!(older.contains("migration 0007") && older.contains("run `wattline migrate`"));
        let newer = SchemaAge::TooNew(vec![8, 9]).trouble().unwrap();
        assert!(newer.contains("migrations 0008, 0009"), "{newer}");
        assert_eq!(SchemaAge::Newer(vec![8]).trouble(), None);
    }
}
