//! A request: an operation's, as the document tells it, or with something changed.

use super::bodies::{body, mutated_body, text};
use super::wishes::kinds;
use crate::contract::{Contract, Operation};
use crate::openapi::examples::{NOW, Seeded};
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use testkit::{Answer, ApiUnderClock, Client};
use uuid::Uuid;

/// What requests may name.
pub(super) struct Known {
    /// The operator's token, the viewer's, and some that are none.
    tokens: Vec<Option<String>>,
    refresh: String,
    credentials: Value,
    pub(super) building: String,
    foreign: String,
    pub(super) sensors: Vec<String>,
    pub(super) grid_limits: Vec<String>,
    pub(super) sockets: Vec<String>,
    pub(super) setpoints: Vec<String>,
    actions: Vec<String>,
}

impl Known {
    pub(super) async fn new(contract: &Contract, seeded: &Seeded) -> Self {
        let credentials = contract.operation("logIn").request().unwrap()["example"].clone();
        let password = credentials["password"].as_str().unwrap();
        let username = credentials["username"].as_str().unwrap();
        let pair = async |name: &str| seeded.api.client().log_in(name, password).await.body;
        let (operator, viewer) = (pair(username).await, pair("bob").await);
        let token = |pair: &Value, kind: &str| pair[kind].as_str().unwrap().to_owned();
        let building = contract.operation("listSensors").parameters("path")[0]["example"].clone();
        let sensors = contract.operation("readLatestSensorPower");
        let limit = contract.operation("readGridLimit").parameters("path")[1]["example"].clone();
        let action = contract.operation("readAction").parameters("path")[1]["example"].clone();
        Self {
            tokens: vec![
                Some(token(&operator, "access")),
                Some(token(&viewer, "access")),
                Some(token(&operator, "refresh")),
                Some("x.y.z".to_owned()),
                None,
            ],
            refresh: token(&operator, "refresh"),
            credentials,
            building: building.as_str().unwrap().to_owned(),
            foreign: Uuid::from_u128(7).to_string(),
            sensors: vec![
                sensors.parameters("query")[0]["example"][0]
                    .as_str()
                    .unwrap()
                    .to_owned(),
                Uuid::from_u128(8).to_string(),
            ],
            grid_limits: vec![limit.as_str().unwrap().to_owned()],
            sockets: kinds(contract, "ev_socket"),
            setpoints: kinds(contract, "setpoint"),
            actions: vec![action.as_str().unwrap().to_owned()],
        }
    }

