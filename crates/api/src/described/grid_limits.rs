//! The grid limit schedule.

use crate::description::{Answer, AnswerHeader, Content, Description, Parameter, Place, Rule};
use crate::example;
use crate::grid_limits::GridLimitBody;
use axum::http::StatusCode;
use schemars::{JsonSchema, json_schema};
use serde_json::{Value, json};
use uuid::Uuid;

const SUBJECT: &str = "Grid limits";

/// An occurrence that is to be made.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "bodies are taken apart by extract::fields; this is their schema"
)]
struct GridLimitCreation {
    /// Epoch seconds, on a quarter hour, at least 15 minutes ahead.
    #[schemars(range(min = -2_147_483_647, max = 2_147_483_647))]
    start_timestamp: i32,
    /// Epoch seconds, on a quarter hour, after the start and not after 00:00 UTC of today + 8 days.
    #[schemars(range(min = -2_147_483_647, max = 2_147_483_647))]
    end_timestamp: i32,
    /// Most power from the grid, watt.
    #[schemars(range(min = 0, max = 2_147_483_647))]
    delivery_limit_watts: i32,
    /// Most power to the grid, watt.
    #[schemars(range(min = 0, max = 2_147_483_647))]
    return_delivery_limit_watts: i32,
}

/// Occurrences that are to be deleted.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "bodies are taken apart by extract::fields; this is their schema"
)]
struct GridLimitBulkDeletion {
    #[schemars(length(min = 1, max = 100), extend("uniqueItems" = true))]
    grid_limit_uuids: Vec<Uuid>,
}

pub(crate) fn list() -> Description {
    Description {
        id: "listGridLimits",
        subject: SUBJECT,
        summary: "Lists the occurrences of the grid limit schedule",
        text: "By start; at most 1,000 a page, with a `Link` to the next. Without `from`: all that have \
               not ended.",
        parameters: vec![
            Parameter::optional_seconds(
                "from",
                "Only occurrences that start then or later.",
                example::LIMIT_START,
            ),
            Parameter::optional_seconds(
                "until",
                "Only occurrences that start before.",
                example::LIMIT_END,
            ),
            Parameter {
                name: "cursor",
                place: Place::Query,
                text: "Where the page before ended; as a link to a next page has it.",
                required: false,
                schema: json_schema!({
                    "type": "string", "pattern": "^[0-9]{1,10}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
                }),
                example: format!("{}_{}", example::LIMIT_START - 900, example::GRID_LIMIT).into(),
            },
        ],
        answers: vec![Answer {
            headers: vec![AnswerHeader::Link],
            ..Answer::ok::<Vec<GridLimitBody>>("A page of occurrences.", json!([occurrence()]))
        }],
        rules: ["/from", "/until"]
            .into_iter()
            .flat_map(Rule::of_epoch_seconds)
            .chain([
                Rule::new(
                    "/cursor",
                    "not_a_cursor",
                    "cursor must be one of a link to a next page",
                ),
                Rule::new("/cursor", "repeated", "cursor may be given once only"),
            ])
            .collect(),
        ..Description::default()
    }
}

pub(crate) fn create() -> Description {
    Description {
        id: "createGridLimit",
        subject: SUBJECT,
        summary: "Creates an occurrence of the grid limit schedule",
        text: "Where occurrences overlap, the strictest limit holds.",
        request: Some(Content::json::<GridLimitCreation>(json!({
            "start_timestamp": example::LIMIT_START, "end_timestamp": example::LIMIT_END,
            "delivery_limit_watts": 10_000, "return_delivery_limit_watts": 0,
        }))),
        answers: vec![Answer {
            status: StatusCode::CREATED,
            headers: vec![AnswerHeader::Location],
            ..Answer::ok::<GridLimitBody>("The occurrence.", occurrence())
        }],
        rules: rules_of_creation(),
        ..Description::default()
    }
}

