//! How topics are set, and whether that keeps what the service promises.

mod inspection;

pub use inspection::{Inspected, Inspector, LookedAt, look};
use rdkafka::metadata::Metadata;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Under one day an outage over a night loses records that were acknowledged.
const SHORTEST_RETENTION: Duration = Duration::from_secs(24 * 3600);

/// What a topic's settings must hold, by the broker's measure: 64 KiB of payload and what stands around it.
const RECORD_BYTES: u64 = 64 * 1024 + 8 * 1024;

/// The settings of one topic that decide whether what is written there stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicSettings {
    /// How many replicas must have a message before it is acknowledged, where there are as many.
    pub min_insync_replicas: usize,
    /// Whether a replica that lacks acknowledged messages may become the leader.
    pub unclean_leader_election: bool,
    /// How long messages are kept; `None`: for ever.
    pub retention: Option<Duration>,
    /// How many bytes of a partition are kept; `None`: all.
    pub retention_bytes: Option<u64>,
    /// Whether older messages with the same key are removed.
    pub is_compacted: bool,
    /// The largest message, in bytes.
    pub max_message_bytes: u64,
}

/// A topic as the cluster tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicState {
    /// Its name.
    pub name: String,
    /// Its partitions, by number.
    pub partitions: Vec<PartitionState>,
}

/// A partition as the cluster tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionState {
    /// Its number.
    pub number: i32,
    /// Whether a broker leads it.
    pub is_led: bool,
    /// Its replicas.
    pub replicas: usize,
    /// Those of them that have everything.
    pub in_sync: usize,
}

/// What is wrong with a topic, in words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// Messages that were acknowledged can be lost, or good ones are refused.
    Loses(String),
    /// It works, with less safety than it could have, or otherwise than the settings say.
    Weaker(String),
}

/// What a topic is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demands {
    /// Its partitions.
    pub partitions: usize,
    /// The largest message that goes there, in bytes; `None`: a record.
    pub max_message_bytes: Option<u32>,
}

/// The topics of a cluster's answer.
#[must_use]
pub fn states(metadata: &Metadata) -> Vec<TopicState> {
    let partition = |it: &rdkafka::metadata::MetadataPartition| PartitionState {
        number: it.id(),
        is_led: it.leader() >= 0,
        replicas: it.replicas().len(),
        in_sync: it.isr().len(),
    };
    metadata
        .topics()
        .iter()
        .map(|topic| TopicState {
            name: topic.name().to_owned(),
            partitions: topic.partitions().iter().map(partition).collect(),
        })
        .collect()
}

/// Why a topic takes no writes now, if that can be seen from outside.
#[must_use]
pub fn refuses_writes(state: &TopicState, settings: Option<&TopicSettings>) -> Option<String> {
    let name = &state.name;
    let wanted = settings.map_or(0, |it| it.min_insync_replicas);
    state.partitions.iter().find_map(|partition| {
        let number = partition.number;
        // A topic with fewer replicas than that needs no more than it has.
        let needed = wanted.min(partition.replicas);
        if !partition.is_led {
            return Some(format!("partition {number} of topic {name} has no leader"));
        }
        (partition.in_sync < needed).then(|| {
            let in_sync = partition.in_sync;
            format!(
                "partition {number} of topic {name} has {in_sync} replicas in sync and needs {needed} \
                 (min.insync.replicas): it takes no writes"
            )
        })
    })
}

/// Holds a topic against what the service needs of it.
#[must_use]
pub fn judge(state: &TopicState, settings: &TopicSettings, demands: Demands) -> Vec<Finding> {
    let mut findings = Vec::new();
    let replicas = state.partitions.iter().map(|it| it.replicas).min();
    judge_replicas(replicas.unwrap_or_default(), settings, &mut findings);
    judge_retention(settings, &mut findings);
    let needed = demands.max_message_bytes.map_or(RECORD_BYTES, u64::from);
    if settings.max_message_bytes < needed {
        let has = settings.max_message_bytes;
        findings.push(Finding::Loses(format!(
            "max.message.bytes is {has}: messages of up to {needed} bytes are to be kept, and a larger one than it \
             takes holds up all that come after it"
        )));
    }
    let (has, wanted) = (state.partitions.len(), demands.partitions);
    if has != wanted {
        findings.push(Finding::Weaker(format!(
            "it has {has} partitions, and the setting kafka_partitions says {wanted}"
        )));
    }
    findings
}

/// The same for all topics; what is said of several is said once.
#[must_use]
pub fn judge_all(
    states: &[TopicState],
    inspected: &Inspected,
    demands: &BTreeMap<&str, Demands>,
) -> Vec<Finding> {
    let mut found: BTreeMap<Finding, Vec<&str>> = BTreeMap::new();
    for state in states {
        let name = state.name.as_str();
        let known = inspected.settings.get(name).zip(demands.get(name));
        let Some((settings, demands)) = known else {
            continue;
        };
        for finding in judge(state, settings, *demands) {
            found.entry(finding).or_default().push(name);
        }
    }
    let of = |topics: &[&str], text: &str| {
        let topics: BTreeSet<&str> = topics.iter().copied().collect();
        let topics: Vec<&str> = topics.into_iter().collect();
        format!("{}: {text}", topics.join(", "))
    };
    let mut findings: Vec<Finding> = found
        .into_iter()
        .map(|(finding, topics)| match finding {
            Finding::Loses(text) => Finding::Loses(of(&topics, &text)),
            Finding::Weaker(text) => Finding::Weaker(of(&topics, &text)),
        })
        .collect();
    if let Some(refused) = &inspected.refused {
        findings.push(Finding::Weaker(format!(
            "settings of topics are not told, so they are not checked: {refused}"
        )));
    }
    findings
}

