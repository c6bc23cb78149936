//! Whether the database can be worked with now, asked over a connection beside the pool: so it is told in the server's
//! own words what is wrong, where a pool would only say that it has no connection to give.

use crate::schema::{SchemaAge, schema_age};
use crate::{Store, StoreFailure};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection, Row};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long the look waits for a lock on a table that every request reads; less than a look may take.
const LOCK_TIMEOUT: &str = "1500ms";

/// The same in seconds, as it is told.
const LOCK_SECONDS: f64 = 1.5;

/// Looks at the database, one connection for all looks.
pub struct Watch {
    options: PgConnectOptions,
    server: String,
    application: String,
    connection: Option<PgConnection>,
    closed: Arc<AtomicBool>,
}

impl Store {
    /// A look at this database from outside of the pool.
    #[must_use]
    pub fn watch(&self) -> Watch {
        let options = (*self.pool.connect_options()).clone();
        Watch {
            options: options.options([("lock_timeout", LOCK_TIMEOUT)]),
            server: self.server.clone(),
            application: self.application.clone(),
            connection: None,
            closed: Arc::clone(&self.too_new),
        }
    }

    /// A failure in words that name the server, for readiness and logs.
    #[must_use]
    pub fn tell(&self, failure: &StoreFailure) -> String {
        tell(&self.server, &failure.to_string())
    }

    /// The server: `database host:port`, or the folder of its socket in place of the host.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }
}

impl Watch {
    /// Looks once. May be dropped at any moment; how long it may take is the caller's to say.
    ///
    /// While the schema is one that this binary must not touch, the pool gives out no connection: nothing is written.
    ///
    /// # Errors
    /// Why the database cannot be worked with, with the server's name and its own words.
    pub async fn look(&mut self) -> Result<(), String> {
        let kept = self.connection.take();
        let looked = async {
            let mut connection = match kept {
                Some(connection) => connection,
                None => PgConnection::connect_with(&self.options).await?,
            };
            let trouble = look(&mut connection, &self.application).await?;
            Ok::<_, sqlx::Error>((connection, trouble))
        };
        let (connection, (age, trouble)) = looked
            .await
            .map_err(|error| tell(&self.server, &StoreFailure::from(error).to_string()))?;
        self.connection = Some(connection);
        let too_new = matches!(age, SchemaAge::TooNew(_));
        self.closed.store(too_new, Ordering::Release);
        match age.trouble().or(trouble) {
            None => Ok(()),
            Some(trouble) => Err(format!("{}: {trouble}", self.server)),
        }
    }
}

async fn look(
    connection: &mut PgConnection,
    application: &str,
) -> Result<(SchemaAge, Option<String>), sqlx::Error> {
    let age = schema_age(connection).await?;
    let row = sqlx::query(include_str!("queries/look.sql"))
        .bind(application)
        .fetch_one(&mut *connection)
        .await?;
    if row.try_get("standby")? {
        let standby = "the server is a standby: it takes no writes";
        return Ok((age, Some(standby.to_owned())));
    }
    if row.try_get("read_only")? {
        let read_only = "the database is read-only (default_transaction_read_only)";
        return Ok((age, Some(read_only.to_owned())));
    }
    if let Some(seconds) = row.try_get::<Option<f64>, _>("seconds")? {
        let relation: Option<String> = row.try_get("relation")?;
        let holders: Option<String> = row.try_get("holders")?;
        return Ok((age, Some(waiting(seconds, relation, holders))));
    }
    let trouble = match age.trouble() {
        None => read(connection).await?,
        Some(_) => None,
    };
    Ok((age, trouble))
}

/// Reads a row of a table that everybody reads; answers who keeps it locked, if it cannot be read.
async fn read(connection: &mut PgConnection) -> Result<Option<String>, sqlx::Error> {
    let read = sqlx::query("select from building limit 1")
        .execute(&mut *connection)
        .await;
    match read {
        Ok(_) => return Ok(None),
        Err(error) if !is_locked(&error) => return Err(error),
        Err(_) => {}
    }
    let holders = sqlx::query(include_str!("queries/holders.sql"))
        .fetch_one(connection)
        .await?
        .try_get("holders")?;
    Ok(Some(waiting(
        LOCK_SECONDS,
        Some("building".to_owned()),
        holders,
    )))
}

fn is_locked(error: &sqlx::Error) -> bool {
    const LOCK_NOT_AVAILABLE: &str = "55P03";
    let refused = error.as_database_error();
    refused.is_some_and(|it| it.code().as_deref() == Some(LOCK_NOT_AVAILABLE))
}

fn waiting(seconds: f64, relation: Option<String>, holders: Option<String>) -> String {
    let of = relation.map_or_else(String::new, |it| format!(" on {it}"));
    let by = holders.map_or_else(String::new, |it| format!(", held by process {it}"));
    format!("a statement has waited {seconds:.1} s for a lock{of}{by}")
}

/// Puts the server's name where a failure has only the word.
fn tell(server: &str, failure: &str) -> String {
    match failure.strip_prefix("database: ") {
        Some(rest) => format!("{server}: {rest}"),
        None => format!("{server}: {failure}"),
    }
}

/// The server's name, from what a URL says; nothing of a login.
pub(crate) fn server(options: &PgConnectOptions) -> String {
    let host = options.get_socket().map_or_else(
        || options.get_host().to_owned(),
        |folder| folder.display().to_string(),
    );
    format!("database {host}:{}", options.get_port())
}