fn rules_of_creation() -> Vec<Rule> {
    const START: &str = "/start_timestamp";
    const END: &str = "/end_timestamp";
    const DELIVERY: &str = "/delivery_limit_watts";
    const RETURN_DELIVERY: &str = "/return_delivery_limit_watts";
    let of_integer = |field| {
        [
            Rule::new(field, "required", "the property must be there"),
            Rule::new(field, "not_an_integer", "the property must be an integer"),
            Rule::new(
                field,
                "out_of_range",
                "the property must be within \u{b1}2147483647",
            ),
        ]
    };
    let fields = [START, END, DELIVERY, RETURN_DELIVERY];
    let of_integers = fields.into_iter().flat_map(of_integer);
    let of_meaning = [
        Rule::new(
            START,
            "not_a_quarter_hour",
            "the start must be on a quarter hour",
        ),
        Rule::new(
            START,
            "too_early",
            "the start must be at least 15 minutes ahead",
        ),
        Rule::new(
            START,
            "too_many",
            "the building must not have more than 1,000 occurrences, sockets, setpoints and blocks",
        ),
        Rule::new(
            END,
            "not_a_quarter_hour",
            "the end must be on a quarter hour",
        ),
        Rule::new(END, "not_after_start", "the end must be after the start"),
        Rule::new(
            END,
            "too_late",
            "the end must not be after 00:00 UTC of today + 8 days",
        ),
        Rule::new(DELIVERY, "below_minimum", "the limit must be 0 or more"),
        Rule::new(
            RETURN_DELIVERY,
            "below_minimum",
            "the limit must be 0 or more",
        ),
    ];
    of_integers.chain(of_meaning).collect()
}

pub(crate) fn one() -> Description {
    Description {
        id: "readGridLimit",
        subject: SUBJECT,
        summary: "Reads an occurrence of the grid limit schedule",
        parameters: vec![grid_limit_uuid()],
        answers: vec![Answer::ok::<GridLimitBody>("The occurrence.", occurrence())],
        ..Description::default()
    }
}

pub(crate) fn delete() -> Description {
    Description {
        id: "deleteGridLimit",
        subject: SUBJECT,
        summary: "Deletes an occurrence of the grid limit schedule",
        text: "Until 15 minutes before it starts.",
        parameters: vec![grid_limit_uuid()],
        answers: vec![Answer::nothing("The occurrence is deleted.")],
        rules: vec![Rule::new(
            "/grid_limit_uuid",
            "too_early",
            "the occurrence starts in less than 15 minutes, or has started",
        )],
        ..Description::default()
    }
}

pub(crate) fn bulk_delete() -> Description {
    const UUIDS: &str = "/grid_limit_uuids";
    const UUID: &str = "/grid_limit_uuids/{index}";
    Description {
        id: "deleteGridLimits",
        subject: SUBJECT,
        summary: "Deletes up to 100 occurrences of the grid limit schedule, all or none",
        text: "Each until 15 minutes before it starts. An unknown one is 404, also where another is \
               too early.",
        request: Some(Content::json::<GridLimitBulkDeletion>(json!({
            "grid_limit_uuids": [example::GRID_LIMIT],
        }))),
        answers: vec![Answer::nothing("The occurrences are deleted.")],
        rules: vec![
            Rule::new(UUIDS, "required", "grid_limit_uuids must be there"),
            Rule::new(UUIDS, "not_an_array", "grid_limit_uuids must be an array"),
            Rule::new(
                UUIDS,
                "too_few",
                "grid_limit_uuids must have at least one item",
            ),
            Rule::new(
                UUIDS,
                "too_many",
                "grid_limit_uuids must have at most 100 items",
            ),
            Rule::new(UUID, "not_a_uuid", "the item is not a uuid"),
            Rule::new(UUID, "repeated", "the item is there already"),
            Rule::new(
                UUID,
                "too_early",
                "the occurrence starts in less than 15 minutes, or has started",
            ),
        ],
        ..Description::default()
    }
}

fn grid_limit_uuid() -> Parameter {
    Parameter::path_uuid(
        "grid_limit_uuid",
        "The occurrence's uuid.",
        example::GRID_LIMIT,
    )
}

fn occurrence() -> Value {
    json!({
        "grid_limit_uuid": example::GRID_LIMIT,
        "start_time": example::LIMIT_START, "end_time": example::LIMIT_END,
        "delivery_limit_watts": 10_000, "return_delivery_limit_watts": 0,
    })
}
