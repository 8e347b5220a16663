//! Looks a coordinator and its groups over, through the API and by reading only, and says what is not as it should be.

mod coordinators;
mod exposition;
mod finding;
mod groups;
mod heartbeats;
mod indexes;
mod metadata;
mod shards;

use std::time::Duration;

use coordinator_client::{ClientError, CoordinatorClient};
use serde::Serialize;

pub(crate) use finding::{Finding, Severity};
pub(crate) use shards::is_stream_missing;

use crate::failure::with_sources;
use heartbeats::First;

/// One coordinator that was named.
pub(crate) struct Named {
    pub(crate) url: String,
    /// Asks this one and no other.
    pub(crate) client: CoordinatorClient,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Diagnosis {
    /// The worst first.
    pub(crate) findings: Vec<Finding>,
    /// How many coordinators and groups were looked at.
    pub(crate) coordinators: usize,
    pub(crate) groups: usize,
    /// What could not be looked at, and why.
    pub(crate) not_checked: Vec<String>,
}

impl Diagnosis {
    pub(crate) fn has_errors(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.severity == Severity::Error)
    }
}

/// What a coordinator tells Prometheus.
struct Numbers {
    url: String,
    text: String,
}

impl Diagnosis {
    /// The numbers of those that tell them.
    async fn numbers_of(&mut self, coordinators: &[&Named]) -> Vec<Numbers> {
        let mut numbers = Vec::new();
        for named in coordinators {
            let url = named.url.clone();
            match named.client.metrics().await {
                Ok(text) => numbers.push(Numbers { url, text }),
                Err(error) => self.not_checked.push(format!(
                    "whether heartbeats are refused by {url}: {}",
                    with_sources(&error)
                )),
            }
        }
        numbers
    }
}

/// How long what is looked for takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spans {
    /// A change that has not moved for so long stands still.
    pub(crate) stuck_after: Duration,
    /// How far apart the two looks at refused heartbeats are, where that was said.
    pub(crate) count_for: Option<Duration>,
}

/// Looks everything over. `waits` is told for how long refused heartbeats are counted, before that is waited for.
///
/// # Errors
/// Nobody may look, for want of credentials or of the right ones, and nothing was found without them.
pub(crate) async fn examine(
    named: &[Named],
    spans: Spans,
    waits: impl Fn(Duration),
) -> Result<Diagnosis, ClientError> {
    let mut diagnosis = Diagnosis::default();
    let mut answering = Vec::new();
    for coordinator in named {
        diagnosis.coordinators += 1;
        if coordinators::examine(coordinator, &mut diagnosis.findings).await {
            answering.push(coordinator);
        }
    }
    let numbers = diagnosis.numbers_of(&answering).await;
    let first = First::look(&answering, &numbers).await;
    indexes::examine(&numbers, &mut diagnosis.findings);
    match answering.first() {
        Some(Named { client, .. }) => {
            match groups::examine(client, spans.stuck_after, &mut diagnosis).await {
                Ok(()) => metadata::examine(client, &mut diagnosis).await,
                // Nothing else is known: that says it all.
                Err(error) if diagnosis.findings.is_empty() => return Err(error),
                Err(error) => diagnosis.not_checked.push(format!(
                    "groups, and whether all records can be read: {}",
                    with_sources(&error)
                )),
            }
        }
        None => diagnosis
            .not_checked
            .push("groups: no coordinator answers".to_owned()),
    }
    first
        .again(&answering, spans.count_for, waits, &mut diagnosis)
        .await;
    diagnosis.not_checked.sort();
    diagnosis.not_checked.dedup();
    diagnosis.findings.sort();
    diagnosis.findings.dedup();
    Ok(diagnosis)
}
