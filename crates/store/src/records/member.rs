//! How a member is written down. Its lease is not: leases are kept beside the record.

use coordinator_core::member::{MemberRecord, MemberState};
use coordinator_core::names::{InstanceId, RequestId};
use coordinator_core::numbers::{Concurrency, MemberEpoch, MetadataVersion, Sequence};
use coordinator_core::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};

use super::holdings::{self, HeldShards};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StoredMember {
    pub(super) id: String,
    state: StoredState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    superseded: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    join_requests: Vec<String>,
    has_reported: bool,
    epoch: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous_epoch: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epoch_before_loss: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    joined_at: Option<u64>,
    reported_version: u64,
    released_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_distrusted: bool,
    max_concurrency: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    holdings: Vec<HeldShards>,
    lease_ttl_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum StoredState {
    Active,
    Leaving,
    Expired,
    Fenced,
}

impl StoredMember {
    pub(super) fn write(id: &str, member: &MemberRecord) -> Self {
        let state = match member.state {
            MemberState::Active => StoredState::Active,
            MemberState::Leaving => StoredState::Leaving,
            MemberState::Expired => StoredState::Expired,
            MemberState::Fenced => StoredState::Fenced,
        };
        let instance = |instance: &InstanceId| instance.as_str().to_owned();
        let request = |request: &RequestId| request.as_str().to_owned();
        Self {
            id: id.to_owned(),
            state,
            name: member.name.clone(),
            instance: member.instance.as_ref().map(instance),
            superseded: member.superseded.iter().map(instance).collect(),
            join_requests: member.join_requests.iter().map(request).collect(),
            has_reported: member.has_reported,
            epoch: member.epoch.get(),
            previous_epoch: member.previous_epoch.map(MemberEpoch::get),
            epoch_before_loss: member.epoch_before_loss.map(MemberEpoch::get),
            joined_at: (member.joined_at != MetadataVersion::default())
                .then(|| member.joined_at.get()),
            reported_version: member.reported_version.get(),
            released_at: member.released_at.get(),
            sequence: member.sequence.map(Sequence::get),
            is_distrusted: member.is_distrusted,
            max_concurrency: member.max_concurrency.get(),
            holdings: holdings::write(&member.holdings),
            lease_ttl_ms: member.lease_ttl.get(),
            ended_at_ms: member.ended_at.map(Timestamp::as_ms),
        }
    }

    pub(super) fn read(self) -> MemberRecord {
        let state = match self.state {
            StoredState::Active => MemberState::Active,
            StoredState::Leaving => MemberState::Leaving,
            StoredState::Expired => MemberState::Expired,
            StoredState::Fenced => MemberState::Fenced,
        };
        MemberRecord {
            state,
            name: self.name,
            instance: self.instance.map(InstanceId::from),
            superseded: self.superseded.into_iter().map(InstanceId::from).collect(),
            join_requests: self
                .join_requests
                .into_iter()
                .map(RequestId::from)
                .collect(),
            has_reported: self.has_reported,
            epoch: MemberEpoch::new(self.epoch),
            previous_epoch: self.previous_epoch.map(MemberEpoch::new),
            epoch_before_loss: self.epoch_before_loss.map(MemberEpoch::new),
            joined_at: MetadataVersion::new(self.joined_at.unwrap_or_default()),
            reported_version: MetadataVersion::new(self.reported_version),
            released_at: MetadataVersion::new(self.released_at),
            sequence: self.sequence.map(Sequence::new),
            is_distrusted: self.is_distrusted,
            max_concurrency: Concurrency::new(self.max_concurrency),
            holdings: holdings::read(self.holdings),
            lease_ttl: Millis::new(self.lease_ttl_ms),
            lease_deadline: None,
            ended_at: self.ended_at_ms.map(Timestamp::from_ms),
        }
    }
}
