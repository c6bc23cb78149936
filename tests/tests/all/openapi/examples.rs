//! The examples of the document, sent to a service that has what they are about.

#[path = "history.rs"]
mod history;

use crate::WATTLINE;
use crate::contract::{Contract, Operation};
use serde_json::{Map, Value, json};
use testkit::{Answer, ApiUnderClock, Client, Method, Mode, World};
use uuid::Uuid;

/// The moment in which the examples are answered.
pub(crate) const NOW: i64 = 1_700_000_000;

/// A service with the building of the examples: the fleet is made from the examples of the lists.
pub(crate) struct Seeded {
    pub(crate) world: World,
    pub(crate) api: ApiUnderClock,
    /// The operator of the examples.
    pub(crate) operator: Client,
    /// A viewer of the same building.
    pub(crate) viewer: Client,
    /// Nobody.
    pub(crate) stranger: Client,
    /// The operator's refresh token.
    refresh: String,
}

/// The example of an operation's successful answer.
fn answered(contract: &Contract, id: &str, status: &str) -> Value {
    let told = &contract.operation(id).told["responses"][status];
    told["content"]["application/json"]["example"].clone()
}

/// The fleet file of the examples, with further buildings for both users.
fn fleet(contract: &Contract, further: &[Uuid]) -> Value {
    let mut building = answered(contract, "listBuildings", "200")[0].clone();
    let mut hubs: Vec<Value> = Vec::new();
    let readings = answered(contract, "readLatestMeterReadings", "200");
    let readings = readings.as_array().unwrap();
    for sensor in answered(contract, "listSensors", "200").as_array().unwrap() {
        let hub = &sensor["sensor_hub"];
        let known = hubs.iter().position(|it| it["uuid"] == hub["uuid"]);
        let position = known.unwrap_or_else(|| {
            let mut hub = hub.clone();
            hub["sensors"] = json!([]);
            hubs.push(hub);
            hubs.len() - 1
        });
        let mut planned = json!({
            "sensor_uuid": sensor["sensor_uuid"], "name": sensor["name"], "kind": sensor["kind"],
            "min_interval": sensor["min_interval"],
        });
        let mut read = readings.iter();
        if let Some(read) = read.find(|it| it["sensor_uuid"] == sensor["sensor_uuid"]) {
            planned["meter_name"] = read["meter_name"].clone();
            planned["tariff"] = read["tariff"].clone();
        }
        let sensors = hubs[position]["sensors"].as_array_mut().unwrap();
        sensors.push(planned);
    }
    building["sensor_hubs"] = hubs.into();
    let links = |role: &str| -> Vec<Value> {
        let own = building["uuid"].as_str().unwrap().to_owned();
        let all = std::iter::once(own).chain(further.iter().map(Uuid::to_string));
        all.map(|uuid| json!({"uuid": uuid, "role": role}))
            .collect()
    };
    let (operators, viewers) = (links("operator"), links("viewer"));
    let credentials = contract.operation("logIn").request().unwrap()["example"].clone();
    let password = &credentials["password"];
    let further = further
        .iter()
        .map(|uuid| json!({"uuid": uuid, "name": "Other"}));
    let buildings: Vec<Value> = std::iter::once(building).chain(further).collect();
    json!({
        "buildings": buildings,
        "users": [
            {"username": credentials["username"], "password": password, "buildings": operators},
            {"username": "bob", "password": password, "buildings": viewers},
            {"username": "eve", "password": password, "buildings": []},
        ],
    })
}

impl Seeded {
    pub(crate) async fn new(contract: &Contract) -> Self {
        Self::with(contract, &[]).await
    }

    /// The same with further buildings of both users, each of which gives them more requests.
    pub(crate) async fn with(contract: &Contract, further: &[Uuid]) -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        world.apply_fleet(&fleet(contract, further));
        let api = ApiUnderClock::start(&world, NOW).await;
        let log_in = contract.operation("logIn");
        let credentials = &log_in.request().unwrap()["example"];
        let username = credentials["username"].as_str().unwrap();
        let password = credentials["password"].as_str().unwrap();
        let pair = api.client().log_in(username, password).await.body;
        let seeded = Self {
            operator: api.client().with_token(pair["access"].as_str().unwrap()),
            viewer: api.client().login("bob", password).await,
            stranger: api.client(),
            refresh: pair["refresh"].as_str().unwrap().to_owned(),
            world,
            api,
        };
        seeded.measure(contract).await;
        seeded.limit(contract).await;
        history::store(&seeded.world.database, contract).await;
        seeded
    }

    /// Stores the measurements that the example of the power tells.
    async fn measure(&self, contract: &Contract) {
        let power = answered(contract, "readActualPower", "200");
        let building = answered(contract, "listBuildings", "200")[0]["uuid"].clone();
        let solar = -power["production"].as_i64().unwrap();
        for (series, power_w) in [(0_i64, power["value"].as_i64().unwrap()), (-2, solar)] {
            sqlx::query(
                "insert into latest_sample (building_uuid, series, time, power_w) \
                 values ($1::uuid, $2, to_timestamp($3), $4)",
            )
            .bind(building.as_str().unwrap())
            .bind(series)
            .bind(power["datetime"].as_i64().unwrap())
            .bind(i32::try_from(power_w).unwrap())
            .execute(&self.world.database)
            .await
            .unwrap();
        }
    }

    /// Stores the occurrence of the examples, if it is not there.
    async fn limit(&self, contract: &Contract) {
        let limit = answered(contract, "readGridLimit", "200");
        let building = answered(contract, "listBuildings", "200")[0]["uuid"].clone();
        let integer = |name: &str| limit[name].as_i64().unwrap();
        sqlx::query(
            "insert into grid_limit values ($1::uuid, $2::uuid, to_timestamp($3), to_timestamp($4), \
             $5::bigint, $6::bigint) on conflict do nothing",
        )
        .bind(building.as_str().unwrap())
        .bind(limit["grid_limit_uuid"].as_str().unwrap())
        .bind(integer("start_time"))
        .bind(integer("end_time"))
        .bind(integer("delivery_limit_watts"))
        .bind(integer("return_delivery_limit_watts"))
        .execute(&self.world.database)
        .await
        .unwrap();
    }

    /// Sends the example of an operation, with this query.
    async fn send(&self, client: &Client, operation: &Operation, query: &str) -> Answer {
        let mut body = operation
            .request()
            .map(|request| request["example"].clone());
        if operation.id() == "refreshTokens" {
            // The example's token is none; everything else is sent as it stands.
            body = Some(json!({"refresh": self.refresh}));
        }
        let path = format!("{}{query}", operation.example_path());
        let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
        client.send(method, &path, body.as_ref()).await
    }
}