fn judge_replicas(replicas: usize, settings: &TopicSettings, findings: &mut Vec<Finding>) {
    let needed = settings.min_insync_replicas;
    if replicas <= 1 {
        findings.push(Finding::Weaker(
            "it has one replica: what its broker's disk loses is lost".to_owned(),
        ));
    } else if needed < 2 {
        findings.push(Finding::Loses(format!(
            "min.insync.replicas is {needed} of {replicas} replicas: a message counts as safe that one broker has; \
             2 are needed"
        )));
    }
    if settings.unclean_leader_election && replicas > 1 {
        findings.push(Finding::Loses(
            "unclean.leader.election.enable is true: a replica without acknowledged messages may take over"
                .to_owned(),
        ));
    }
}

fn judge_retention(settings: &TopicSettings, findings: &mut Vec<Finding>) {
    if settings.is_compacted {
        findings.push(Finding::Loses(
            "cleanup.policy holds compact: of a building's messages only the newest stays"
                .to_owned(),
        ));
    }
    if let Some(kept) = settings.retention
        && kept < SHORTEST_RETENTION
    {
        findings.push(Finding::Loses(format!(
            "retention.ms is {}: what is not read within that time is gone; a day is the least",
            kept.as_millis()
        )));
    }
    if let Some(bytes) = settings.retention_bytes {
        findings.push(Finding::Weaker(format!(
            "retention.bytes is {bytes}: beyond it unread messages are removed, whatever their age"
        )));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMANDS: Demands = Demands {
        partitions: 2,
        max_message_bytes: None,
    };

    fn partition(number: i32, replicas: usize, in_sync: usize) -> PartitionState {
        PartitionState {
            number,
            is_led: true,
            replicas,
            in_sync,
        }
    }

    fn topic(replicas: usize, in_sync: usize) -> TopicState {
        let partition = |number| partition(number, replicas, in_sync);
        TopicState {
            name: "w.telemetry".to_owned(),
            partitions: vec![partition(0), partition(1)],
        }
    }

    fn good() -> TopicSettings {
        TopicSettings {
            min_insync_replicas: 2,
            retention: Some(Duration::from_secs(7 * 24 * 3600)),
            max_message_bytes: 1_048_588,
            ..TopicSettings::default()
        }
    }

    #[test]
    fn a_topic_that_keeps_what_it_acknowledges_has_no_finding() {
        assert_eq!(judge(&topic(3, 3), &good(), DEMANDS), []);
        let forever = TopicSettings {
            retention: None,
            ..good()
        };
        assert_eq!(judge(&topic(3, 3), &forever, DEMANDS), []);
    }

    #[test]
    fn each_weak_setting_is_found_by_its_name() {
        let loses = |settings: TopicSettings, word: &str| {
            let findings = judge(&topic(3, 3), &settings, DEMANDS);
            let [Finding::Loses(text)] = &findings[..] else {
                panic!("{word}: {findings:?}");
            };
            assert!(text.contains(word), "{text}");
        };
        let weak = |change: fn(&mut TopicSettings)| {
            let mut settings = good();
            change(&mut settings);
            settings
        };
        loses(weak(|it| it.min_insync_replicas = 1), "min.insync.replicas");
        loses(
            weak(|it| it.unclean_leader_election = true),
            "unclean.leader",
        );
        loses(weak(|it| it.is_compacted = true), "cleanup.policy");
        loses(
            weak(|it| it.max_message_bytes = 65_536),
            "max.message.bytes",
        );
        let hour = weak(|it| it.retention = Some(Duration::from_secs(3_600)));
        loses(hour, "retention.ms");
    }

    #[test]
    fn one_replica_other_partitions_and_a_bound_in_bytes_are_weaker_only() {
        let settings = TopicSettings {
            min_insync_replicas: 1,
            retention_bytes: Some(1),
            ..good()
        };
        let demands = Demands {
            partitions: 12,
            ..DEMANDS
        };
        let findings = judge(&topic(1, 1), &settings, demands);
        let is_weaker = |it: &Finding| matches!(it, Finding::Weaker(_));
        assert!(
            findings.len() == 3 && findings.iter().all(is_weaker),
            "{findings:?}"
        );
    }

    #[test]
    fn a_topic_without_a_leader_or_enough_replicas_in_sync_takes_no_writes() {
        let settings = good();
        let told = |state: &TopicState| refuses_writes(state, Some(&settings));
        assert_eq!(told(&topic(3, 2)), None);
        assert_eq!(told(&topic(1, 1)), None);
        assert!(told(&topic(3, 1)).unwrap().contains("min.insync.replicas"));
        let mut leaderless = topic(3, 3);
        leaderless.partitions[1].is_led = false;
        assert!(told(&leaderless).unwrap().contains("partition 1"));
    }
}
