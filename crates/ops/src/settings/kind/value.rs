//! A value that is what its setting expects.

use crate::settings::redaction::{excerpt, redacted};
use ipnet::IpNet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A value that is what its setting expects.
pub(in crate::settings) enum Value {
    /// A text or a choice.
    Text(String),
    Url(String),
    SocketAddress(SocketAddr),
    Integer(i64),
    Duration(Duration),
    Path(PathBuf),
    List(Vec<String>),
    Pairs(Vec<(String, String)>),
    Networks(Vec<IpNet>),
}

impl Value {
    /// The value for people, without what may be a password.
    pub(in crate::settings) fn shown(&self) -> String {
        match self {
            Self::Text(text) => format!("{:?}", excerpt(text)),
            Self::Url(url) => redacted(url),
            Self::SocketAddress(address) => address.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Duration(span) => format!("{span:?}"),
            Self::Path(path) => format!("{path:?}"),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| redacted(item)).collect();
                format!("{items:?}")
            }
            Self::Pairs(pairs) => {
                let keys: Vec<_> = pairs.iter().map(|(key, _)| format!("{key}=***")).collect();
                format!("{keys:?}")
            }
            Self::Networks(networks) => {
                let networks: Vec<_> = networks.iter().map(IpNet::to_string).collect();
                networks.join(", ")
            }
        }
    }

    pub(in crate::settings) fn text(&self) -> Option<String> {
        if let Self::Text(text) | Self::Url(text) = self {
            return Some(text.clone());
        }
        None
    }

    pub(in crate::settings) fn socket_address(&self) -> Option<SocketAddr> {
        if let Self::SocketAddress(address) = self {
            return Some(*address);
        }
        None
    }

    pub(in crate::settings) fn integer(&self) -> Option<i64> {
        if let Self::Integer(number) = self {
            return Some(*number);
        }
        None
    }

    pub(in crate::settings) fn duration(&self) -> Option<Duration> {
        if let Self::Duration(span) = self {
            return Some(*span);
        }
        None
    }

    pub(in crate::settings) fn path(&self) -> Option<PathBuf> {
        if let Self::Path(path) = self {
            return Some(path.clone());
        }
        None
    }

    pub(in crate::settings) fn list(&self) -> Option<Vec<String>> {
        if let Self::List(items) = self {
            return Some(items.clone());
        }
        None
    }

    pub(in crate::settings) fn pairs(&self) -> Option<Vec<(String, String)>> {
        if let Self::Pairs(pairs) = self {
            return Some(pairs.clone());
        }
        None
    }

    pub(in crate::settings) fn networks(&self) -> Option<Vec<IpNet>> {
        if let Self::Networks(networks) = self {
            return Some(networks.clone());
        }
        None
    }
}
