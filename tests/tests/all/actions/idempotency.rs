//! `Idempotency-Key`: a request that is sent again acts once.

use super::{BLOCK, Fixture, HOUR, NOW, breaks, charge, location, planning};
use serde_json::{Value, json};

const DAY: i64 = 24 * HOUR;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_and_body_act_once_and_are_answered_alike() {
    let fixture = Fixture::at(NOW).await;
    let first = location(&fixture.act_with_key("k", &charge(1)).await);
    fixture.set_clock(NOW + DAY - 1);
    let second = location(&fixture.act_with_key("k", &charge(1)).await);
    assert_eq!((first, fixture.stored().await), (second, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_24_hours_the_same_key_acts_again() {
    let fixture = Fixture::at(NOW).await;
    let first = location(&fixture.act_with_key("k", &charge(1)).await);
    fixture.set_clock(NOW + DAY);
    let second = location(&fixture.act_with_key("k", &charge(2)).await);
    assert_ne!(first, second);
    // From then on the key is the second one's.
    let answer = fixture.act_with_key("k", &charge(1)).await;
    assert_eq!(answer.status, 409, "{}", answer.text);
    assert_eq!(fixture.stored().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_requests_at_once_with_one_key_make_one_action() {
    let fixture = Fixture::at(NOW).await;
    let body = charge(1);
    let requests = (0..20).map(|_| fixture.act_with_key("k", &body));
    let answers = futures(requests).await;
    let locations: Vec<String> = answers.iter().map(location).collect();
    assert!(
        locations.iter().all(|it| *it == locations[0]),
        "{locations:?}"
    );
    assert_eq!(fixture.stored().await, 1);
}

/// All of them at once.
async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in all.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(context)
            {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_body_with_a_used_key_is_409_and_an_invalid_one_400() {
    let fixture = Fixture::at(NOW).await;
    let first = location(&fixture.act_with_key("k", &charge(1)).await);
    let answer = fixture.act_with_key("k", &charge(2)).await;
    assert_eq!(
        (answer.status, answer.code()),
        (409, "idempotency_key_reused")
    );
    let answer = fixture.act_with_key("k", &charge(-1)).await;
    breaks(
        &answer,
        &[("/battery_set_power_charge_watts", "below_minimum")],
    );
    // Neither has taken the key from the first.
    let again = location(&fixture.act_with_key("k", &charge(1)).await);
    assert_eq!((first, fixture.stored().await), (again, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_does_not_use_up_its_key() {
    let fixture = Fixture::at(NOW).await;
    let answer = fixture.act_with_key("k", &charge(-1)).await;
    assert_eq!(answer.status, 400);
    location(&fixture.act_with_key("k", &charge(1)).await);
    assert_eq!(fixture.stored().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_a_users_own_in_each_building() {
    let fixture = Fixture::at(NOW).await;
    let grace = fixture.client("grace").await;
    let (building, other) = (fixture.building, fixture.other);
    let body = charge(1);
    let mine = fixture.act_with_key("k", &body).await;
    let hers = fixture
        .send_with_key(&grace, building, "k", &charge(2))
        .await;
    let elsewhere = fixture
        .send_with_key(&fixture.ada, other, "k", &charge(3))
        .await;
    let another_key = fixture.act_with_key("K", &body).await;
    let without_key = fixture.act(&body).await;
    let all = [mine, hers, elsewhere, another_key, without_key];
    let mut locations: Vec<String> = all.iter().map(location).collect();
    locations.sort();
    locations.dedup();
    assert_eq!((locations.len(), fixture.stored().await), (5, 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_right_when_it_was_sent_first_is_answered_alike_when_it_is_no_more() {
    let fixture = Fixture::at(NOW).await;
    let plan = planning(BLOCK, BLOCK + 4 * HOUR, true);
    let first = location(&fixture.act_with_key("k", &plan).await);
    fixture.set_clock(BLOCK + 1);
    let again = location(&fixture.act_with_key("k", &plan).await);
    assert_eq!((first, fixture.stored().await), (again, 1));
    assert_eq!(fixture.act_with_key("other", &plan).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_no_double_can_hold_where_it_does_not_count_is_answered_alike() {
    let fixture = Fixture::at(NOW).await;
    let body = br#"{"battery_set_power_timeout": 1e400, "battery_set_power_timeout": 60,
                    "battery_set_power_charge_watts": 7}"#;
    let headers = [
        ("authorization", format!("Bearer {}", fixture.ada.access())),
        ("idempotency-key", "k".to_owned()),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.into_bytes()));
    let send = async || {
        let path = fixture.path();
        location(
            &fixture
                .ada
                .send_raw("POST", &path, &headers, body.to_vec())
                .await,
        )
    };
    assert_eq!((send().await, fixture.stored().await), (send().await, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_breaks_a_rule_is_told_with_whatever_else_is_wrong() {
    let fixture = Fixture::at(NOW).await;
    let field = "/Idempotency-Key";
    let send = async |keys: &[&[u8]], body: &Value| {
        let authorization = format!("Bearer {}", fixture.ada.access()).into_bytes();
        let mut headers = vec![("authorization".to_owned(), authorization)];
        headers.extend(
            keys.iter()
                .map(|it| ("idempotency-key".to_owned(), it.to_vec())),
        );
        let body = body.to_string().into_bytes();
        fixture
            .ada
            .send_raw("POST", &fixture.path(), &headers, body)
            .await
    };
    let longest = "ü".repeat(255);
    location(&send(&[longest.as_bytes()], &charge(1)).await);
    let too_long = "x".repeat(256);
    breaks(
        &send(&[too_long.as_bytes()], &charge(1)).await,
        &[(field, "too_long")],
    );
    breaks(&send(&[b""], &charge(1)).await, &[(field, "too_short")]);
    breaks(&send(&[b"\xff"], &charge(1)).await, &[(field, "not_text")]);
    breaks(
        &send(&[b"a", b"a"], &charge(1)).await,
        &[(field, "repeated")],
    );
    let socket = json!({"ev_sockets_update": [{"sensor_uuid": fixture.temperature,
        "ev_socket_set_power_charge_watts": -1, "ev_socket_set_power_timeout": 60}], "x": 1});
    let expected = [
        (field, "too_short"),
        (
            "/ev_sockets_update/0/ev_socket_set_power_charge_watts",
            "below_minimum",
        ),
        ("/ev_sockets_update/0/sensor_uuid", "wrong_kind"),
        ("/x", "unknown_property"),
    ];
    breaks(&send(&[b""], &socket).await, &expected);
    assert_eq!(fixture.stored().await, 1);
}
