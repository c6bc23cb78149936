//! What the values of a setting look like, and reading them.

mod value;

pub(super) use value::Value;

use ipnet::IpNet;
use std::net::IpAddr;
use std::time::Duration;

/// The longest span: a hundred years, so that adding it to any date in use cannot overflow.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// What the values of a setting look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text that is not empty.
    Text,
    /// A URL with one of these schemes (`mqtt`); the rest is judged by whoever connects.
    Url(&'static [&'static str]),
    /// An IP address with a port, such as `127.0.0.1:8080`.
    SocketAddress,
    /// A whole number.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// A whole number with a unit: `250ms`, `90s`, `5m`, `49h`, `7d`.
    Duration {
        /// The shortest, in seconds.
        min_s: u64,
    },
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A path of a file or folder.
    Path,
    /// Texts with commas between them; in the file, an array of texts as well.
    List,
    /// A list of `key=value`.
    Pairs,
    /// A list of networks such as `10.0.0.0/8`; an address is the network of itself alone.
    Networks,
}

/// A value as it was given.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    Text(String),
    /// An array of the file, whose texts may hold commas.
    Items(Vec<String>),
}

impl Kind {
    /// What is expected, for people.
    pub(super) fn expectation(self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Url(schemes) => {
                let starts: Vec<_> = schemes
                    .iter()
                    .map(|scheme| format!("{scheme}://"))
                    .collect();
                format!("a URL that starts with {}", starts.join(" or "))
            }
            Self::SocketAddress => "an IP address with a port such as 127.0.0.1:8080".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Duration { min_s } => {
                format!(
                    "a span of at least {} such as 250ms, 90s, 5m, 49h or 7d",
                    span(min_s)
                )
            }
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::Path => "a path".to_owned(),
            Self::List => "texts with commas between them".to_owned(),
            Self::Pairs => "key=value with commas between them".to_owned(),
            Self::Networks => {
                "networks such as 10.0.0.0/8, fd00::/8 or 192.0.2.1 with commas between them"
                    .to_owned()
            }
        }
    }

    /// Whether an error may repeat a value of this kind that is not secret; those that may hold a
    /// password are out.
    pub(super) const fn is_plain(self) -> bool {
        match self {
            Self::SocketAddress
            | Self::Integer { .. }
            | Self::Duration { .. }
            | Self::Choice(_)
            | Self::Networks => true,
            Self::Text | Self::Url(_) | Self::Path | Self::List | Self::Pairs => false,
        }
    }

    /// The value that was given; nothing when it is not what is expected.
    pub(super) fn read(self, raw: Raw) -> Option<Value> {
        let text = match (raw, self) {
            (Raw::Text(text), _) => text,
            (Raw::Items(items), Self::List) => return Some(Value::List(items)),
            (Raw::Items(items), Self::Pairs) => return pairs(items),
            (Raw::Items(items), Self::Networks) => return networks(&items),
            (Raw::Items(_), _) => return None,
        };
        match self {
            Self::Text => (!text.is_empty()).then_some(Value::Text(text)),
            Self::Url(schemes) => is_url(&text, schemes).then_some(Value::Url(text)),
            Self::SocketAddress => text.parse().ok().map(Value::SocketAddress),
            Self::Integer { min, max } => integer(&text, min, max).map(Value::Integer),
            Self::Duration { min_s } => parse_duration(&text)
                .filter(|span| *span >= Duration::from_secs(min_s))
                .map(Value::Duration),
            Self::Choice(choices) => choices
                .contains(&text.as_str())
                .then_some(Value::Text(text)),
            Self::Path => (!text.is_empty()).then(|| Value::Path(text.into())),
            Self::List => Some(Value::List(items(&text))),
            Self::Pairs => pairs(items(&text)),
            Self::Networks => networks(&items(&text)),
        }
    }
}

fn is_url(text: &str, schemes: &[&str]) -> bool {
    let visible = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    visible
        && text
            .split_once("://")
            .is_some_and(|(scheme, rest)| schemes.contains(&scheme) && !rest.is_empty())
}

fn integer(text: &str, min: i64, max: i64) -> Option<i64> {
    let number = text.parse().ok()?;
    (min..=max).contains(&number).then_some(number)
}

/// Reads a whole number with a unit: `250ms`, `90s`, `5m`, `49h`, `7d`.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let digits_end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits_end)?;
    let number: u64 = number.parse().ok()?;
    let span = match unit {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number.checked_mul(60)?),
        "h" => Duration::from_secs(number.checked_mul(3_600)?),
        "d" => Duration::from_secs(number.checked_mul(86_400)?),
        _ => return None,
    };
    (span <= LONGEST).then_some(span)
}

/// Seconds in the largest unit in which they are a whole number.
fn span(seconds: u64) -> String {
    match seconds {
        0 => "0s".to_owned(),
        days if days % 86_400 == 0 && days / 86_400 > 2 => format!("{}d", days / 86_400),
        hours if hours % 3_600 == 0 => format!("{}h", hours / 3_600),
        minutes if minutes % 60 == 0 => format!("{}m", minutes / 60),
        seconds => format!("{seconds}s"),
    }
}

fn items(text: &str) -> Vec<String> {
    let items = text.split(',').map(str::trim);
    items
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

fn pairs(items: Vec<String>) -> Option<Value> {
    let pair = |item: String| {
        let (key, value) = item.split_once('=')?;
        let key = key.trim();
        (!key.is_empty()).then(|| (key.to_owned(), value.trim().to_owned()))
    };
    let pairs = items.into_iter().map(pair).collect::<Option<_>>()?;
    Some(Value::Pairs(pairs))
}

fn networks(items: &[String]) -> Option<Value> {
    let network = |item: &String| {
        let alone = || item.parse::<IpAddr>().ok().map(IpNet::from);
        item.parse().ok().or_else(alone)
    };
    let networks = items.iter().map(network).collect::<Option<_>>()?;
    Some(Value::Networks(networks))
}

#[cfg(test)]
mod tests;
