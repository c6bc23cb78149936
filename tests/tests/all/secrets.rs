//! No secret in anything that the service writes: each is planted with a mark, everything is made to talk, and no mark
//! is found.

#[path = "secrets/marks.rs"]
mod marks;

use crate::WATTLINE;
use marks::{MARK, Marks, marked};
use serde_json::{Value, json};
use std::process::Output;
use testkit::{BuildingPlan, Client, Method, Mode, Running, Socket, World, eventually};

/// Everything that every library says.
const LOUD: &str = "trace";

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr]
        .concat()
        .iter()
        .map(|it| char::from(*it))
        .collect()
}

/// Everything that a user may do wrong and right with what is secret; answers with what was answered.
async fn use_the_api(world: &World, marks: &Marks) -> String {
    let mut told = String::new();
    let client = Client::new(world.http_port);
    let pair = client.log_in(&marks.username, &marks.password).await;
    assert_eq!(pair.status, 200, "{}", pair.text);
    let access = pair.body["access"].as_str().unwrap().to_owned();
    let refresh = pair.body["refresh"].as_str().unwrap().to_owned();
    assert_eq!(client.refresh(&refresh).await.status, 200);
    told += &client.refresh(&refresh).await.text;
    told += &client.log_in(&marks.username, &marked("wrong")).await.text;
    let bodies = [
        json!({"username": "x", "password": {"a": marked("nested")}}),
        json!({"username": "x", "password": [marked("listed")]}),
        json!({"username": "x", "passwrd": marked("slipped")}),
        json!({"refresh": {"token": marked("nested")}}),
        json!({"refresh": format!("{}.{}.{}", marked("a"), marked("b"), marked("c"))}),
    ];
    for body in &bodies {
        for path in ["/token/", "/token/refresh/"] {
            told += &client.send(Method::POST, path, Some(body)).await.text;
        }
    }
    let broken = format!("{{\"password\": \"{}", marked("broken"));
    told += &client.post_bytes("/token/", broken).await.text;
    for token in [
        &refresh,
        &marked("token"),
        &format!("{access}{}", marked("tail")),
    ] {
        told += &client
            .clone()
            .with_token(token)
            .send(Method::GET, "/buildings/", None)
            .await
            .text;
    }
    let known = client.clone().with_token(&access);
    for path in ["/buildings/", "/buildings/x/", "/nothing/"] {
        told += &known.send(Method::GET, path, None).await.text;
    }
    // What is not HTTP, with a secret in it.
    let mut socket = Socket::connect(world.http_port).await.unwrap();
    let odd = format!(
        "GET / HTTP/9\r\nauthorization: Bearer {}\r\n\r\n",
        marked("odd")
    );
    socket.send(&odd).await.unwrap();
    if let Ok(answer) = socket.answer().await {
        told += &answer.text;
    }
    told
}

/// What a process has said, on every way it has.
async fn said(process: &Running) -> String {
    process.log() + &process.told().await
}

