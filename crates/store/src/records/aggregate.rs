//! How a group is written down: JSON that says which form it has and which revision it is. Fails closed (rule C6): what is not wholly
//! understood is no record.

use std::collections::BTreeMap;
use std::sync::Arc;

use coordinator_core::Group;
use coordinator_core::names::{ConsumerGroup, GroupId, MemberId, NameError, StreamPrefix};
use coordinator_core::numbers::{
    AssignmentEpoch, GroupEpoch, MetadataVersion, ShardCount, ShardIndex, StoreRevision,
};
use coordinator_core::record::{GroupRecord, Provisioning, RecordError};
use coordinator_core::settings::Settings;
use coordinator_core::target::Target;
use serde::{Deserialize, Serialize};

use super::generations::StoredGenerations;
use super::lineage::StoredLineage;
use super::member::StoredMember;
use super::migration::StoredMigration;
use super::quarantine::StoredQuarantine;

/// The form of the record that this program writes and reads.
pub const SCHEMA_VERSION: u64 = 1;
/// The layout of the hash around the record.
pub const LAYOUT_VERSION: u64 = 1;

/// A group as it is written down.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Aggregate {
    schema_version: u64,
    revision: u64,
    stream: String,
    group: String,
    shard_count: u32,
    provisioning: StoredProvisioning,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    generations: Vec<StoredGenerations>,
    metadata_version: u64,
    group_epoch: u64,
    assignment_epoch: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    members: Vec<StoredMember>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    target: Vec<StoredTarget>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    quarantines: Vec<StoredQuarantine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    migration: Option<StoredMigration>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    finished_migrations: Vec<StoredMigration>,
    #[serde(default, skip_serializing_if = "StoredLineage::is_default")]
    lineage: StoredLineage,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum StoredProvisioning {
    Pending,
    Done,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredTarget {
    member: String,
    shards: Vec<u32>,
}

/// The form alone, for a message that says more than which field is not known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Form {
    schema_version: u64,
}

/// Why a text is no record of the group.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It is no JSON, or has other fields.
    #[error("it is not JSON of the known form")]
    Json(#[from] serde_json::Error),
    /// Another program wrote it.
    #[error("its schema version is {found}, this program reads {SCHEMA_VERSION}")]
    Schema {
        /// The version that it says.
        found: u64,
    },
    /// It and what stands beside it are not of one commit.
    #[error("it says revision {inside}, and {beside} is stored beside it")]
    Revision {
        /// What it says.
        inside: u64,
        /// What stands beside it.
        beside: u64,
    },
    /// It stands in the wrong place.
    #[error("it is of group {found}, not of {expected}")]
    OtherGroup {
        /// Whose it is.
        found: GroupId,
        /// Whose it should be.
        expected: GroupId,
    },
    /// What is no name.
    #[error("a name in it can't be one")]
    Name(#[from] NameError),
    /// Which of the two would count?
    #[error("member {member} is in it twice")]
    MemberTwice {
        /// The member.
        member: MemberId,
    },
    /// Rule C6.
    #[error("no decision could have led to it")]
    Record(#[from] RecordError),
}

impl Aggregate {
    /// The text that is stored.
    #[must_use]
    #[allow(clippy::missing_panics_doc)]
    pub fn encode(record: &GroupRecord, revision: StoreRevision) -> String {
        let members = record.members.iter();
        let target = record.target.iter();
        let aggregate = Self {
            schema_version: SCHEMA_VERSION,
            revision: revision.get(),
            stream: record.id.stream.as_str().to_owned(),
            group: record.id.group.as_str().to_owned(),
            shard_count: record.shard_count.get(),
            provisioning: match record.provisioning {
                Provisioning::Pending => StoredProvisioning::Pending,
                Provisioning::Done => StoredProvisioning::Done,
            },
            generations: StoredGenerations::write(&record.generations),
            metadata_version: record.metadata_version.get(),
            group_epoch: record.group_epoch.get(),
            assignment_epoch: record.assignment_epoch.get(),
            members: members
                .map(|(id, member)| StoredMember::write(id.as_str(), member))
                .collect(),
            target: target
                .map(|(member, shards)| StoredTarget {
                    member: member.as_str().to_owned(),
                    shards: shards.iter().map(ShardIndex::get).collect(),
                })
                .collect(),
            quarantines: record
                .quarantines
                .iter()
                .map(StoredQuarantine::write)
                .collect(),
            migration: record.migration.as_ref().map(StoredMigration::write),
            finished_migrations: record
                .finished_migrations
                .iter()
                .map(StoredMigration::write)
                .collect(),
            lineage: StoredLineage::write(&record.lineage),
        };
        serde_json::to_string(&aggregate).expect("numbers, texts and lists of them are always JSON")
    }

    /// The record that was stored, without leases. Rule C6.
    ///
    /// # Errors
    /// [`DecodeError`] says what is not wholly understood.
    pub fn decode(
        text: &str,
        group: &GroupId,
        revision: StoreRevision,
    ) -> Result<Arc<GroupRecord>, DecodeError> {
        let form: Form = serde_json::from_str(text)?;
        if form.schema_version != SCHEMA_VERSION {
            let found = form.schema_version;
            return Err(DecodeError::Schema { found });
        }
        let aggregate: Self = serde_json::from_str(text)?;
        if aggregate.revision != revision.get() {
            return Err(DecodeError::Revision {
                inside: aggregate.revision,
                beside: revision.get(),
            });
        }
        let record = aggregate.read()?;
        if record.id != *group {
            return Err(DecodeError::OtherGroup {
                found: record.id,
                expected: group.clone(),
            });
        }
        // What only checks the record needs no particular settings.
        let group = Group::restore(record, Settings::default())?;
        Ok(Arc::new(group.into_record()))
    }

    fn read(self) -> Result<GroupRecord, DecodeError> {
        let id = GroupId {
            stream: StreamPrefix::parse(&self.stream)?,
            group: ConsumerGroup::parse(&self.group)?,
        };
        let mut members = BTreeMap::new();
        for stored in self.members {
            let member = MemberId::parse(&stored.id)?;
            let earlier = members.insert(member.clone(), Arc::new(stored.read()));
            if earlier.is_some() {
                return Err(DecodeError::MemberTwice { member });
            }
        }
        let owners = self.target.into_iter().map(|stored| {
            let shards = stored.shards.into_iter().map(ShardIndex::new).collect();
            Ok((MemberId::parse(&stored.member)?, shards))
        });
        let owners: Vec<_> = owners.collect::<Result<_, NameError>>()?;
        let quarantines = self.quarantines.into_iter().map(StoredQuarantine::read);
        let finished = self
            .finished_migrations
            .into_iter()
            .map(StoredMigration::read);
        Ok(GroupRecord {
            id,
            shard_count: ShardCount::new(self.shard_count),
            provisioning: match self.provisioning {
                StoredProvisioning::Pending => Provisioning::Pending,
                StoredProvisioning::Done => Provisioning::Done,
            },
            generations: StoredGenerations::read(self.generations),
            metadata_version: MetadataVersion::new(self.metadata_version),
            group_epoch: GroupEpoch::new(self.group_epoch),
            assignment_epoch: AssignmentEpoch::new(self.assignment_epoch),
            members,
            target: Target::from_stored(owners)?,
            quarantines: quarantines.collect::<Result<_, NameError>>()?,
            migration: self.migration.map(StoredMigration::read).transpose()?,
            finished_migrations: finished.collect::<Result<_, NameError>>()?,
            lineage: self.lineage.read(),
        })
    }
}

#[cfg(test)]
mod tests;
