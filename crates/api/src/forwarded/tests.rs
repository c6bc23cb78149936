use super::*;
use proptest::prelude::*;

const TRUSTED: [&str; 3] = ["10.0.0.0/8", "fd00::/8", "127.0.0.1/32"];

fn trusted() -> Vec<IpNet> {
    TRUSTED.map(|it| it.parse().unwrap()).to_vec()
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn headers(name: &'static str, lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(name, HeaderValue::from_bytes(line.as_bytes()).unwrap());
    }
    headers
}

#[track_caller]
fn check(peer: &str, name: &'static str, lines: &[&str], expected: &str) {
    let told = client_address(address(peer), &headers(name, lines), &trusted());
    assert_eq!(told, address(expected), "{lines:?}");
}

#[test]
fn nobody_but_a_trusted_proxy_is_believed() {
    for peer in [
        "192.0.2.1",
        "::1",
        "9.255.255.255",
        "11.0.0.0",
        "2001:db8::1",
    ] {
        check(peer, "forwarded", &["for=198.51.100.7"], peer);
        check(peer, "x-forwarded-for", &["198.51.100.7"], peer);
    }
    for peer in ["10.1.2.3", "127.0.0.1", "::ffff:10.1.2.3", "fd12::1"] {
        check(peer, "forwarded", &["for=198.51.100.7"], "198.51.100.7");
        check(peer, "x-forwarded-for", &["198.51.100.7"], "198.51.100.7");
    }
    let nobody = client_address(
        address("127.0.0.1"),
        &headers("x-forwarded-for", &["198.51.100.7"]),
        &[],
    );
    assert_eq!(nobody, address("127.0.0.1"), "nobody is trusted by default");
}

#[test]
fn a_request_without_either_header_is_from_its_peer() {
    let told = client_address(address("::ffff:10.1.2.3"), &HeaderMap::new(), &trusted());
    assert_eq!(told, address("10.1.2.3"));
}

