//! The api as a component: serve until told to stop, tell whether the database answers, follow the key
//! file, clear away what has expired.

use crate::admission;
use crate::config::{Config, Handles};
use crate::exchange::Exchange;
use crate::housekeeping::keep_house;
use crate::serve::{Door, serve};
use crate::state::Api;
use crate::tls::Tls;
use ops::failure::Fatal;
use ops::health::Condition;
use ops::shutdown::Shutdown;
use ops::watch;
use store::Store;
use tokio::net::TcpListener;

/// Serves the public API on `listener` until `shutdown`, then finishes what is in flight, within
/// [`ops::shutdown::GRACE`]. A database that is away makes the condition `database` fail, and
/// answers 503, until it is back.
///
/// # Errors
/// When the system gives no randomness to start with.
pub async fn run(
    config: Config,
    listener: TcpListener,
    store: Store,
    handles: Handles,
    shutdown: Shutdown,
) -> Result<(), Fatal> {
    let database = handles.health.condition("database");
    let door = Door {
        tls: config.tls.clone(),
        trusted_proxies: config.trusted_proxies.clone(),
        metrics: handles.metrics.clone(),
    };
    let tls = config.tls.clone();
    let api = Api::new(config, store.clone(), handles)
        .map_err(|failure| Fatal(format!("cannot start the api: {failure}")))?;
    let served = async {
        // Requests are admitted until the last one has its answer.
        tokio::select! {
            () = serve(listener, door, Exchange::new(api.clone()), &shutdown) => {}
            () = admission::work(api.clone()) => {}
        }
    };
    tokio::join!(
        served,
        watch_database(&store, &database, &shutdown),
        api.keys.watch(&shutdown),
        keep_house(&api, &shutdown),
        watch_certificate(tls.as_ref(), &shutdown),
    );
    Ok(())
}

async fn watch_certificate(tls: Option<&Tls>, shutdown: &Shutdown) {
    if let Some(tls) = tls {
        tls.watch(shutdown).await;
    }
}

async fn watch_database(store: &Store, condition: &Condition, shutdown: &Shutdown) {
    let mut database = store.watch();
    loop {
        watch::look(condition, store.server(), database.look()).await;
        if !watch::goes_on(shutdown).await {
            return;
        }
    }
}