    /// Remembers what an answer gave.
    pub(super) fn learn(&mut self, operation: Option<&Operation>, answer: &Answer) {
        match (operation.map_or("", Operation::id), answer.status) {
            ("createGridLimit", 201) => {
                let uuid = answer.body["grid_limit_uuid"].as_str().unwrap();
                self.grid_limits.push(uuid.to_owned());
            }
            ("createAction", 204) => {
                let path = answer.header("location").trim_end_matches('/');
                self.actions
                    .push(path.rsplit('/').next().unwrap().to_owned());
            }
            ("refreshTokens" | "logIn", 200) => {
                self.refresh = answer.body["refresh"].as_str().unwrap().to_owned();
            }
            _ => {}
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Template of the path, and whether the path is of that template.
    template: String,
    plain: bool,
    /// Below `/public-api`.
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Request {
    pub(super) fn make(random: &mut ChaCha8Rng, operations: &[Operation], known: &Known) -> Self {
        let operation = operations.choose(random).unwrap();
        let mut request = Self::good(random, operation, known);
        // A third is good, a third has one thing changed, the rest several.
        for _ in 0..random.random_range(0..3) {
            request.change(random, operation, known);
        }
        request
    }

    fn good(random: &mut ChaCha8Rng, operation: &Operation, known: &Known) -> Self {
        let path = operation.path_with(|name| match name {
            "building" => known.building.clone(),
            "grid_limit_uuid" => known.grid_limits.choose(random).unwrap().clone(),
            "action_uuid" => known.actions.choose(random).unwrap().clone(),
            other => panic!("{other} is unknown"),
        });
        let body = match operation.id() {
            "logIn" => known.credentials.to_string(),
            "refreshTokens" => format!(r#"{{"refresh": "{}"}}"#, known.refresh),
            _ => operation.request().map_or_else(String::new, |_| {
                body(random, operation.id(), known).to_string()
            }),
        };
        let mut request = Self {
            method: operation.method.clone(),
            template: operation.path.clone(),
            plain: true,
            path,
            headers: Vec::new(),
            body: body.into_bytes(),
        };
        if operation.needs_a_token() {
            request.authorise(known.tokens[0].as_deref());
        }
        request.ask(random, operation, known);
        if !operation.parameters("header").is_empty() && random.random_bool(0.5) {
            request.add_key(random);
        }
        request
    }

    fn authorise(&mut self, token: Option<&str>) {
        self.headers.retain(|(name, _)| name != "authorization");
        if let Some(token) = token {
            let value = format!("Bearer {token}").into_bytes();
            self.headers.push(("authorization".to_owned(), value));
        }
    }

    /// Adds a key, of so few that they come again.
    fn add_key(&mut self, random: &mut ChaCha8Rng) {
        let keys = ["k", "l", "m n", "\u{1F50B}"];
        let key = (*keys.choose(random).unwrap()).as_bytes().to_vec();
        self.headers.push(("idempotency-key".to_owned(), key));
    }

    /// Adds the query that is required, and some that is not.
    fn ask(&mut self, random: &mut ChaCha8Rng, operation: &Operation, known: &Known) {
        for parameter in operation.parameters("query") {
            if parameter["required"] != true && random.random_bool(0.6) {
                continue;
            }
            let value = match parameter["name"].as_str().unwrap() {
                "sensor_uuid" => known.sensors[0].clone(),
                "from" | "until" => (NOW + random.random_range(-9_000..9_000)).to_string(),
                "timestamp" => (NOW + random.random_range(-200_000..200_000)).to_string(),
                "min_interval" => {
                    let choices = parameter["schema"]["enum"].as_array().unwrap();
                    choices.choose(random).unwrap().as_str().unwrap().to_owned()
                }
                "offset" => random.random_range(-2..=0).to_string(),
                _ => {
                    let example = &parameter["example"];
                    let text = example.as_str().map(str::to_owned);
                    text.unwrap_or_else(|| example.to_string())
                }
            };
            self.add(parameter["name"].as_str().unwrap(), &value);
        }
    }

    fn add(&mut self, name: &str, value: &str) {
        let sign = if self.path.contains('?') { '&' } else { '?' };
        self.path += &format!("{sign}{name}={value}");
    }

    fn change(&mut self, random: &mut ChaCha8Rng, operation: &Operation, known: &Known) {
        match random.random_range(0..7) {
            0 => {
                let methods = [
                    "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW",
                ];
                self.method = (*methods.choose(random).unwrap()).to_owned();
            }
            1 => self.change_path(random, known),
            2 => self.change_query(random, operation, known),
            3 => self.authorise(known.tokens.choose(random).unwrap().as_deref()),
            4 => self.change_header(random),
            _ => self.body = mutated_body(random, &self.body),
        }
    }

    fn change_path(&mut self, random: &mut ChaCha8Rng, known: &Known) {
        let odd = [
            "x",
            "%00",
            "%ff",
            "%2F",
            "%F0%9F%94%8B",
            "0",
            "null",
            "{building}",
            "a;b",
        ];
        let upper = known.building.to_uppercase();
        let bare = known.building.replace('-', "");
        let mut odd: Vec<String> = odd.map(str::to_owned).into();
        odd.extend([known.foreign.clone(), upper, bare, "y".repeat(5_000)]);
        let odd = odd.choose(random).unwrap();
        if random.random_bool(0.6) {
            self.path = self.path.replace(&known.building, odd);
        } else if random.random_bool(0.5) {
            for limit in &known.grid_limits {
                self.path = self.path.replace(limit.as_str(), odd);
            }
        } else {
            self.plain = false;
            self.path = format!("/{odd}{}", self.path);
        }
    }

    fn change_query(&mut self, random: &mut ChaCha8Rng, operation: &Operation, known: &Known) {
        let names: Vec<&str> = operation
            .parameters("query")
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .chain(["unknown", "%00", ""])
            .collect();
        let mut values: Vec<String> = known.sensors.clone();
        let odd = [
            "",
            "0",
            "-1",
            "1e9",
            "2147483648",
            "9".repeat(400).as_str(),
            "%00",
            "%ff",
            ",",
            "null",
        ]
        .map(str::to_owned);
        values.extend(odd);
        values.push(text(random));
        self.add(
            names.choose(random).unwrap(),
            values.choose(random).unwrap(),
        );
    }

    fn change_header(&mut self, random: &mut ChaCha8Rng) {
        let headers: [(&str, &[u8]); 12] = [
            ("idempotency-key", b""),
            ("idempotency-key", b"\xff"),
            ("idempotency-key", &[b'k'; 256]),
            ("content-type", b"text/plain"),
            ("content-type", b"application/json; charset=utf-16"),
            ("accept", b"image/png"),
            ("x-request-id", b"{}"),
            ("x-request-id", &[b'i'; 200]),
            ("authorization", b"Basic eA=="),
            ("authorization", b"Bearer \xff\xfe"),
            ("accept-encoding", b"br, gzip"),
            ("if-none-match", b"*"),
        ];
        let (name, value) = headers.choose(random).unwrap();
        self.headers.retain(|(other, _)| other != name);
        self.headers.push(((*name).to_owned(), value.to_vec()));
    }

    pub(super) async fn send(&self, api: &ApiUnderClock) -> Answer {
        let client: Client = api.client();
        client
            .send_raw(&self.method, &self.path, &self.headers, self.body.clone())
            .await
    }

    /// What is wrong with the body by the document: what is accepted, it describes.
    pub(super) fn undocumented(&self, contract: &Contract, operation: &Operation) -> Vec<String> {
        let Some(told) = operation.request() else {
            return Vec::new();
        };
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        contract.errors(&told["schema"], &body)
    }

    /// The operation that the request is for, if its path is one and has its method.
    pub(super) fn meant<'a>(&self, operations: &'a [Operation]) -> Option<&'a Operation> {
        let mut all = operations.iter().filter(|_| self.plain);
        let method = if self.method == "HEAD" {
            "GET"
        } else {
            &self.method
        };
        all.find(|it| it.path == self.template && it.method == method)
    }
}
