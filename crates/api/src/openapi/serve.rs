//! `GET /public-api/openapi.json` and `GET /public-api/docs/`, both made once.

use crate::openapi::document;
use crate::openapi::page::Page;
use axum::http::header;
use axum::response::IntoResponse;
use std::sync::LazyLock;

static DOCUMENT: LazyLock<String> = LazyLock::new(|| document().to_string());
static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of(&document()));

pub(crate) async fn json() -> impl IntoResponse {
    let media = [(header::CONTENT_TYPE, "application/json")];
    (media, DOCUMENT.as_str())
}

pub(crate) async fn page() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, &PAGE.security_policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, PAGE.html.as_str())
}
