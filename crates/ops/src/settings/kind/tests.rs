use super::*;

#[test]
fn a_span_is_a_whole_number_with_a_unit() {
    for (text, millis) in [
        ("250ms", Some(250)),
        ("90s", Some(90_000)),
        ("5m", Some(300_000)),
        ("49h", Some(176_400_000)),
        ("7d", Some(604_800_000)),
        ("7", None),
        ("d", None),
        ("", None),
        ("-1s", None),
        ("1.5h", None),
        ("7 d", None),
        ("1h30m", None),
        ("36501d", None),
        ("99999999999999999999d", None),
        ("18446744073709551615d", None),
    ] {
        let expected = millis.map(Duration::from_millis);
        assert_eq!(parse_duration(text), expected, "{text}");
    }
}

#[test]
fn a_shortest_span_is_told_in_a_unit_that_people_use() {
    for (seconds, told) in [
        (0, "0s"),
        (90, "90s"),
        (300, "5m"),
        (176_400, "49h"),
        (604_800, "7d"),
    ] {
        assert_eq!(span(seconds), told);
    }
}

#[test]
fn a_url_has_one_of_the_schemes_and_something_behind_it() {
    for (text, accepted) in [
        ("mqtt://127.0.0.1:1883", true),
        ("mqtts://ada:p%40ss@broker", true),
        ("http://127.0.0.1", false),
        ("mqtt:127.0.0.1", false),
        ("mqtt://", false),
        ("mqtt://a b", false),
        ("mqtt://a\n", false),
    ] {
        assert_eq!(is_url(text, &["mqtt", "mqtts"]), accepted, "{text}");
    }
}

#[test]
fn pairs_keep_their_order_and_an_equals_sign_in_the_value() {
    let text = Raw::Text("sasl.username=ada, sasl.password=a=b==".to_owned());
    let pairs = Kind::Pairs.read(text).unwrap().pairs().unwrap();
    let expected = [("sasl.username", "ada"), ("sasl.password", "a=b==")];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(pairs, expected);
    for refused in ["sasl.username", "=x"] {
        assert!(Kind::Pairs.read(Raw::Text(refused.to_owned())).is_none());
    }
}

#[test]
fn networks_are_written_with_their_length_and_an_address_is_one_of_itself() {
    let check = |text: &str, expected: &[&str]| {
        let read = Kind::Networks.read(Raw::Text(text.to_owned())).unwrap();
        let told: Vec<_> = read.networks().unwrap();
        let told: Vec<_> = told.iter().map(ToString::to_string).collect();
        assert_eq!(told, expected, "{text}");
    };
    check("10.0.0.0/8, 192.0.2.1", &["10.0.0.0/8", "192.0.2.1/32"]);
    check("fd00::/8,::1", &["fd00::/8", "::1/128"]);
    check("", &[]);
    for refused in [
        "10.0.0.0/33",
        "10.0.0",
        "proxy",
        "10.0.0.0/8 ::1",
        "[::1]",
        "10.0.0.0/",
    ] {
        let read = Kind::Networks.read(Raw::Text(refused.to_owned()));
        assert!(read.is_none(), "{refused}");
    }
    let items = vec!["10.0.0.0/8".to_owned(), "::1".to_owned()];
    let read = Kind::Networks.read(Raw::Items(items)).unwrap();
    assert_eq!(read.shown(), "10.0.0.0/8, ::1/128");
}
