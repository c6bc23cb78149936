//! Asking the cluster for topics and their settings.

use super::{Demands, Finding, TopicSettings, judge_all, states};
use crate::{Cluster, Quiet, Unreachable, unreachable};
use rdkafka::admin::{
    AdminClient, AdminOptions, ConfigResource, OwnedResourceSpecifier, ResourceSpecifier,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// Asks for topics' settings, again and again over one client.
pub struct Inspector {
    admin: AdminClient<Quiet>,
    name: String,
}

/// Topics with their settings, and the settings that the cluster did not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// By name.
    pub settings: BTreeMap<String, TopicSettings>,
    /// Why those of a topic are not there: the login may not read them, or the topic is missing.
    pub refused: Option<String>,
}

impl Cluster {
    /// Prepares to ask; it connects when first asked.
    ///
    /// # Errors
    /// Options that librdkafka does not take.
    pub fn inspector(&self) -> Result<Inspector, Unreachable> {
        let client = self.client(&[]);
        let admin = client.create_with_context(Quiet::default());
        Ok(Inspector {
            admin: admin.map_err(unreachable)?,
            name: self.name(),
        })
    }
}

impl Inspector {
    /// The settings of these topics.
    ///
    /// # Errors
    /// When Kafka does not answer within `patience`.
    pub async fn settings(
        &self,
        topics: &[&str],
        patience: Duration,
    ) -> Result<Inspected, Unreachable> {
        let asked: Vec<ResourceSpecifier<'_>> = topics
            .iter()
            .map(|name| ResourceSpecifier::Topic(name))
            .collect();
        let options = AdminOptions::new().request_timeout(Some(patience));
        let answers = self.admin.describe_configs(&asked, &options).await;
        let mut inspected = Inspected::default();
        for answer in answers.map_err(unreachable)? {
            match answer {
                Ok(resource) => {
                    if let OwnedResourceSpecifier::Topic(name) = &resource.specifier {
                        inspected.settings.insert(name.clone(), read(&resource));
                    }
                }
                Err(code) => inspected.refused = Some(format!("{}: {code}", self.name)),
            }
        }
        Ok(inspected)
    }
}

/// What a look at Kafka found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedAt {
    /// Brokers of the cluster.
    pub brokers: usize,
    /// How many of the topics nobody has made yet.
    pub missing: usize,
    /// What is wrong with the others.
    pub findings: Vec<Finding>,
}

/// Looks at the cluster and at topics, by name, over a client of its own.
///
/// # Errors
/// When Kafka does not answer within `patience`.
pub async fn look(
    cluster: &Cluster,
    demands: &BTreeMap<&str, Demands>,
    patience: Duration,
) -> Result<LookedAt, Unreachable> {
    cluster.greet(patience).await?;
    let inspector = cluster.inspector()?;
    let asked = tokio::task::spawn_blocking(move || {
        let metadata = inspector.admin.inner().fetch_metadata(None, patience);
        let found = metadata.map(|it| (it.brokers().len(), states(&it)));
        found.map(|found| (inspector, found)).map_err(unreachable)
    });
    let asked = asked
        .await
        .map_err(|error| Unreachable(error.to_string()))?;
    let (inspector, (brokers, mut topics)) = asked?;
    topics.retain(|it| demands.contains_key(it.name.as_str()));
    let names: Vec<&str> = topics.iter().map(|it| it.name.as_str()).collect();
    let inspected = match names.is_empty() {
        true => Inspected::default(),
        false => inspector.settings(&names, patience).await?,
    };
    Ok(LookedAt {
        brokers,
        missing: demands.len() - topics.len(),
        findings: judge_all(&topics, &inspected, demands),
    })
}

/// What the cluster leaves out counts as its default.
fn read(resource: &ConfigResource) -> TopicSettings {
    let text = |name| resource.get(name).and_then(|it| it.value.as_deref());
    let number = |name| text(name).and_then(|it| it.parse::<u64>().ok());
    TopicSettings {
        min_insync_replicas: number("min.insync.replicas")
            .and_then(|it| usize::try_from(it).ok())
            .unwrap_or(1),
        unclean_leader_election: text("unclean.leader.election.enable") == Some("true"),
        // -1, for ever, is no unsigned number.
        retention: number("retention.ms").map(Duration::from_millis),
        retention_bytes: number("retention.bytes"),
        is_compacted: text("cleanup.policy").is_some_and(|it| it.contains("compact")),
        max_message_bytes: number("max.message.bytes").unwrap_or(u64::MAX),
    }
}
