//! What the bridge needs to be told, and the numbers that bound it.

use ops::clock::Clock;
use ops::health::Health;
use ops::metrics::Metrics;
use ops::shutdown::GRACE;
use std::time::Duration;
use wire::topic::RecordKind;

/// How long the broker keeps the session, and with it what it has not delivered, while the bridge
/// is away: as long as records are kept by default, since older ones would be refused.
pub(crate) const SESSION_EXPIRY_SECONDS: u32 = 7 * 24 * 3600;

/// The largest packet that the broker may send, in bytes; told to it in CONNECT. `decisions.md` wants
/// payloads up to 256 KiB taken; around them stand a topic and properties, for which the shipped
/// broker configuration leaves 4 KiB. Less here, and Mosquitto would drop what it has acknowledged.
pub(crate) const LARGEST_PACKET_BYTES: u32 = (256 + 5) * 1024;

/// The longest time without a packet of ours; a broker that is silent for twice as long is given up.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// More than this many messages cannot await an acknowledgement: they would share identifiers.
pub(crate) const EVERY_PACKET_IDENTIFIER: usize = 65_535;

/// How long a connection must have lasted for the next one to be tried without a longer wait, so
/// that two bridges with one client id do not throw each other out many times a second.
pub(crate) const STABLE_AFTER: Duration = Duration::from_secs(10);

/// How long what is in flight may take to become durable at a stop. With the farewell, and the time
/// that clients take to close, a stop keeps within [`ops::shutdown::GRACE`].
pub(crate) const FINISHING: Duration = GRACE.saturating_sub(Duration::from_secs(3));

/// How long the last acknowledgements and the farewell may take to be written at a stop.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

/// Where the bridge takes its messages from.
#[derive(Clone, Debug)]
pub struct Config {
    /// `mqtt://` or `mqtts://`, with user and password where the broker asks for them.
    pub mqtt_url: String,
    /// Names the persistent session: fixed for each process.
    pub client_id: String,
    /// Shares the messages with the other bridges of this group (`$share/<group>/…`).
    pub share_group: Option<String>,
    /// Messages in flight, the bridge's only buffer; at least 1.
    pub receive_maximum: u16,
    /// Messages a second that one building may send in the long run, with an hour's worth at once; 0 for any
    /// number. What is beyond becomes dead letters.
    pub building_message_limit: u32,
    /// The kinds of record that are subscribed to.
    pub kinds: Vec<RecordKind>,
    /// Subscribe to nothing, carry over what the broker keeps for the session, end the session, and stop.
    pub leave: bool,
}

/// What the bridge shares with its process.
#[derive(Clone)]
pub struct Handles {
    /// Where messages are counted.
    pub metrics: Metrics,
    /// Where the conditions `mqtt`, `kafka` and `delivery` are told.
    pub health: Health,
    /// Tells the moment of receipt.
    pub clock: Clock,
}
