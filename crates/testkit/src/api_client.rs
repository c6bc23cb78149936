//! A user of the HTTP interface.

use serde_json::{Value, json};

/// A logged-in client, or one that is not.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    access: Option<String>,
}

impl Client {
    /// A client without a login.
    #[must_use]
    pub fn new(port: u16) -> Self {
        Self {
            http: reqwest::Client::new(),
            base: format!("http://127.0.0.1:{port}/public-api"),
            access: None,
        }
    }

    /// The same client, logged in.
    pub async fn login(mut self, username: &str, password: &str) -> Self {
        let (status, body) = self.post_login(username, password).await;
        assert_eq!(status, 200, "login: {body}");
        self.access = Some(body["access"].as_str().unwrap().to_owned());
        self
    }

    /// The answer to an attempt to log in.
    pub async fn post_login(&self, username: &str, password: &str) -> (u16, Value) {
        let body = json!({"username": username, "password": password});
        let answer = self
            .http
            .post(format!("{}/token/", self.base))
            .json(&body)
            .send()
            .await
            .unwrap();
        answer_of(answer).await
    }

    /// Status and body of a GET below `/public-api`; `Value::Null` without a body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        let mut request = self.http.get(format!("{}{path}", self.base));
        if let Some(access) = &self.access {
            request = request.bearer_auth(access);
        }
        answer_of(request.send().await.unwrap()).await
    }
}

async fn answer_of(answer: reqwest::Response) -> (u16, Value) {
    let status = answer.status().as_u16();
    let bytes = answer.bytes().await.unwrap();
    let body = if bytes.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(&bytes).unwrap()
    };
    (status, body)
}
