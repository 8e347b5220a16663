//! Records that nobody can read: they are in no listing, and only a snapshot names them.

use coordinator_client::{ClientError, CoordinatorClient};

use super::Diagnosis;
use super::finding::{Finding, Kind};
use crate::failure::with_sources;
use crate::snapshot_file::Contents;

pub(super) async fn examine(client: &CoordinatorClient, diagnosis: &mut Diagnosis) {
    let contents = match client.snapshot().await {
        Ok(file) => Contents::of(&file),
        Err(error) => {
            let why = match &error {
                ClientError::Api {
                    status: 401 | 403, ..
                } => "it needs the role ADMIN".to_owned(),
                error => with_sources(error),
            };
            diagnosis
                .not_checked
                .push(format!("whether all records can be read: {why}"));
            return;
        }
    };
    if let Some(problem) = contents.problem {
        diagnosis
            .not_checked
            .push(format!("whether all records can be read: {problem}"));
    }
    for group in contents.unreadable {
        let place = format!("{}/{}", group.stream_prefix, group.consumer_group);
        let restore = ["snapshot", "restore", "FILE", "--only", &place, "--force"];
        let finding = Finding::new(Kind::MetadataCorrupt, &place, group.reason).look(&restore);
        diagnosis.findings.push(finding);
    }
}
