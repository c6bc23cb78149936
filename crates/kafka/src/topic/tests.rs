//! What is found wrong with topics.

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
