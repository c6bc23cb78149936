//! `…/actions/`: what users wish of a building, and what becomes of it.

pub(crate) mod asked;
mod shown;

use crate::error::{Problem, Violation};
use crate::extract::{
    Acting, BrokenRule, IdempotencyKey, JsonText, Member, Page, Parameters, PathUuid,
};
use crate::limits::ACTIONS_A_PAGE;
use crate::state::Api;
use asked::Asked;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use domain::control::state::MOST_ENTRIES;
pub(crate) use shown::ActionBody;
use store::{Acted, Wish};
use uuid::Uuid;

/// `POST …/actions/`
pub(crate) async fn create(
    State(api): State<Api>,
    member: Member,
    acting: Acting,
    IdempotencyKey(key): IdempotencyKey,
    JsonText { text, fields }: JsonText,
) -> Result<impl IntoResponse, Problem> {
    let mut asked = Asked::of(fields, api.now());
    let key = key.map_err(|violation| asked.refuse(violation));
    let (sensors, place) = (asked.sensors(), asked.place());
    let wish = Wish {
        building: member.building,
        username: acting.who().username,
        address: acting.who().address,
        body: &text,
        idempotency_key: key.as_ref().ok().and_then(Option::as_deref),
        sensors: &sensors,
    };
    let acted = api
        .store
        .act(wish, || api.now(), |facts| asked.judge(facts));
    let action = taken(acted.await?.ok_or(Problem::NotFound)?, place)?;
    let location = format!("{}{action}/", path(member));
    Ok((StatusCode::NO_CONTENT, [(header::LOCATION, location)]))
}

/// Which action it is, unless there is none.
fn taken(acted: Acted<Problem>, place: String) -> Result<Uuid, Problem> {
    match acted {
        Acted::Taken(action) | Acted::Repeated(action) => Ok(action),
        Acted::KeyTaken => Err(Problem::IdempotencyKeyReused),
        Acted::Refused(problem) => Err(problem),
        Acted::Full => {
            let rule = format!(
                "the building's sockets, setpoints, blocks and grid limits would be more than \
                 {MOST_ENTRIES}"
            );
            Err(Problem::Invalid(vec![Violation::new(
                place, "too_many", rule,
            )]))
        }
    }
}

/// `GET …/actions/`
pub(crate) async fn list(
    State(api): State<Api>,
    member: Member,
    parameters: Parameters,
) -> Result<Page<ActionBody>, Problem> {
    let mut violations = Vec::new();
    let before = parameters.once("cursor", &mut violations, cursor);
    if !violations.is_empty() {
        return Err(Problem::Invalid(violations));
    }
    // One more than fits tells whether there is a next page.
    let asked = ACTIONS_A_PAGE.saturating_add(1);
    let mut actions = api.store.actions(member.building, before, asked).await?;
    let more = actions.len() > ACTIONS_A_PAGE;
    actions.truncate(ACTIONS_A_PAGE);
    let last = actions.last().filter(|_| more);
    Ok(Page {
        next: last.map(|last| format!("{}?cursor={}", path(member), last.number)),
        items: actions
            .into_iter()
            .map(ActionBody::try_from)
            .collect::<Result<_, _>>()?,
    })
}

/// `GET …/actions/{action_uuid}/`
pub(crate) async fn one(
    State(api): State<Api>,
    member: Member,
    PathUuid(action): PathUuid,
) -> Result<Json<ActionBody>, Problem> {
    let action = api.store.action(member.building, action).await?;
    let action = action.ok_or(Problem::NotFound)?;
    Ok(Json(ActionBody::try_from(action)?))
}

/// A place in the order of the list: the number of the last action of the page before.
fn cursor(text: &str) -> Result<i64, BrokenRule> {
    let rule = ("not_a_cursor", "must be one of a link to a next page");
    let number = text.parse().ok().filter(|it| *it > 0);
    number.ok_or(rule)
}

fn path(member: Member) -> String {
    format!("/public-api/buildings/{}/actions/", member.building)
}
