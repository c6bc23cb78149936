//! Requests that come while the database is asked about others are asked about together, as soon as there is an answer: the
//! more there is to do, the less each request costs, and who comes alone does not wait for anybody.

use crate::error::Problem;
use crate::limits::{
    ADMISSION_LANES, ADMITTED_AT_ONCE, LEAST_REQUESTS, REQUEST_TIMEOUT, REQUEST_WINDOW,
    REQUESTS_PER_BUILDING,
};
use crate::state::Api;
use domain::time::Timestamp;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::{Admission, AskedAdmission, RequestLimit, StoreFailure};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

const REQUEST_LIMIT: RequestLimit = RequestLimit {
    each_building: REQUESTS_PER_BUILDING,
    least: LEAST_REQUESTS,
    window: REQUEST_WINDOW,
};

/// What a request is told, and the moment in which it was counted; nothing where the user is none.
type Told = Result<Option<(Admission, Timestamp)>, StoreFailure>;

/// The requests that wait for their admission.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    waiting: Mutex<Vec<Waiting>>,
    come: Notify,
}

#[derive(Debug)]
struct Waiting {
    asked: AskedAdmission,
    tell: oneshot::Sender<Told>,
}

impl Lanes {
    /// Waits for the answer to a request; [`work`] gives it.
    pub(super) async fn admit(
        &self,
        asked: AskedAdmission,
    ) -> Result<Option<(Admission, Timestamp)>, Problem> {
        let (tell, told) = oneshot::channel();
        self.lock().push(Waiting { asked, tell });
        self.come.notify_one();
        let gone = |_| Problem::Unavailable("nobody admits requests any more".to_owned());
        Ok(told.await.map_err(gone)??)
    }

    /// Those who wait, in the order in which they came; nobody where all have given up.
    async fn next(&self) -> Vec<Waiting> {
        self.come.notified().await;
        let mut waiting = self.lock();
        // Who has gone away was not there; a request that is counted was asked about.
        waiting.retain(|it| !it.tell.is_closed());
        let first = waiting.len().min(ADMITTED_AT_ONCE);
        let later = waiting.split_off(first);
        if !later.is_empty() {
            self.come.notify_one();
        }
        std::mem::replace(&mut waiting, later)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Admits requests until it is dropped.
pub(crate) async fn work(api: Api) {
    let mut lanes = JoinSet::new();
    for _ in 0..ADMISSION_LANES {
        lanes.spawn(lane(api.clone()));
    }
    while let Some(ended) = lanes.join_next().await {
        if let Err(error) = ended {
            tracing::error!(%error, "admitting requests broke off");
        }
        lanes.spawn(lane(api.clone()));
    }
}

async fn lane(api: Api) {
    loop {
        let waiting = api.lanes.next().await;
        let (asked, tells): (Vec<_>, Vec<_>) =
            waiting.into_iter().map(|it| (it.asked, it.tell)).unzip();
        if asked.is_empty() {
            continue;
        }
        let now = api.now();
        let told = tokio::select! {
            told = api.store.admit_several(&asked, REQUEST_LIMIT, now) => told,
            // Nobody waits for the answer any longer.
            () = api.store.given_up_after(REQUEST_TIMEOUT) => {
                Err(StoreFailure::Transient("database: no answer in time".to_owned()))
            }
        };
        let told: Vec<Told> = match told {
            Ok(told) => told
                .into_iter()
                .map(|it| Ok(it.map(|it| (it, now))))
                .collect(),
            Err(failure) => asked.iter().map(|_| Err(failure.clone())).collect(),
        };
        for (tell, told) in tells.into_iter().zip(told) {
            // Who has gone away meanwhile has spent a request.
            drop(tell.send(told));
        }
    }
}
