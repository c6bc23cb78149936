//! Who may do what: every operation of the table, walked by users who may and users who may not.

use crate::WATTLINE;
use api::{Access, Operation, operations};
use serde_json::json;
use testkit::{Answer, ApiUnderClock, Client, Method, Mode, World};
use uuid::Uuid;

const START: i64 = 1_800_000_000;
const METHODS: [&str; 8] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW",
];

/// Two users with a building each, one who only looks at the first's, and an api.
struct Town {
    world: World,
    api: ApiUnderClock,
    building: Uuid,
    owner: Client,
    viewer: Client,
    stranger: Client,
}

impl Town {
    async fn new() -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        let [building, other] = [Uuid::new_v4(), Uuid::new_v4()];
        let user = |name: &str, building: Uuid, role: &str| json!({"username": name, "password": name, "buildings": [{"uuid": building, "role": role}]});
        world.apply_fleet(&json!({
            "buildings": [{"uuid": building, "name": "A"}, {"uuid": other, "name": "B"}],
            "users": [
                user("owner", building, "operator"),
                user("viewer", building, "viewer"),
                user("stranger", other, "operator"),
            ],
        }));
        let api = ApiUnderClock::start(&world, START).await;
        let login = async |name: &str| api.client().login(name, name).await;
        Self {
            owner: login("owner").await,
            viewer: login("viewer").await,
            stranger: login("stranger").await,
            world,
            api,
            building,
        }
    }

    /// Asks, with a budget that no walk uses up.
    async fn ask(&self, client: &Client, method: &str, path: &str) -> Answer {
        sqlx::query("delete from request_budget")
            .execute(&self.world.database)
            .await
            .unwrap();
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        client.send(method, path, None).await
    }

    /// An operation's path below `/public-api`, in the building; what else it names exists nowhere.
    fn path(&self, operation: &Operation) -> String {
        let path = operation.path.strip_prefix("/public-api").unwrap();
        let of_building = path.replace("{building}", &self.building.to_string());
        let segments = of_building.split('/').map(|segment| {
            if segment.starts_with('{') {
                Uuid::new_v4().to_string()
            } else {
                segment.to_owned()
            }
        });
        segments.collect::<Vec<_>>().join("/")
    }
}

fn of_building() -> impl Iterator<Item = Operation> {
    operations()
        .into_iter()
        .filter(|it| it.access == Access::Building)
}

#[track_caller]
fn is_problem(answer: &Answer, status: u16, code: &str, about: &str) {
    assert_eq!(answer.status, status, "{about}: {}", answer.text);
    // An answer to HEAD has no body to tell the code.
    if !answer.text.is_empty() {
        assert_eq!(answer.code(), code, "{about}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_every_operation_that_is_not_exempt_is_401() {
    let town = Town::new().await;
    let nobody = town.api.client();
    let mut walked = 0;
    for operation in operations() {
        let path = town.path(&operation);
        let answer = town.ask(&nobody, operation.method.as_str(), &path).await;
        let about = format!("{} {path}", operation.method);
        match operation.access {
            Access::Open => assert_ne!(answer.code(), "not_authenticated", "{about}"),
            Access::User | Access::Building => {
                is_problem(&answer, 401, "not_authenticated", &about);
                walked += 1;
            }
        }
    }
    assert!(walked > 5, "{walked} operations are not exempt");
    town.api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_building_of_others_is_404_on_every_path_and_method() {
    let town = Town::new().await;
    let mut paths: Vec<String> = of_building().map(|it| town.path(&it)).collect();
    let building = town.building;
    for rest in ["", "/", "/nothing/", "/sensors/more/"] {
        paths.push(format!("/buildings/{building}{rest}"));
    }
    let upper = building.to_string().to_uppercase();
    paths.push(format!("/buildings/{upper}/sensors/"));
    let nowhere = paths[0].replace(&building.to_string(), &Uuid::new_v4().to_string());
    paths.push(nowhere);
    for path in paths {
        for method in METHODS {
            let answer = town.ask(&town.stranger, method, &path).await;
            is_problem(&answer, 404, "not_found", &format!("{method} {path}"));
            assert_eq!(answer.header("allow"), "", "{method} {path}");
        }
    }
    town.api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_reads_and_is_403_wherever_the_operation_acts() {
    let town = Town::new().await;
    for operation in of_building() {
        let path = town.path(&operation);
        let method = operation.method.as_str();
        let about = format!("{method} {path}");
        let viewer = town.ask(&town.viewer, method, &path).await;
        let owner = town.ask(&town.owner, method, &path).await;
        assert!(
            ![401, 403].contains(&owner.status),
            "{about}: {}",
            owner.text
        );
        if operation.method.is_safe() {
            assert_eq!(viewer.status, owner.status, "{about}: {}", viewer.text);
        } else {
            is_problem(&viewer, 403, "permission_denied", &about);
        }
    }
    town.api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_is_told_which_methods_a_path_has() {
    let town = Town::new().await;
    for operation in operations().iter().filter(|it| it.access != Access::Open) {
        let path = town.path(operation);
        let methods: Vec<Method> = operations()
            .into_iter()
            .filter(|it| it.path == operation.path)
            .map(|it| it.method)
            .collect();
        for client in [&town.owner, &town.viewer] {
            let answer = town.ask(client, "BREW", &path).await;
            is_problem(&answer, 405, "method_not_allowed", &path);
            let mut allowed: Vec<&str> = answer.header("allow").split(',').collect();
            allowed.sort_unstable();
            let mut expected: Vec<&str> = methods.iter().map(Method::as_str).collect();
            if methods.contains(&Method::GET) {
                expected.push("HEAD");
            }
            expected.sort_unstable();
            assert_eq!(allowed, expected, "{path}");
        }
    }
    let nothing = format!("/buildings/{}/nothing/", town.building);
    let answer = town.ask(&town.owner, "BREW", &nothing).await;
    is_problem(&answer, 404, "not_found", &nothing);
    town.api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_with_a_body_over_64_kib_is_413_after_all_that_is_checked_before() {
    let town = Town::new().await;
    let path = format!("/buildings/{}/sensors/", town.building);
    let send = async |client: &Client, bytes: usize| {
        let body = json!("x".repeat(bytes - 2));
        client.send(Method::GET, &path, Some(&body)).await
    };
    const MOST: usize = 64 * 1024;
    assert_eq!(send(&town.viewer, MOST).await.status, 200);
    let answer = send(&town.viewer, MOST + 1).await;
    is_problem(&answer, 413, "body_too_large", &path);
    let answer = send(&town.stranger, MOST + 1).await;
    is_problem(&answer, 404, "not_found", &path);
    let answer = send(&town.api.client(), MOST + 1).await;
    is_problem(&answer, 401, "not_authenticated", &path);
    town.api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_comes_or_goes_counts_at_once() {
    let town = Town::new().await;
    let path = format!("/buildings/{}/sensors/", town.building);
    let set = async |statement: &str| {
        sqlx::query(statement)
            .execute(&town.world.database)
            .await
            .unwrap();
    };
    assert_eq!(town.ask(&town.stranger, "GET", &path).await.status, 404);
    let link = format!(
        "insert into membership values ('stranger', '{}', 'viewer')",
        town.building
    );
    set(&link).await;
    assert_eq!(town.ask(&town.stranger, "GET", &path).await.status, 200);
    set("delete from membership where username = 'viewer'").await;
    assert_eq!(town.ask(&town.viewer, "GET", &path).await.status, 404);
    town.api.stop().await;
}
