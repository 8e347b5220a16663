//! How far the members of a group have come, as they say themselves.

use std::collections::{BTreeMap, HashMap};

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::numbers::ShardIndex;
use protocol::{Consumption, Member, ProgressRow};
use store::{EntryId, MemberProgress};

use super::member::members;

/// A row for each member and shard, in their order.
pub(crate) fn consumption(
    group: &Group,
    progress: &BTreeMap<MemberId, MemberProgress>,
) -> Consumption {
    let id = &group.record().id;
    let rows = |member: Member| {
        let mut reported = member.shard_progress;
        reported.sort_by_key(|row| row.shard.shard_index);
        let (name, state, member) = (member.member_name, member.state, member.member_id);
        reported.into_iter().map(move |progress| ProgressRow {
            stream_prefix: id.stream.as_str().to_owned(),
            consumer_group: id.group.as_str().to_owned(),
            member_id: member.clone(),
            member_name: name.clone(),
            member_state: state,
            progress,
        })
    };
    let members = members(group, progress).members;
    Consumption {
        progress: members.into_iter().flat_map(rows).collect(),
        as_of: None,
        age_ms: None,
    }
}

/// The highest id that a member says it acknowledged in each shard; none where none did.
pub(crate) fn last_acked_of_each(
    progress: &BTreeMap<MemberId, MemberProgress>,
) -> HashMap<ShardIndex, EntryId> {
    let mut last = HashMap::new();
    for row in progress.values().flat_map(|progress| &progress.shards) {
        // Anybody may report anything.
        if let Some(id) = row.last_acked_id.as_deref().and_then(EntryId::parse) {
            let known = last.entry(row.shard).or_insert(id);
            *known = id.max(*known);
        }
    }
    last
}