#[test]
fn the_walk_ends_at_the_first_address_from_the_right_that_is_no_proxy() {
    for (lines, expected) in [
        (&["6.6.6.6, 198.51.100.7"][..], "198.51.100.7"),
        (&["6.6.6.6, 198.51.100.7, 10.0.0.2"], "198.51.100.7"),
        (
            &["6.6.6.6", "198.51.100.7", "10.0.0.2, 10.0.0.3"],
            "198.51.100.7",
        ),
        (&["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
        (
            &["6.6.6.6,198.51.100.7:4711 , [fd00::1]:80,"],
            "198.51.100.7",
        ),
        (&["6.6.6.6, 2001:db8::1"], "2001:db8::1"),
        (&["::ffff:198.51.100.7"], "198.51.100.7"),
    ] {
        check("10.0.0.1", "x-forwarded-for", lines, expected);
    }
}

#[test]
fn what_cannot_be_read_ends_the_walk_at_the_last_address_that_was_believed() {
    for (line, expected) in [
        ("198.51.100.7, unknown", "10.0.0.1"),
        ("198.51.100.7, unknown, 10.0.0.2", "10.0.0.2"),
        ("198.51.100.7, 300.1.1.1, 10.0.0.2", "10.0.0.2"),
        ("198.51.100.7, _proxy", "10.0.0.1"),
        ("198.51.100.7 198.51.100.8", "10.0.0.1"),
        ("198.51.100.7:", "10.0.0.1"),
        ("198.51.100.7:port", "10.0.0.1"),
        ("198.51.100.7:123456", "10.0.0.1"),
        ("[198.51.100.7]", "10.0.0.1"),
        ("[2001:db8::1", "10.0.0.1"),
        ("fe80::1%eth0", "10.0.0.1"),
        ("198.51.100.7, \u{e9}", "10.0.0.1"),
        ("", "10.0.0.1"),
        (",,", "10.0.0.1"),
    ] {
        check("10.0.0.1", "x-forwarded-for", &[line], expected);
    }
}

#[test]
fn forwarded_is_read_as_its_rfc_writes_it() {
    for (line, expected) in [
        ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
        ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
        ("for=\"[2001:db8:cafe::17]\"", "2001:db8:cafe::17"),
        ("for=192.0.2.43, for=198.51.100.17", "198.51.100.17"),
        (
            "for=192.0.2.43,for=198.51.100.17;by=\"_a,b;c\"",
            "198.51.100.17",
        ),
        ("for=\"192.0.2.43:47011\"", "192.0.2.43"),
        ("for=\"192.0.2.43:_p-1\"", "192.0.2.43"),
        ("for=192.0.2.43:80", "192.0.2.43"),
        ("proto=https; for=192.0.2.43 ;", "192.0.2.43"),
        (
            "for=6.6.6.6, for=192.0.2.43, for=\"[fd00::2]\"",
            "192.0.2.43",
        ),
        ("for=192.0.2.43;host=\"a\\\", for=6.6.6.6\"", "192.0.2.43"),
        ("for=\"_gazonk\"", "10.0.0.1"),
        ("for=_hidden, for=10.0.0.2", "10.0.0.2"),
        ("for=unknown", "10.0.0.1"),
        ("proto=https", "10.0.0.1"),
        ("for", "10.0.0.1"),
        ("for=", "10.0.0.1"),
        ("for=\"\"", "10.0.0.1"),
        ("for=\"192.0.2.43", "10.0.0.1"),
        ("for=192.0.2.43;for=192.0.2.44", "10.0.0.1"),
        ("for=\"192\\.0.2.43\"", "10.0.0.1"),
        ("192.0.2.43", "10.0.0.1"),
    ] {
        check("10.0.0.1", "forwarded", &[line], expected);
    }
}

#[test]
fn a_quote_that_a_client_leaves_open_hides_nothing_that_a_proxy_adds() {
    for line in [
        "for=\"6.6.6.6, for=198.51.100.7",
        "for=6.6.6.6;x=\", for=\"198.51.100.7\"",
        "for=6.6.6.6;x=\"\\, for=\"198.51.100.7:80\"",
        "\"\"\", for=198.51.100.7, for=\"[fd00::1]\"",
    ] {
        check("10.0.0.1", "forwarded", &[line], "198.51.100.7");
    }
}

#[test]
fn two_headers_that_tell_different_clients_are_not_believed() {
    let told = |forwarded: &str, other: &str| {
        let mut both = headers("forwarded", &[forwarded]);
        both.extend(headers("x-forwarded-for", &[other]));
        client_address(address("10.0.0.1"), &both, &trusted())
    };
    let agreed = told("for=\"198.51.100.7:80\"", "198.51.100.7, 10.0.0.2");
    assert_eq!(agreed, address("198.51.100.7"));
    let contested = told("for=6.6.6.6", "198.51.100.7");
    assert_eq!(contested, address("10.0.0.1"));
}

/// Any address, often one of a trusted proxy.
fn any_address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 3]>().prop_map(|[a, b, c]| IpAddr::from([10, a, b, c])),
        any::<[u16; 8]>().prop_map(IpAddr::from),
        any::<u16>().prop_map(|it| IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, it])),
    ]
}

fn written(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("for={address}"),
        IpAddr::V6(address) => format!("for=\"[{address}]\""),
    }
}

proptest! {
    #[test]
    fn whatever_stands_in_the_headers_an_untrusted_peer_is_the_client(
        peer in any_address(),
        forwarded in prop::collection::vec("[ -~]{0,60}", 0..3),
        other in prop::collection::vec("[ -~]{0,60}", 0..3),
    ) {
        let mut all = HeaderMap::new();
        for (name, lines) in [("forwarded", forwarded), ("x-forwarded-for", other)] {
            for line in lines {
                all.append(name, HeaderValue::try_from(line).unwrap());
            }
        }
        let told = client_address(peer, &all, &trusted());
        if !is_trusted(peer, &trusted()) {
            prop_assert_eq!(told, peer.to_canonical());
        }
    }

    #[test]
    fn the_client_is_the_last_that_is_no_proxy_whatever_it_wrote_itself(
        forged in "[ -~]{0,80}",
        client in any_address(),
        proxies in prop::collection::vec(any::<u16>(), 0..4),
    ) {
        prop_assume!(!is_trusted(client, &trusted()));
        let mut line = forged;
        line.push_str(", ");
        line.push_str(&written(client));
        for proxy in proxies {
            let proxy = IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, proxy]);
            line.push_str(&format!(" ,{};proto=https", written(proxy)));
        }
        let told = client_address(address("10.0.0.1"), &headers("forwarded", &[&line]), &trusted());
        prop_assert_eq!(told, client.to_canonical());
    }
}
