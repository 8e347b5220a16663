//! Members and assignments as monitoring shows them.

use std::collections::BTreeMap;

use coordinator_core::Group;
use coordinator_core::member::{MemberRecord, MemberState};
use coordinator_core::names::MemberId;
use coordinator_core::shard_set::ShardSet;
use protocol::{Assignments, Member, MemberList, ShardId};
use store::{MemberProgress, ShardProgress};

use super::{iso, shard_ids};

/// Every member of a group.
pub(crate) fn members(group: &Group, progress: &BTreeMap<MemberId, MemberProgress>) -> MemberList {
    let records = group.record().members.iter();
    MemberList {
        members: records
            .map(|(id, record)| member(group, id, record, progress.get(id)))
            .collect(),
    }
}

fn member(
    group: &Group,
    id: &MemberId,
    record: &MemberRecord,
    progress: Option<&MemberProgress>,
) -> Member {
    let max = record.max_concurrency.get();
    let available = progress.map_or(max, |progress| progress.available_concurrency);
    let lease_end = record
        .lease_deadline
        .or(record.ended_at)
        .unwrap_or_default();
    Member {
        member_id: id.as_str().to_owned(),
        member_name: record
            .name
            .clone()
            .unwrap_or_else(|| id.as_str().to_owned()),
        state: state(record.state),
        member_epoch: i64::try_from(record.epoch.get()).unwrap_or(i64::MAX),
        metadata_version: record.reported_version.get(),
        runtime_max_concurrency: max,
        active_consumer_workers: max.saturating_sub(available),
        current_assignment: shard_ids(&group.current(id)),
        granted_assignment: shard_ids(&group.granted(id)),
        revoking: shard_ids(&group.draining(id)),
        last_heartbeat_at: iso(lease_end.minus(record.lease_ttl)),
        member_lease_expires_at: iso(lease_end),
        rebalance_timeout_ms: group.settings().rebalance_timeout().get(),
        rebalance_deadline_at: record.rebalance_deadline().map(iso),
        shard_progress: progress
            .iter()
            .flat_map(|progress| &progress.shards)
            .map(progress_row)
            .collect(),
    }
}

fn progress_row(row: &ShardProgress) -> protocol::ShardProgress {
    protocol::ShardProgress {
        shard: ShardId::new(row.shard.get()),
        stream_key: row.stream_key.clone(),
        last_delivered_id: row.last_delivered_id.clone(),
        last_acked_id: row.last_acked_id.clone(),
        pending_count: row.pending_count,
        updated_at: row.updated_at.map(iso),
    }
}

const fn state(state: MemberState) -> protocol::MemberState {
    match state {
        MemberState::Active => protocol::MemberState::Active,
        MemberState::Leaving => protocol::MemberState::Leaving,
        MemberState::Expired => protocol::MemberState::Expired,
        MemberState::Fenced => protocol::MemberState::Fenced,
    }
}

/// Who should have which shard, and who has.
pub(crate) fn assignments(group: &Group) -> Assignments {
    let of_live = |shards: &dyn Fn(&MemberId) -> ShardSet| {
        let rows = group
            .live_members()
            .map(|(id, _)| (id.as_str().to_owned(), shard_ids(&shards(id))));
        rows.collect::<BTreeMap<_, _>>()
    };
    let target = group.record().target.iter();
    let mut revoke_progress = of_live(&|id| group.draining(id));
    revoke_progress.retain(|_, shards| !shards.is_empty());
    Assignments {
        target_assignment: target
            .map(|(id, shards)| (id.as_str().to_owned(), shard_ids(shards)))
            .collect(),
        current_assignments: of_live(&|id| group.current(id)),
        revoke_progress,
        invariant_violations: group
            .check_invariants()
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}
