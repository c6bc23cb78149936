//! Who comes in: the one way to everything that is not open, whether it exists or not.
//!
//! What is checked first, where several things are wrong: 401, 429, 404 here; then 404 and 405 of the
//! router, 403 in [`crate::extract::authorise`], 413 and 400 at the bodies.

mod lanes;

use crate::error::Problem;
use crate::extract::{Link, User, bearer, parse_uuid};
use crate::limits::REQUEST_WINDOW;
use crate::state::Api;
use crate::token::TokenKind;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use domain::time::Timestamp;
pub(crate) use lanes::{Lanes, work};
use ops::metrics::Counter;
use percent_encoding::percent_decode_str;
use std::sync::{Arc, OnceLock};
use store::{Admission, AskedAdmission};
use uuid::Uuid;

const BUILDINGS: &str = "/public-api/buildings/";

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// Lets requests in that have a valid access token of an active user, who has requests left and, below
/// a building's path, a link to the building. One statement tells all of it, and of those who come at once.
pub(crate) async fn admit(
    State(api): State<Api>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let token = bearer(request.headers()).ok_or(Problem::NotAuthenticated)?;
    let username = api.keys.verify(TokenKind::Access, token, api.now())?.sub;
    let place = Place::of(request.uri().path());
    let asked = AskedAdmission {
        username: username.clone(),
        building: place.building(),
    };
    let told = api.lanes.admit(asked).await?;
    let (admission, now) = told.ok_or(Problem::UserNotActive)?;
    let budget = Budget::of(&admission, now);
    if let Some(told) = request.extensions().get::<ToldBudget>() {
        told.tell(budget);
    }
    if !admission.admitted {
        api.metrics
            .update(|update| update.add(Counter::ApiRateLimitedRequests, 1));
        return Err(Problem::TooManyRequests(budget.reset_s));
    }
    match place {
        Place::Elsewhere => {}
        Place::NoBuilding => return Err(Problem::NotFound),
        Place::Building(building) => {
            let role = admission.role.ok_or(Problem::NotFound)?;
            request.extensions_mut().insert(Link { building, role });
        }
    }
    request.extensions_mut().insert(User { username });
    Ok(next.run(request).await)
}

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Not below a building's path.
    Elsewhere,
    /// Below the path of something that is no uuid.
    NoBuilding,
    /// Below a building's path.
    Building(Uuid),
}

impl Place {
    fn of(path: &str) -> Self {
        // The list of buildings is not below one; a name that is empty is none.
        let below = path.strip_prefix(BUILDINGS).filter(|it| !it.is_empty());
        let Some(name) = below.and_then(|below| below.split('/').next()) else {
            return Self::Elsewhere;
        };
        let name = percent_decode_str(name).decode_utf8();
        name.ok()
            .and_then(|name| parse_uuid(&name))
            .map_or(Self::NoBuilding, Self::Building)
    }

    const fn building(self) -> Option<Uuid> {
        match self {
            Self::Building(building) => Some(building),
            Self::Elsewhere | Self::NoBuilding => None,
        }
    }
}

/// How much of the rate limit a user has left, after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Budget {
    /// Requests in a window.
    limit: i64,
    /// Requests left in this one.
    remaining: i64,
    /// Seconds until the next one, rounded up.
    reset_s: u64,
}

impl Budget {
    fn of(admission: &Admission, now: Timestamp) -> Self {
        let end = admission.window_start.plus(REQUEST_WINDOW);
        Self {
            limit: admission.limit,
            // Below zero when a building was unlinked.
            remaining: (admission.limit - admission.spent).max(0),
            reset_s: end.seconds_from(now),
        }
    }
}

/// Where [`admit`] tells the budget, so that every answer carries it, also one that is given because the
/// handler took too long or failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToldBudget(Arc<OnceLock<Budget>>);

impl ToldBudget {
    fn tell(&self, budget: Budget) {
        // A request is admitted once; were it admitted again, the first budget would do.
        self.0.get_or_init(|| budget);
    }

    /// Writes the headers of the rate limit, if the request had a valid access token.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        if let Some(budget) = self.0.get() {
            headers.insert(LIMIT, HeaderValue::from(budget.limit));
            headers.insert(REMAINING, HeaderValue::from(budget.remaining));
            headers.insert(RESET, HeaderValue::from(budget.reset_s));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_a_building_names_it_in_every_spelling() {
        let building = Uuid::parse_str("aaaaaaaa-0000-4000-8000-00000000000a").unwrap();
        let check = |rest: &str, place| assert_eq!(Place::of(&format!("{BUILDINGS}{rest}")), place);
        check(&format!("{building}/"), Place::Building(building));
        check(&format!("{building}/x/y/"), Place::Building(building));
        check(
            "AAAAAAAA-0000-4000-8000-00000000000A/x/",
            Place::Building(building),
        );
        check(
            "aaaaaaaa%2D0000-4000-8000-00000000000%61/",
            Place::Building(building),
        );
        check("aaaaaaaa00004000800000000000000a/", Place::NoBuilding);
        check("x/", Place::NoBuilding);
        check("%ff/", Place::NoBuilding);
        check(&format!("{building}%2Fsensors/"), Place::NoBuilding);
        check("", Place::Elsewhere);
        check("/", Place::NoBuilding);
        check("/sensors/", Place::NoBuilding);
        assert_eq!(Place::of("/public-api/token/"), Place::Elsewhere);
        assert_eq!(Place::of("/"), Place::Elsewhere);
    }

    #[test]
    fn what_is_left_is_never_below_zero_and_its_seconds_are_rounded_up() {
        let now = Timestamp::from_micros(1_700_000_000_000_001);
        let admission = Admission {
            role: None,
            limit: 500,
            spent: 800,
            window_start: Timestamp::from_seconds(1_700_000_000 - 3_599),
            admitted: false,
        };
        let expected = Budget {
            limit: 500,
            remaining: 0,
            reset_s: 1,
        };
        assert_eq!(Budget::of(&admission, now), expected);
    }
}
