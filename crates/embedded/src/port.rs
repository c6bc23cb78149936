//! Ports on loopback.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    net::{Ipv4Addr, TcpListener},
    sync::{Mutex, PoisonError},
};

use crate::StartFailure;

/// Below what Linux gives to outgoing connections (32,768 and up): a port from there could be taken by any
/// client while its server is down for a restart, even by one that tries to reach this very port.
const LOWEST: u16 = 15_000;
const HIGHEST: u16 = 32_000;

/// What this process was given already: a server that is started again finds its port as it left it.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// How many ports are tried before giving up; each is free unless a server happens to have it.
const ATTEMPTS: usize = 50;

/// Gives the port that was asked for, if it is free, or else any free one.
pub(crate) fn choose(server: &'static str, asked: Option<u16>) -> Result<u16, StartFailure> {
    match asked {
        Some(port) if is_free(port) => Ok(port),
        Some(port) => Err(StartFailure::PortInUse { server, port }),
        None => free_port(),
    }
}

/// A port of loopback that nobody has at this moment, that Linux gives to no outgoing connection
/// before it is listened on, and that this process is not given a second time.
///
/// # Errors
/// When none of many was free.
pub fn free_port() -> Result<u16, StartFailure> {
    (0..ATTEMPTS)
        .map(|_| random())
        .find(|port| is_free(*port) && is_given_first(*port))
        .ok_or_else(|| StartFailure::Unsuitable("no free port found on loopback".to_owned()))
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn is_given_first(port: u16) -> bool {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.insert(port)
}

/// Random, so that tests in several processes do not choose the same one at the same time.
fn random() -> u16 {
    let span = u64::from(HIGHEST - LOWEST);
    let offset = RandomState::new().hash_one(std::process::id()) % span;
    LOWEST + u16::try_from(offset).expect("the span fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_listened_on_and_is_none_of_outgoing_connections() {
        let port = free_port().unwrap();
        assert!((LOWEST..HIGHEST).contains(&port), "{port}");
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    }

    #[test]
    fn a_port_is_given_once_also_when_nobody_listens_on_it() {
        let given: BTreeSet<u16> = (0..2_000).map(|_| free_port().unwrap()).collect();
        assert_eq!(given.len(), 2_000);
    }

    #[test]
    fn a_port_in_use_is_said_in_one_line() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let failure = choose("mosquitto", Some(port)).unwrap_err();
        assert_eq!(
            failure.to_string(),
            format!(
                "port {port} that mosquitto should listen on is in use: stop who uses it, or choose another"
            )
        );
    }
}