/// The query with the examples of the parameters that `wanted` wants.
pub(crate) fn query(operation: &Operation, wanted: impl Fn(&Value) -> bool) -> String {
    let mut query = String::new();
    for parameter in operation
        .parameters("query")
        .into_iter()
        .filter(|it| wanted(it))
    {
        let name = parameter["name"].as_str().unwrap();
        let example = &parameter["example"];
        let one = || vec![example.clone()];
        let values = example.as_array().cloned().unwrap_or_else(one);
        for value in values {
            let sign = if query.is_empty() { '?' } else { '&' };
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            query += &format!("{sign}{name}={value}");
        }
    }
    query
}

/// What differs from one service to the next is not compared.
fn comparable(operation: &Operation, body: &Value) -> Value {
    let volatile: &[&str] = match operation.id() {
        "logIn" | "refreshTokens" => &["access", "refresh"],
        "createGridLimit" => &["grid_limit_uuid"],
        "listSensors" => &["id"],
        _ => &[],
    };
    let without = |object: &Map<String, Value>| {
        let kept = object
            .iter()
            .filter(|(name, _)| !volatile.contains(&name.as_str()));
        Value::Object(
            kept.map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        )
    };
    let plain = |value: &Value| value.as_object().map_or_else(|| value.clone(), without);
    match body.as_array() {
        Some(items) => items.iter().map(plain).collect(),
        None => plain(body),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_is_answered_as_the_document_says() {
    let contract = Contract::new();
    let seeded = Seeded::new(&contract).await;
    for operation in contract.operations() {
        let id = operation.id();
        seeded.limit(&contract).await;
        let required = query(&operation, |it| it["required"] == true);
        let answer = seeded.send(&seeded.operator, &operation, &required).await;
        assert!((200..300).contains(&answer.status), "{id}: {}", answer.text);
        assert_eq!(
            contract.wrong(&operation, &answer),
            [""; 0],
            "{id}: {}",
            answer.text
        );
        let told = &operation.told["responses"][answer.status.to_string()];
        if let Some(example) = told.pointer("/content/application~1json/example") {
            assert_eq!(
                comparable(&operation, &answer.body),
                comparable(&operation, example),
                "{id}"
            );
        }
        if !operation.parameters("query").is_empty() {
            let all = query(&operation, |_| true);
            let answer = seeded.send(&seeded.operator, &operation, &all).await;
            assert!((200..300).contains(&answer.status), "{id}: {}", answer.text);
            assert_eq!(
                contract.wrong(&operation, &answer),
                [""; 0],
                "{id}: {}",
                answer.text
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_refuses_as_the_document_says() {
    let contract = Contract::new();
    let seeded = Seeded::new(&contract).await;
    let log_in = contract.operation("logIn");
    let credentials = &log_in.request().unwrap()["example"];
    let password = credentials["password"].as_str().unwrap();
    let eve = seeded.api.client().login("eve", password).await;
    for operation in contract.operations() {
        let id = operation.id();
        let all = query(&operation, |_| true);
        let check = async |client: &Client, status: u16| {
            let answer = seeded.send(client, &operation, &all).await;
            assert_eq!(answer.status, status, "{id}: {}", answer.text);
            assert_eq!(
                contract.wrong(&operation, &answer),
                [""; 0],
                "{id}: {}",
                answer.text
            );
        };
        if operation.needs_a_token() {
            check(&seeded.stranger, 401).await;
            check(&seeded.stranger.clone().with_token("x"), 401).await;
        }
        if operation.is_of_a_building() {
            check(&eve, 404).await;
            if operation.method != "GET" {
                check(&seeded.viewer, 403).await;
            }
        }
        if operation.request().is_some() {
            for (body, status) in [
                ("", 400),
                ("[]", 400),
                ("{}", 400),
                (&*" ".repeat(65_537), 413),
            ] {
                let answer = seeded
                    .operator
                    .post_bytes(&operation.example_path(), body)
                    .await;
                assert_eq!(answer.status, status, "{id}: {}", answer.text);
                assert_eq!(contract.wrong(&operation, &answer), [""; 0], "{id}");
            }
        }
        let answer = seeded
            .operator
            .send(Method::PUT, &operation.example_path(), None)
            .await;
        assert_eq!(answer.status, 405, "{id}: {}", answer.text);
        assert_eq!(contract.wrong_as_not_allowed(&answer), [""; 0], "{id}");
    }
}
