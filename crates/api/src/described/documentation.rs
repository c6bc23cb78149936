//! The documentation itself.

use crate::description::{Answer, Content, Description};
use axum::http::StatusCode;
use schemars::json_schema;

const SUBJECT: &str = "Documentation";

pub(crate) fn document() -> Description {
    Description {
        id: "readOpenApi",
        subject: SUBJECT,
        summary: "Reads this document",
        text: "OpenAPI 3.1, for machines.",
        answers: vec![Answer {
            status: StatusCode::OK,
            text: "The document.",
            content: Some(Content {
                media: "application/json",
                schema: |_| json_schema!({"type": "object", "required": ["openapi", "paths"]}),
                example: None,
            }),
            headers: Vec::new(),
        }],
        ..Description::default()
    }
}

pub(crate) fn page() -> Description {
    Description {
        id: "readDocumentation",
        subject: SUBJECT,
        summary: "Reads this document as a page",
        text: "For people; it needs nothing but itself.",
        answers: vec![Answer {
            status: StatusCode::OK,
            text: "The page.",
            content: Some(Content {
                media: "text/html; charset=utf-8",
                schema: |_| json_schema!({"type": "string"}),
                example: None,
            }),
            headers: Vec::new(),
        }],
        ..Description::default()
    }
}
