//! Actions: what users wish of a building, and what becomes of it.

mod body;
mod rules;

use crate::actions::ActionBody;
use crate::description::{Answer, AnswerHeader, Content, Description, Parameter, Place, Rule};
use crate::error::Problem;
use crate::example;
use body::ActionRequest;
use schemars::json_schema;
use serde_json::{Value, json};

const SUBJECT: &str = "Actions";

pub(crate) fn create() -> Description {
    Description {
        id: "createAction",
        subject: SUBJECT,
        summary: "Wishes something of a building",
        text: "The body has the properties of exactly one family. The answer means that the wish is \
               stored, not that it is done: the action's own path tells what becomes of it.\n\n\
               - Inverters: a timeout that was once given is used for later requests until another \
               one is given; `null` clears it. After it holds the fallback, 100 percent or any power \
               where none is given.\n\
               - Batteries: charging or discharging, always with a timeout.\n\
               - Grid target: delivery or return delivery, always with a duration, within the grid \
               limits; or a cancellation, which stands alone.\n\
               - Car sockets: each with power and timeout; afterwards it gets what the location can give.\n\
               - Setpoints: values that hold until the next command, and a kill switch: without a new \
               command within `fallback_timeout_minutes` the newest `fallback_setpoints` hold. Every \
               list is sent whole. 0 disables the kill switch.\n\
               - FCR: a block between neighbouring boundaries of 00:00, 04:00, 08:00, 12:00, 16:00 and \
               20:00 in Amsterdam; in the nights in which clocks change the first one has 3 or 5 hours. \
               The same start takes the place of an earlier one.\n\n\
               A request with an `Idempotency-Key` acts once, however often the same user sends it to \
               the building with the same body within 24 hours.",
        parameters: vec![idempotency_key()],
        request: Some(Content::json::<ActionRequest>(wish())),
        answers: vec![Answer {
            headers: vec![AnswerHeader::Location],
            ..Answer::nothing("The wish is stored.")
        }],
        rules: rules::all(),
        problems: vec![Problem::IdempotencyKeyReused],
    }
}

pub(crate) fn list() -> Description {
    Description {
        id: "listActions",
        subject: SUBJECT,
        summary: "Lists the actions of a building with their fates",
        text: "Newest first; at most 100 a page, with a `Link` to the next.",
        parameters: vec![Parameter {
            name: "cursor",
            place: Place::Query,
            text: "Where the page before ended; as a link to a next page has it.",
            required: false,
            schema: json_schema!({"type": "string", "pattern": "^[0-9]{1,19}$"}),
            example: "9007".into(),
        }],
        answers: vec![Answer {
            headers: vec![AnswerHeader::Link],
            ..Answer::ok::<Vec<ActionBody>>("A page of actions.", json!([action()]))
        }],
        rules: vec![
            Rule::new(
                "/cursor",
                "not_a_cursor",
                "cursor must be one of a link to a next page",
            ),
            Rule::new("/cursor", "repeated", "cursor may be given once only"),
        ],
        ..Description::default()
    }
}

pub(crate) fn one() -> Description {
    Description {
        id: "readAction",
        subject: SUBJECT,
        summary: "Reads an action and its fate",
        text: "`accepted`: it is stored. `published`: the broker has the desired state with it. \
               `delivered`: the controller has reported that it has it. Then `confirmed` (the controller \
               says so, or telemetry shows it), `rejected` or `partial` (it says so), `superseded` (a \
               newer one took its place before) or `expired` (its time passed before).",
        parameters: vec![Parameter::path_uuid(
            "action_uuid",
            "The action's uuid.",
            example::ACTION,
        )],
        answers: vec![Answer::ok::<ActionBody>("The action.", action())],
        ..Description::default()
    }
}

fn idempotency_key() -> Parameter {
    Parameter {
        name: "Idempotency-Key",
        place: Place::Header,
        text: "UTF-8 without control characters, given once.",
        required: false,
        schema: json_schema!({"type": "string", "minLength": 1, "maxLength": 255}),
        example: "2f7d6c1e-charge-tonight".into(),
    }
}

fn wish() -> Value {
    json!({"battery_set_power_charge_watts": 5_000, "battery_set_power_timeout": 900})
}

fn action() -> Value {
    let at = example::NOW - 600;
    let step =
        |status, after: i64, detail| json!({"status": status, "at": at + after, "detail": detail});
    json!({
        "action_uuid": example::ACTION, "status": "confirmed", "created_at": at, "username": "ada",
        "action": wish(), "ended_at": null,
        "history": [
            step("accepted", 0, "stored"),
            step("published", 0, "the broker has revision 42"),
            step("delivered", 1, "the controller reported revision 42"),
            step("confirmed", 1, "the controller accepted it"),
        ],
    })
}
