use super::*;

fn config() -> Config {
    Config {
        mqtt_url: "mqtt://ada:secret@127.0.0.1:1884".to_owned(),
        client_id: "bridge".to_owned(),
        share_group: None,
        receive_maximum: 7,
        building_message_limit: 0,
        leave: false,
        kinds: RecordKind::ALL.to_vec(),
    }
}

fn paths(config: &Config) -> Vec<String> {
    let connector = Connector::new(config).unwrap();
    connector.filters.into_iter().map(|it| it.path).collect()
}

#[test]
fn the_session_is_kept_and_bounded() {
    let session = Connector::new(&config()).unwrap().session;
    assert!(!session.clean_start);
    assert_eq!(session.expiry_seconds, 604_800);
    assert_eq!(session.receive_maximum, 7);
    assert_eq!(session.largest_packet_bytes, LARGEST_PACKET_BYTES);
}

#[test]
fn every_kind_is_subscribed_to_and_shared_with_the_group() {
    assert_eq!(paths(&config())[0], "v1/buildings/+/telemetry");
    let group = Some("night".to_owned());
    let shared = Config {
        share_group: group,
        ..config()
    };
    let paths = paths(&shared);
    assert_eq!(paths.len(), 5);
    assert_eq!(paths[4], "$share/night/v1/buildings/+/presence");
}

#[test]
fn a_group_that_is_no_topic_level_is_refused() {
    for group in ["", "a/b", "a+", "#"] {
        let share_group = Some(group.to_owned());
        let config = Config {
            share_group,
            ..config()
        };
        assert!(Connector::new(&config).is_err(), "{group}");
    }
}

#[test]
fn one_refused_or_weakened_filter_refuses_the_subscription() {
    let answer = |return_codes| SubAck {
        pkid: 1,
        return_codes,
        properties: None,
    };
    let granted = SubscribeReasonCode::Success(QoS::AtLeastOnce);
    let weak = SubscribeReasonCode::Success(QoS::AtMostOnce);
    assert_eq!(refused(&answer(vec![granted, granted])), None);
    assert!(refused(&answer(vec![granted, weak])).is_some());
    let denied = answer(vec![SubscribeReasonCode::NotAuthorized, granted]);
    assert!(refused(&denied).unwrap().contains("NotAuthorized"));
}
