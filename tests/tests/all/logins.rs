//! Logging in: who gets a token, and at what cost.

use crate::WATTLINE;
use testkit::{Client, Mode, PASSWORD, USERNAME, World};
use tokio::task::JoinSet;

/// Sends this many logins at once; answers with their statuses.
async fn logins(client: &Client, count: usize, password: &'static str) -> Vec<u16> {
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        let client = client.clone();
        tasks.spawn(async move { client.post_login(USERNAME, password).await.0 });
    }
    tasks.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_and_an_unknown_user_are_answered_alike() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    let client = Client::new(world.http_port);
    let (status, wrong) = client.post_login(USERNAME, "wrong").await;
    assert_eq!((status, &wrong["status"]), (401, &401.into()), "{wrong}");
    let (status, unknown) = client.post_login("nobody", PASSWORD).await;
    assert_eq!(status, 401);
    assert_eq!(wrong, unknown);
    assert!(!api.log().contains("wrong"), "no password in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_do_not_make_the_api_grow() {
    const BOUND_MIB: u64 = 96;
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    let client = Client::new(world.http_port);
    // Wrong ones are refused without a check after the first few; each of these is checked.
    for _ in 0..4 {
        let mut statuses = logins(&client, 25, PASSWORD).await;
        statuses.sort_unstable();
        statuses.dedup();
        assert!(
            statuses.iter().all(|it| [200, 403].contains(it)),
            "{statuses:?}"
        );
    }
    assert!(
        api.peak_memory_mib() < BOUND_MIB,
        "{} MiB",
        api.peak_memory_mib()
    );
}
