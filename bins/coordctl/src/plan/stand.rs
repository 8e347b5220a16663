//! How a group and its shards stand, as plans need it.

use std::collections::BTreeMap;

use protocol::{ErrorCode, Group, GroupState, Offsets};
use serde::Serialize;

use crate::failure::Failure;
use crate::run::Session;
use crate::show::groups::member_count;

/// A group that a plan concerns.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupStand {
    pub(crate) consumer_group: String,
    pub(crate) state: GroupState,
    pub(crate) members: usize,
}

impl GroupStand {
    pub(super) fn of(group: &Group) -> Self {
        Self {
            consumer_group: group.consumer_group.clone(),
            state: group.state,
            members: member_count(group),
        }
    }
}

/// What Redis told of the shards of some groups; and why not of all of them.
#[derive(Default)]
pub(super) struct Told {
    pub(super) offsets: BTreeMap<String, Offsets>,
    pub(super) unknown: Option<String>,
    /// Whether the coordinator has no Redis of shard streams.
    pub(super) is_without_streams: bool,
}

/// Asks for the shards of each group. What cannot be told for the moment is unknown, and no reason to plan nothing.
pub(super) async fn tell(session: &Session, groups: &[Group]) -> Result<Told, Failure> {
    let mut told = Told::default();
    // One that is half made has no members and is shown no shards.
    for group in groups.iter().filter(|group| group.provisioning.is_none()) {
        let client = &session.client;
        let answer = client
            .offsets(&group.stream_prefix, &group.consumer_group)
            .await;
        match answer {
            Ok(offsets) => {
                told.offsets.insert(group.consumer_group.clone(), offsets);
            }
            Err(error)
                if error.code() == Some(&ErrorCode::RedisNotConfigured) || error.is_retryable() =>
            {
                told.is_without_streams |= error.code() == Some(&ErrorCode::RedisNotConfigured);
                let why = match error {
                    coordinator_client::ClientError::Api { code, message, .. } => {
                        format!("{code}: {message}")
                    }
                    other => crate::failure::with_sources(&other),
                };
                told.unknown = Some(format!("what is left in the shards is not known ({why})"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(told)
}
