//! What a client of PostgreSQL says, read from the bytes that it sends: which statements it has executed, how often it
//! has waited for an answer, and how often only to hear that the server is alive.

use std::collections::{BTreeMap, HashMap};
use testkit::Proxy;

/// The answer to an `SSLRequest` is one byte; then the client begins again.
const SSL_REQUEST: [u8; 4] = 80_877_103_i32.to_be_bytes();

/// What was said over all connections that took part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// How often each statement was executed, by its text.
    pub(super) executed: BTreeMap<String, usize>,
    /// Statements that were parsed and planned.
    pub(super) parsed: usize,
    /// Signs of life that were asked for: a way to the server and back for nothing else.
    pub(super) signs_of_life: usize,
}

impl Said {
    /// Everything that was said through the proxy so far but what `passes_over` names.
    pub(super) fn through(proxy: &Proxy, passes_over: impl Fn(&str) -> bool) -> Self {
        let mut all = Self::default();
        for bytes in proxy.sent_to_server() {
            all.add(&bytes, &passes_over);
        }
        all
    }

    /// What has been said since.
    pub(super) fn since(mut self, before: &Self) -> Self {
        for (text, times) in &before.executed {
            *self.executed.get_mut(text).unwrap() -= times;
        }
        self.executed.retain(|_, times| *times > 0);
        self.parsed -= before.parsed;
        self.signs_of_life -= before.signs_of_life;
        self
    }

    pub(super) fn statements(&self) -> usize {
        self.executed.values().sum()
    }

    /// How often a statement was executed that has these words.
    pub(super) fn times(&self, words: &str) -> usize {
        let executed = self.executed.iter();
        let times = executed.filter_map(|(text, times)| text.contains(words).then_some(*times));
        times.sum()
    }

    fn add(&mut self, bytes: &[u8], passes_over: &impl Fn(&str) -> bool) {
        let mut texts: HashMap<&[u8], String> = HashMap::new();
        let mut bound = String::new();
        let mut is_idle = true;
        for (kind, body) in messages(bytes) {
            let mut strings = body.split(|byte| *byte == 0);
            match kind {
                b'Q' => self.execute(&text(strings.next().unwrap()), passes_over),
                b'P' => {
                    let name = strings.next().unwrap();
                    let text = text(strings.next().unwrap());
                    self.parsed += usize::from(!passes_over(&text));
                    texts.insert(name, text);
                }
                b'B' => bound = texts[strings.nth(1).unwrap()].clone(),
                b'E' => self.execute(&bound, passes_over),
                b'S' if is_idle => self.signs_of_life += 1,
                _ => {}
            }
            is_idle = matches!(kind, b'S' | b'Q');
        }
    }

    fn execute(&mut self, text: &str, passes_over: &impl Fn(&str) -> bool) {
        if !passes_over(text) {
            *self.executed.entry(text.to_owned()).or_default() += 1;
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Kind and body of each message that is there as a whole; the first ones have a length only.
fn messages(bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let length = |bytes: &[u8]| {
        let length = bytes.get(..4)?.try_into().unwrap();
        Some(usize::try_from(i32::from_be_bytes(length)).unwrap())
    };
    let mut rest = bytes;
    while let Some(begun) = length(rest) {
        let asks_for_tls = rest.get(4..8) == Some(&SSL_REQUEST);
        rest = rest.get(begun..).unwrap_or_default();
        if !asks_for_tls {
            break;
        }
    }
    let mut all = Vec::new();
    while let Some((kind, after)) = rest.split_first()
        && let Some(body) = length(after).and_then(|length| after.get(4..length))
    {
        all.push((*kind, body));
        rest = &after[4 + body.len()..];
    }
    all
}

#[test]
fn what_is_said_is_read_from_the_bytes() {
    let message = |kind: u8, body: &[u8]| {
        let length = i32::try_from(body.len() + 4).unwrap();
        [&[kind], &length.to_be_bytes()[..], body].concat()
    };
    let mut said = Said::default();
    said.add(
        &[
            [&8_i32.to_be_bytes()[..], &SSL_REQUEST].concat(),
            [&9_i32.to_be_bytes()[..], &[0, 3, 0, 0, 0]].concat(),
            message(b'P', b"one\0select $1\0\0\0"),
            message(b'D', b"Sone\0"),
            message(b'S', b""),
            message(b'B', b"\0one\0\0\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
            message(b'S', b""),
            message(b'Q', b"begin\0"),
            message(b'Q', b"commit\0"),
            message(b'B', b"\0one\0\0\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
            b"S\0\0".to_vec(),
        ]
        .concat(),
        &|text| text == "commit",
    );
    let executed = [("begin", 1), ("select $1", 2)].map(|(text, times)| (text.to_owned(), times));
    let expected = Said {
        executed: BTreeMap::from(executed),
        parsed: 1,
        signs_of_life: 1,
    };
    assert_eq!(said, expected);
}