async fn world(marks: &Marks, mode: Mode) -> World {
    let mut world = World::new(WATTLINE, mode).await;
    let plan = BuildingPlan::new();
    world.apply_fleet(&json!({
        "buildings": [{"uuid": plan.uuid, "name": "Depot"}],
        "users": [{"username": marks.username, "password": marks.password,
                   "buildings": [{"uuid": plan.uuid, "role": "operator"}]}],
    }));
    let settings = &mut world.settings;
    for (name, user) in [
        ("WATTLINE_DATABASE_URL", "postgres"),
        ("WATTLINE_MQTT_URL", "wattline"),
    ] {
        let url = settings[name].replace("postgres@", "");
        let (scheme, rest) = url.split_once("://").unwrap();
        let url = format!("{scheme}://{user}:{}@{rest}", marked(user));
        settings.insert(name.to_owned(), url);
    }
    let options = format!(
        "sasl.password={},ssl.key.password={},debug=all",
        marked("sasl"),
        marked("key")
    );
    settings.insert("WATTLINE_KAFKA_OPTIONS".to_owned(), options);
    settings.insert("WATTLINE_MQTT_SHARE_GROUP".to_owned(), marked("group"));
    settings.insert("WATTLINE_LOG".to_owned(), LOUD.to_owned());
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn no_role_tells_a_secret_however_much_it_is_asked_to_say() {
    let marks = Marks::new();
    let world = world(&marks, Mode::Kafka).await;
    let keys = marks::secrets_of_key_file(&world.settings["WATTLINE_TOKEN_KEY_FILE"]);
    let mut processes = Vec::new();
    for role in ["bridge", "aggregator", "control", "api"] {
        let process = world.start(&[role]);
        process.ready().await;
        processes.push(process);
    }
    let answers = use_the_api(&world, &marks).await;
    marks::clean("answers", &answers, &keys);
    let hash = password_hash(&world, &marks).await;
    let mut all = String::new();
    for process in &mut processes {
        all += &said(process).await;
        assert!(process.stop().success());
        all += &process.log();
    }
    assert!(all.len() > 10_000, "they have talked: {}", all.len());
    let more = [&keys[..], &[hash]].concat();
    marks::clean("roles", &all, &more);
}

async fn password_hash(world: &World, marks: &Marks) -> String {
    let query = format!(
        "select password_hash as hash from app_user where username = '{}'",
        marks.username
    );
    let rows: Vec<Value> = world.rows(&query).await;
    rows[0]["hash"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_tells_a_secret() {
    let marks = Marks::new();
    let world = world(&marks, Mode::Kafka).await;
    let keys = marks::secrets_of_key_file(&world.settings["WATTLINE_TOKEN_KEY_FILE"]);
    let commands: [&[&str]; 28] = [
        &["check"],
        &["migrate"],
        &["serve", "--help"],
        &["bridge", "--help"],
        &["aggregator", "--help"],
        &["control", "--help"],
        &["api", "--help"],
        &["demo", "--help"],
        &["simulate", "--help"],
        &["check", "--help"],
        &["migrate", "--help"],
        &["admin", "--help"],
        &["admin", "user", "--help"],
        &["admin", "user", "add", "--help"],
        &["admin", "user", "list"],
        &["admin", "user", "list", "--format", "json"],
        &["admin", "building", "list"],
        &["admin", "link", "list"],
        &["admin", "token", "list"],
        &["admin", "token", "list-keys"],
        &["admin", "token", "new-key"],
        &["admin", "token", "revoke", &marks.username, "--all"],
        &["admin", "token", "retire-key", "nothing"],
        &["admin", "audit"],
        &["admin", "audit", "--format", "json"],
        &["dead-letters", "list"],
        &["dead-letters", "stats"],
        &["--help"],
    ];
    for arguments in commands {
        let told = text(&world.attempt(arguments));
        assert!(!told.is_empty() || arguments[0] != "check", "{arguments:?}");
        marks::clean(&format!("{arguments:?}"), &told, &keys);
    }
    for name in [marks.username.as_str(), "another"] {
        let output = world.attempt_with_input(&["admin", "user", "add", name], &marked("given"));
        marks::clean("user add", &text(&output), &keys);
    }
    let long = marked(&"long".repeat(400));
    let output = world.attempt_with_input(&["admin", "user", "add", "third"], &long);
    assert!(!output.status.success());
    marks::clean("a long password", &text(&output), &keys);
    // Never an argument: refused, and not repeated.
    let output = world.attempt(&["admin", "user", "add", "fourth", &marked("argument")]);
    assert_eq!(output.status.code(), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_secret_is_told_without_it() {
    let marks = Marks::new();
    let mut world = world(&marks, Mode::Kafka).await;
    let good = world.settings.clone();
    let mark = marked("bad");
    for (name, wrong) in [
        ("WATTLINE_DATABASE_URL", mark.clone()),
        (
            "WATTLINE_DATABASE_URL",
            format!("mysql://ada:{mark}@host/db"),
        ),
        (
            "WATTLINE_DATABASE_URL",
            format!("postgres://ada:{mark}@host:port/db"),
        ),
        (
            "WATTLINE_DATABASE_URL",
            format!("postgres://ada@host/db?passwrod={mark}"),
        ),
        (
            "WATTLINE_DATABASE_URL",
            format!("postgres://ada@host/db?sslmode={mark}"),
        ),
        (
            "WATTLINE_DATABASE_URL",
            format!("postgres://ada:{mark}@127.0.0.1:1/db"),
        ),
        (
            "WATTLINE_DATABASE_URL",
            format!("postgres://ada:{mark}@nowhere.invalid/db"),
        ),
        ("WATTLINE_MQTT_URL", mark.clone()),
        ("WATTLINE_MQTT_URL", format!("http://ada:{mark}@host")),
        ("WATTLINE_MQTT_URL", format!("mqtt://ada:{mark}@")),
        ("WATTLINE_MQTT_URL", format!("mqtt://ada:{mark}?@host:port")),
        (
            "WATTLINE_MQTT_URL",
            format!("mqtts://ada:{mark}@localhost?ca_file=/nowhere"),
        ),
        (
            "WATTLINE_MQTT_URL",
            format!("mqtt://ada:{mark}@127.0.0.1:1"),
        ),
        ("WATTLINE_KAFKA_OPTIONS", mark.clone()),
        ("WATTLINE_KAFKA_OPTIONS", format!("sasl.passwrod={mark}")),
        ("WATTLINE_KAFKA_OPTIONS", format!("acks={mark}")),
        ("WATTLINE_KAFKA_OPTIONS", format!("linger.ms={mark}")),
        (
            "WATTLINE_KAFKA_OPTIONS",
            format!("ssl.key.pem={mark},security.protocol=ssl"),
        ),
        (
            "WATTLINE_KAFKA_OPTIONS",
            format!("ssl.ca.pem={mark},security.protocol=ssl"),
        ),
        ("WATTLINE_MQTT_SHARE_GROUP", format!("{mark}/x")),
    ] {
        world.settings.clone_from(&good);
        world.settings.insert(name.to_owned(), wrong.clone());
        let mut told = text(&world.attempt(&["check"]));
        let mut role = world.start(&["serve"]);
        // A setting that cannot be used ends it; a server that is away does not.
        let ended = eventually(async || match role.readiness().await {
            Ok((503, body)) if body.to_string().matches("starting").count() < 3 => {
                Ok(body.to_string())
            }
            Ok(other) => Err(format!("{other:?}")),
            Err(error) if role.log().contains("wattline:") => Ok(error),
            Err(error) => Err(error),
        });
        told += &ended.await;
        role.kill();
        told += &role.log();
        marks::clean(&format!("{name}={wrong}"), &told, &[]);
    }
    world.settings = good;
    files(&world, &mark);
}

/// Files in which a secret stands where it should not.
fn files(world: &World, mark: &str) {
    let path = world.folder().join("odd");
    let place = path.display().to_string();
    let write = |content: &str| std::fs::write(&path, content).unwrap();
    for content in [
        format!("database_url = \"postgres://ada:{mark}@host"),
        format!("database_url = [{{ a = \"{mark}\" }}]"),
        format!("databse_url = \"{mark}\""),
        mark.to_owned(),
    ] {
        write(&content);
        let output = world.attempt(&["check", "--config", &place]);
        assert_eq!(output.status.code(), Some(2), "{content}");
        marks::clean(&content, &text(&output), &[]);
    }
    for content in [
        format!(r#"{{"users": [{{"username": "a", "password": ["{mark}"]}}]}}"#),
        format!(r#"{{"users": [{{"username": "a", "password": "{mark}", "buildings": 5}}]}}"#),
        format!(r#"{{"users": [{{"username": "a", "password": "{mark}"#),
        format!(r#"{{"users": [{{"password": "{mark}"}}]}}"#),
        format!(r#"{{"users": ["{mark}"]}}"#),
        format!(r#"{{"users": "{mark}"}}"#),
    ] {
        write(&content);
        let output = world.attempt(&["admin", "apply", &place]);
        assert!(!output.status.success(), "{content}");
        marks::clean(&content, &text(&output), &[]);
    }
    let mut settings = world.settings.clone();
    for content in [
        mark.to_owned(),
        format!("kid {mark}"),
        format!("a b c {mark}"),
    ] {
        write(&content);
        settings.insert("WATTLINE_TOKEN_KEY_FILE".to_owned(), place.clone());
        for arguments in [&["api"][..], &["check"], &["admin", "token", "list-keys"]] {
            let output = std::process::Command::new(WATTLINE)
                .args(arguments)
                .envs(&settings)
                .output();
            marks::clean(&content, &text(&output.unwrap()), &[]);
        }
    }
    assert!(mark.contains(MARK));
}
