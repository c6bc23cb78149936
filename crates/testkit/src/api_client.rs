//! A user of the HTTP interface.

use crate::answer::Answer;
use reqwest::Method;
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
    pub async fn login(self, username: &str, password: &str) -> Self {
        let (status, body) = self.post_login(username, password).await;
        assert_eq!(status, 200, "login: {body}");
        let access = body["access"].as_str().unwrap().to_owned();
        self.with_token(&access)
    }

    /// The same client with this access token.
    #[must_use]
    pub fn with_token(mut self, access: &str) -> Self {
        self.access = Some(access.to_owned());
        self
    }

    /// The access token; empty without a login.
    #[must_use]
    pub fn access(&self) -> &str {
        self.access.as_deref().unwrap_or_default()
    }

    /// The answer to an attempt to log in.
    pub async fn post_login(&self, username: &str, password: &str) -> (u16, Value) {
        let answer = self.log_in(username, password).await;
        (answer.status, answer.body)
    }

    /// The whole answer to an attempt to log in.
    pub async fn log_in(&self, username: &str, password: &str) -> Answer {
        let body = json!({"username": username, "password": password});
        self.send(Method::POST, "/token/", Some(&body)).await
    }

    /// The whole answer to a refresh.
    pub async fn refresh(&self, token: &str) -> Answer {
        let body = json!({"refresh": token});
        self.send(Method::POST, "/token/refresh/", Some(&body))
            .await
    }

    /// Status and body of a GET below `/public-api`; `Value::Null` without a body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.send(Method::GET, path, None).await;
        (answer.status, answer.body)
    }

    /// The whole answer to a request below `/public-api`.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        self.attempt(method, path, body).await.unwrap()
    }

    /// The same where the service may break off before it answers.
    ///
    /// # Errors
    /// When there is no answer; whether the request took effect is unknown.
    pub async fn attempt(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, reqwest::Error> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(access) = &self.access {
            request = request.bearer_auth(access);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        Answer::read(request.send().await?).await
    }

    /// The whole answer to any request below `/public-api`, without the client's own token.
    pub async fn send_raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, Vec<u8>)],
        body: Vec<u8>,
    ) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(name, value.as_slice());
        }
        Answer::of(request.body(body).send().await.unwrap()).await
    }

    /// The whole answer to a POST below `/public-api` with these bytes as body, whatever they are.
    pub async fn post_bytes(&self, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        let mut request = self.http.post(format!("{}{path}", self.base));
        if let Some(access) = &self.access {
            request = request.bearer_auth(access);
        }
        Answer::of(request.body(body.into()).send().await.unwrap()).await
    }
}
