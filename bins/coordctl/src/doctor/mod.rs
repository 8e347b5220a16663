//! Looks a coordinator and its groups over, through the API and by reading only, and says what is not as it should be.

mod coordinators;
mod finding;
mod groups;
mod metadata;
mod shards;

use std::time::Duration;

use coordinator_client::{ClientError, CoordinatorClient};
use serde::Serialize;

pub(crate) use finding::{Finding, Severity};
pub(crate) use shards::is_stream_missing;

use crate::failure::with_sources;

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

/// Looks everything over. A change that has not moved for `patience` stands still.
///
/// # Errors
/// Nobody may look, for want of credentials or of the right ones, and nothing was found without them.
pub(crate) async fn examine(named: &[Named], patience: Duration) -> Result<Diagnosis, ClientError> {
    let mut diagnosis = Diagnosis::default();
    let mut asked = None;
    for coordinator in named {
        diagnosis.coordinators += 1;
        let answers = coordinators::examine(coordinator, &mut diagnosis.findings).await;
        if answers && asked.is_none() {
            asked = Some(coordinator);
        }
    }
    match asked {
        Some(Named { client, .. }) => {
            match groups::examine(client, patience, &mut diagnosis).await {
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
    diagnosis.findings.sort();
    diagnosis.findings.dedup();
    Ok(diagnosis)
}
