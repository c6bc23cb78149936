//! The five kinds of record, the MQTT topics they come on and the Kafka topics they go to.

use domain::rejection::{Reason, Rejection};
use uuid::Uuid;

/// What a controller sends: the last level of its MQTT topic, the suffix of its Kafka topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// Realtime telemetry of the whole building.
    Telemetry,
    /// Readings of single sensors.
    Readings,
    /// Key-value registrations.
    KeyValues,
    /// What the controller did with the desired state.
    Reported,
    /// Whether the controller is connected.
    Presence,
}

impl RecordKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Telemetry,
        Self::Readings,
        Self::KeyValues,
        Self::Reported,
        Self::Presence,
    ];

    /// The word that topics use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Telemetry => "telemetry",
            Self::Readings => "readings",
            Self::KeyValues => "keyvalues",
            Self::Reported => "reported",
            Self::Presence => "presence",
        }
    }

    /// Reads the word that topics use.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The MQTT topics below `v1/buildings/`.
#[derive(Clone, Copy, Debug)]
pub struct MqttTopic;

impl MqttTopic {
    /// The filter that matches all buildings' records of a kind.
    #[must_use]
    pub fn filter(kind: RecordKind) -> String {
        format!("v1/buildings/+/{}", kind.as_str())
    }

    /// The topic on which a building sends records of a kind.
    #[must_use]
    pub fn format(kind: RecordKind, building: Uuid) -> String {
        format!("v1/buildings/{}/{}", building.hyphenated(), kind.as_str())
    }

    /// The topic on which a building receives its desired state.
    #[must_use]
    pub fn desired(building: Uuid) -> String {
        format!("v1/buildings/{}/desired", building.hyphenated())
    }

    /// Whose desired state comes on a topic; none where it is no such topic.
    #[must_use]
    pub fn parse_desired(topic: &str) -> Option<Uuid> {
        let below = topic.strip_prefix("v1/buildings/")?;
        parse_building(below.strip_suffix("/desired")?)
    }
}

/// What an MQTT topic tells about the message that came on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// The kind of record, if the topic's last level is one.
    pub kind: Option<RecordKind>,
    /// The building, or `unknown_topic` where the topic names none.
    pub building: Result<Uuid, Rejection>,
}

/// Reads an MQTT topic of the form `v1/buildings/{uuid}/{kind}`.
#[must_use]
pub fn parse_topic(topic: &str) -> Topic {
    let mut levels = topic.split('/');
    let (Some("v1"), Some("buildings"), Some(building), Some(kind), None) = (
        levels.next(),
        levels.next(),
        levels.next(),
        levels.next(),
        levels.next(),
    ) else {
        return Topic {
            kind: None,
            building: Err(unknown_topic("topic is not v1/buildings/{uuid}/{kind}")),
        };
    };
    Topic {
        kind: RecordKind::parse(kind),
        building: parse_building(building).ok_or_else(|| {
            unknown_topic("the topic's building is not a lower-case uuid with hyphens")
        }),
    }
}

/// Reads a building's uuid as topics and Kafka keys write it: lower case, with hyphens.
#[must_use]
pub fn parse_building(text: &str) -> Option<Uuid> {
    let building = Uuid::try_parse(text).ok()?;
    // `try_parse` also takes upper case, braces and the form without hyphens.
    let mut buffer = Uuid::encode_buffer();
    (building.hyphenated().encode_lower(&mut buffer) == text).then_some(building)
}

fn unknown_topic(detail: &str) -> Rejection {
    Rejection::new(Reason::UnknownTopic, "", detail)
}

/// The names of the Kafka topics, all below one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KafkaTopics {
    kinds: [String; RecordKind::ALL.len()],
    dead_letters: String,
}

impl KafkaTopics {
    /// The topics `<prefix>.<kind>` and `<prefix>.dead-letters`.
    #[must_use]
    pub fn new(prefix: &str) -> Self {
        Self {
            kinds: RecordKind::ALL.map(|kind| format!("{prefix}.{}", kind.as_str())),
            dead_letters: format!("{prefix}.dead-letters"),
        }
    }

    /// The topic of a kind of record.
    #[must_use]
    pub fn of(&self, kind: RecordKind) -> &str {
        &self.kinds[kind as usize]
    }

    /// The topic of what the bridge refused.
    #[must_use]
    pub fn dead_letters(&self) -> &str {
        &self.dead_letters
    }

    /// All six topics, dead letters last.
    #[must_use]
    pub fn all(&self) -> Vec<&str> {
        self.kinds
            .iter()
            .chain([&self.dead_letters])
            .map(String::as_str)
            .collect()
    }

    /// The kind of record that a topic holds; none for dead letters and foreign topics.
    #[must_use]
    pub fn kind_of(&self, topic: &str) -> Option<RecordKind> {
        RecordKind::ALL
            .into_iter()
            .find(|kind| self.of(*kind) == topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILDING: &str = "6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11";

    #[test]
    fn a_topic_is_read_back_from_what_was_written() {
        let building = Uuid::try_parse(BUILDING).unwrap();
        for kind in RecordKind::ALL {
            let topic = parse_topic(&MqttTopic::format(kind, building));
            assert_eq!(topic.kind, Some(kind));
            assert_eq!(topic.building, Ok(building));
        }
        let desired = parse_topic(&MqttTopic::desired(building));
        assert_eq!((desired.kind, desired.building), (None, Ok(building)));
        let read = MqttTopic::parse_desired(&MqttTopic::desired(building));
        assert_eq!(read, Some(building));
        let telemetry = MqttTopic::format(RecordKind::Telemetry, building);
        assert_eq!(MqttTopic::parse_desired(&telemetry), None);
    }

    #[test]
    fn only_a_lower_case_uuid_with_hyphens_names_a_building() {
        let check = |topic: &str, kind| {
            let topic = parse_topic(topic);
            assert_eq!(topic.kind, kind);
            assert_eq!(topic.building.unwrap_err().reason, Reason::UnknownTopic);
        };
        let telemetry = Some(RecordKind::Telemetry);
        let upper = BUILDING.to_uppercase();
        check(&format!("v1/buildings/{upper}/telemetry"), telemetry);
        let bare = BUILDING.replace('-', "");
        check(&format!("v1/buildings/{bare}/telemetry"), telemetry);
        check(&format!("v1/buildings/{{{BUILDING}}}/telemetry"), telemetry);
        check(
            &format!("v1/buildings/urn:uuid:{BUILDING}/telemetry"),
            telemetry,
        );
        check("v1/buildings//telemetry", telemetry);
        check(&format!("v1/buildings/{BUILDING}"), None);
        check(&format!("v1/buildings/{BUILDING}/telemetry/"), None);
        check(&format!("v2/buildings/{BUILDING}/telemetry"), None);
        check("", None);
    }

    #[test]
    fn kafka_topics_stand_below_the_prefix() {
        let topics = KafkaTopics::new("wattline");
        let expected = [
            "wattline.telemetry",
            "wattline.readings",
            "wattline.keyvalues",
            "wattline.reported",
            "wattline.presence",
            "wattline.dead-letters",
        ];
        assert_eq!(topics.all(), expected);
        for kind in RecordKind::ALL {
            assert_eq!(topics.kind_of(topics.of(kind)), Some(kind));
        }
        assert_eq!(topics.kind_of(topics.dead_letters()), None);
    }
}
