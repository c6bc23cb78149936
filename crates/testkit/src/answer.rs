//! What the HTTP interface answered.

use serde_json::Value;
use std::collections::BTreeMap;

/// Status, headers and body of an answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// By lower-case name; of a header that comes several times the last.
    pub headers: BTreeMap<String, String>,
    /// The JSON body; `Value::Null` without a body or where it is no JSON.
    pub body: Value,
    /// The body as it came.
    pub text: String,
}

impl Answer {
    pub(crate) async fn of(answer: reqwest::Response) -> Self {
        Self::read(answer).await.unwrap()
    }

    pub(crate) async fn read(answer: reqwest::Response) -> Result<Self, reqwest::Error> {
        let status = answer.status().as_u16();
        let header =
            |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
                (
                    name.as_str().to_owned(),
                    String::from_utf8_lossy(value.as_bytes()).into_owned(),
                )
            };
        let headers = answer.headers().iter().map(header).collect();
        let text = answer.text().await?;
        Ok(Self {
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
        })
    }

    /// The answer at the beginning of `bytes` and its length, once it is there as a whole. Without a
    /// `Content-Length` it has no body.
    pub(crate) fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let end = bytes.windows(4).position(|it| it == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]);
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let length = headers.get("content-length");
        let length: usize = length.map_or(0, |it| it.parse().unwrap());
        let body = bytes.get(end + 4..end + 4 + length)?;
        let text = String::from_utf8_lossy(body).into_owned();
        let answer = Self {
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
        };
        Some((answer, end + 4 + length))
    }

    /// The value of a header, empty without it.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The problem's stable code, empty where the body is no problem.
    #[must_use]
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// The violations of a 400 as pairs of field and code.
    #[must_use]
    pub fn violations(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.body["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|error| (text(&error["field"]), text(&error["code"])))
            .collect()
    }
}
