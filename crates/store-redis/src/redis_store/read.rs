//! Reading groups: what a script returns becomes a snapshot, or an error that says why it can't be trusted (rule C6).

use std::collections::BTreeMap;
use std::sync::Arc;

use coordinator_core::names::{GroupId, MemberId};
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::Timestamp;
use store::{Etag, Snapshot, Stamp, StoreError};

use super::RedisStore;
use crate::reply::Reply;
use crate::script;
use store::records::{Aggregate, LAYOUT_VERSION, SCHEMA_VERSION};

impl RedisStore {
    pub(super) async fn load_group(
        &self,
        group: &GroupId,
        known: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, StoreError> {
        let keys = self.keys.of(group);
        let keys = [keys.metadata.as_str(), keys.leases.as_str()];
        let call = script::LOAD.call(&keys).arg(known_etag(known));
        let mut reply = self.redis.run_again(&call).await?;
        if reply.status() != "ok" {
            return Err(reply.unknown());
        }
        let now = Timestamp::from_ms(reply.number()?);
        read_group(reply.nested()?, group, known, now)
    }
}

/// The etag that a script is told, so that it need not return what is known.
pub(super) fn known_etag(known: Option<&Snapshot>) -> &str {
    known.map_or("", |known| known.stamp.etag.as_str())
}

/// The group as a script returned it.
pub(super) fn read_group(
    mut reply: Reply,
    group: &GroupId,
    known: Option<&Snapshot>,
    now: Timestamp,
) -> Result<Option<Snapshot>, StoreError> {
    if reply.status() == "none" {
        return Ok(None);
    }
    if reply.status() != "there" {
        return Err(reply.unknown());
    }
    let etag = field(reply.optional_text()?, "etag")?;
    let revision = number(reply.optional_text()?, "revision")?;
    expect_version(reply.optional_text()?, "schemaVersion", SCHEMA_VERSION)?;
    expect_version(reply.optional_text()?, "layoutVersion", LAYOUT_VERSION)?;
    let aggregate = reply.optional_text()?;
    let leases = read_leases(&reply.texts()?)?;
    let is_of_this_history = reply.text()? == "1";
    let stamp = Stamp {
        revision: StoreRevision::new(revision),
        etag: Etag::from_stored(&etag),
    };
    let record = match known.filter(|known| known.stamp.etag == stamp.etag) {
        Some(known) if known.stamp == stamp => Arc::clone(&known.record),
        Some(known) => {
            let (found, known) = (stamp.revision, known.stamp.revision);
            return Err(corrupt(format!(
                "its etag is known of revision {known}, and revision {found} is stored beside it"
            )));
        }
        None => decode(&field(aggregate, "aggregate")?, group, stamp.revision)?,
    };
    Ok(Some(Snapshot::assemble(
        &record,
        &leases,
        stamp,
        now,
        is_of_this_history,
    )))
}

fn decode(
    text: &str,
    group: &GroupId,
    revision: StoreRevision,
) -> Result<Arc<GroupRecord>, StoreError> {
    Aggregate::decode(text, group, revision).map_err(|error| StoreError::Corrupt {
        reason: error.to_string(),
        source: Some(Arc::new(error)),
    })
}

/// Pairs of member and deadline, as Redis lists a sorted set. A name that can't be one is not in any record.
fn read_leases(list: &[String]) -> Result<BTreeMap<MemberId, Timestamp>, StoreError> {
    let mut leases = BTreeMap::new();
    for pair in list.chunks_exact(2) {
        let deadline: u64 = pair[1]
            .parse()
            .map_err(|_| corrupt(format!("the lease of {:?} ends at {:?}", pair[0], pair[1])))?;
        if let Ok(member) = MemberId::parse(&pair[0]) {
            leases.insert(member, Timestamp::from_ms(deadline));
        }
    }
    Ok(leases)
}

fn field(value: Option<String>, name: &str) -> Result<String, StoreError> {
    value.ok_or_else(|| corrupt(format!("its field {name} is missing")))
}

fn number(value: Option<String>, name: &str) -> Result<u64, StoreError> {
    let text = field(value, name)?;
    text.parse()
        .map_err(|_| corrupt(format!("its field {name} is {text:?}, which is no number")))
}

fn expect_version(value: Option<String>, name: &str, expected: u64) -> Result<(), StoreError> {
    let found = number(value, name)?;
    if found == expected {
        return Ok(());
    }
    Err(corrupt(format!(
        "its {name} is {found}, this program reads {expected}"
    )))
}

fn corrupt(reason: String) -> StoreError {
    StoreError::Corrupt {
        reason,
        source: None,
    }
}
