//! Whom a request is from when proxies stand in front: a pure function of peer, headers and settings.
//!
//! Every proxy adds, at the right end, the address that it was spoken to from. So the walk goes from
//! the right, each address vouched for by the one before it, and ends at the first that is no proxy
//! of ours, or before the first that cannot be read.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use ipnet::IpNet;
use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of the client whose request came over a connection from `peer`.
///
/// `Forwarded` (RFC 7239) and `X-Forwarded-For` are believed when `peer` is a trusted proxy. Where both
/// are there and tell different clients, neither is: most proxies write the one and pass on what a
/// client wrote into the other.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let told_by = |name: HeaderName, node: fn(&str) -> Option<IpAddr>| {
        let lines = headers.get_all(&name).iter().rev();
        let nodes = lines.flat_map(|line| nodes(line, node));
        let told = headers.contains_key(&name);
        told.then(|| walk(peer, nodes, trusted))
    };
    let forwarded = told_by(header::FORWARDED, forwarded_for);
    match (forwarded, told_by(X_FORWARDED_FOR, node)) {
        (Some(one), Some(other)) if one != other => peer,
        (Some(client), _) | (None, Some(client)) => client,
        (None, None) => peer,
    }
}

/// Whether the address is one of a trusted proxy; IPv4 in IPv6's clothes is IPv4.
pub(crate) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

fn walk(peer: IpAddr, nodes: impl Iterator<Item = Option<IpAddr>>, trusted: &[IpNet]) -> IpAddr {
    let mut believed = peer;
    for node in nodes {
        let Some(address) = node else { break };
        believed = address;
        if !is_trusted(address, trusted) {
            break;
        }
    }
    believed
}

/// The addresses of one header line, from the right; none for what cannot be read as one.
fn nodes(
    line: &HeaderValue,
    node: fn(&str) -> Option<IpAddr>,
) -> impl Iterator<Item = Option<IpAddr>> {
    // A line with other bytes than visible ASCII has one element, and no address.
    let text = line.to_str().unwrap_or("?");
    from_right(text, b',')
        .filter(|element| !element.is_empty())
        .map(node)
}

/// What lies between the separators that are in no quoted string, from the right, without blanks.
fn from_right(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    iter::from_fn(move || {
        let text = rest?;
        let found = last_unquoted(text, separator).and_then(|at| text.split_at_checked(at));
        let (before, element) = match found {
            Some((before, element)) => (Some(before), element.get(1..)?),
            None => (None, text),
        };
        rest = before;
        Some(element.trim_matches([' ', '\t']))
    })
}

/// Where the last `separator` outside of quoted strings stands. Read from the right too: what is on
/// the left may be anybody's, and a quote that is opened there must not swallow what a proxy has added.
fn last_unquoted(text: &str, separator: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut quoted = false;
    for (at, byte) in bytes.iter().enumerate().rev() {
        if *byte == b'"' && !is_escaped(bytes, at) {
            quoted = !quoted;
        } else if *byte == separator && !quoted {
            return Some(at);
        }
    }
    None
}

/// Whether an odd number of backslashes stands before the place.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let before = bytes.iter().take(at).rev();
    before.take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The address in the `for` of one element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut found = None;
    for pair in from_right(element, b';').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        if name.eq_ignore_ascii_case("for") && found.replace(value).is_some() {
            return None;
        }
    }
    let value = found?;
    let quoted = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    // No address needs an escape, so one that has any is none.
    node(quoted.unwrap_or(value))
}

/// An address, with a port or without; IPv6 with brackets or without. Nothing for `unknown`, a made-up
/// name (`_proxy`) and what is malformed.
fn node(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let (address, after) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, after) = rest.split_once(']')?;
            (IpAddr::from(address.parse::<Ipv6Addr>().ok()?), after)
        }
        None => {
            let (address, after) = text.split_at_checked(text.find(':')?)?;
            (IpAddr::from(address.parse::<Ipv4Addr>().ok()?), after)
        }
    };
    is_port_or_none(after).then(|| address.to_canonical())
}

/// Nothing, or a colon with a port or a made-up name of one (`:_p1`).
fn is_port_or_none(text: &str) -> bool {
    let Some(port) = text.strip_prefix(':') else {
        return text.is_empty();
    };
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    match port.strip_prefix('_') {
        Some(name) => !name.is_empty() && name.bytes().all(in_name),
        None => (1..=5).contains(&port.len()) && port.bytes().all(|it| it.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests;
