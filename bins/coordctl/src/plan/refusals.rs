//! What the coordinator would refuse, as far as it can be seen from outside: the same questions, in the same order, as it asks itself.

use std::collections::BTreeMap;

use protocol::{Group, Member, MemberState, Migration, MigrationState};

use crate::show::groups::change;
use crate::show::text::{wire, word};
use crate::show::time::Moment;

/// The most shards that a stream may have.
const MOST_SHARDS: u32 = 16_384;

/// What no route tells, and any change is refused for.
pub(super) const NOT_SEEN: &str = "not seen from here: while members catch up after Redis lost writes, it is refused (METADATA_SYNC_IN_PROGRESS); that ends by itself";

/// A count that no stream may have.
pub(super) fn too_many(to: u32) -> Option<String> {
    (to > MOST_SHARDS).then(|| format!("a stream has at most {MOST_SHARDS} shards"))
}

/// Groups whose streams were not made to the end.
pub(super) fn half_made(groups: &[Group]) -> Vec<String> {
    let pending = groups.iter().filter(|group| group.provisioning.is_some());
    let told = pending.map(|group| {
        let (stream, name) = (word(&group.stream_prefix), word(&group.consumer_group));
        format!(
            "{} is half made: repeat its creation (coordctl group create {stream} {name}), or delete it",
            group.consumer_group
        )
    });
    told.collect()
}

/// The change that stands in the way of one to `to` shards. The same one may be asked for again while its streams are made.
pub(super) fn under_way(groups: &[Group], to: u32) -> Option<String> {
    let known = groups
        .iter()
        .filter_map(|group| Some((&group.stream_prefix, group.active_migration.as_ref()?)));
    let (stream, other) = known.into_iter().find(|(_, active)| !is_same(active, to))?;
    let stream = word(stream);
    let wait = format!("wait for it (coordctl watch {stream})");
    let how = match other.state {
        MigrationState::Preparing | MigrationState::Active => {
            format!("{wait}, or take it back (coordctl migration rollback {stream})")
        }
        _ => wait,
    };
    Some(format!(
        "{} is under way: {}; {how}",
        other.resharding_id,
        change(Some(other))
    ))
}

/// The change to `to` shards that is gone on with when it is asked for again.
pub(super) fn resumed(groups: &[Group], to: u32) -> Option<&Migration> {
    let known = groups
        .iter()
        .filter_map(|group| group.active_migration.as_ref());
    known.into_iter().find(|active| is_same(active, to))
}

/// Up to which shard something may be there still, or on its way, by a change to another count than `to`.
pub(super) fn held_by_another(groups: &[Group], to: u32) -> u32 {
    let known = groups
        .iter()
        .filter_map(|group| group.active_migration.as_ref());
    let other = known.filter(|active| !is_same(active, to));
    let held = other.map(|active| active.from_shard_count.max(active.to_shard_count));
    held.max().unwrap_or_default()
}

fn is_same(active: &Migration, to: u32) -> bool {
    active.state == MigrationState::Preparing && active.to_shard_count == to
}

/// Why a change is not taken back, by how far each group is with it. Rule G8: no group may have gone too far, unless it is being taken back already.
pub(super) fn gone_too_far(
    states: &BTreeMap<String, MigrationState>,
    only_adds: bool,
) -> Option<String> {
    use MigrationState::{Active, Deprecated, Preparing, RolledBack, RollingBack};
    if states
        .values()
        .any(|state| matches!(state, RollingBack | RolledBack))
    {
        return None;
    }
    let may = |state: &MigrationState| matches!(state, Preparing | Active);
    let in_the_way = |state: &MigrationState| !(may(state) || only_adds && *state == Deprecated);
    let blamed = states.iter().find(|(_, state)| in_the_way(state));
    let blamed = blamed.or_else(|| {
        let decides = states.values().any(may);
        states.iter().next().filter(|_| !decides)
    });
    let (group, state) = blamed?;
    Some(format!(
        "it is {} in {group}, and only what is PREPARING or ACTIVE in every group can be taken back",
        wire(*state)
    ))
}

/// Members that a group is not deleted from under: who is live, and who leaves and has shards still.
pub(super) fn active(members: &[Member]) -> Vec<String> {
    let holds = |member: &Member| {
        !(member.current_assignment.is_empty()
            && member.granted_assignment.is_empty()
            && member.revoking.is_empty())
    };
    let active = members.iter().filter(|member| match member.state {
        MemberState::Starting | MemberState::Active => true,
        MemberState::Leaving => holds(member),
        MemberState::Expired | MemberState::Fenced => false,
    });
    active.map(|member| member.member_id.clone()).collect()
}

/// Members that were cut off and may still be reading: until their lease is over they stand in the way of a deletion, unless they held nothing.
pub(super) fn cut_off(group: &str, members: &[Member], now: Moment) -> Option<String> {
    // Of a member that is fenced these are when that happened, and one lease before.
    let end = |member: &Member| {
        let (at, before) = (member.member_lease_expires_at, member.last_heartbeat_at);
        let lease = at.as_millis().saturating_sub(before.as_millis());
        protocol::IsoTimestamp::from_millis(at.as_millis().saturating_add(lease))
    };
    let fenced = members
        .iter()
        .filter(|member| member.state == MemberState::Fenced && !now.is_after(end(member)));
    let last = fenced.clone().map(end).max()?;
    let fenced: Vec<String> = fenced.map(|member| member.member_id.clone()).collect();
    Some(format!(
        "{group} has members that were cut off and may still be reading ({}): it may be refused until their lease is over (at the latest {}); wait, or add --force",
        fenced.join(", "),
        now.tell(last)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(of: &[MigrationState]) -> BTreeMap<String, MigrationState> {
        let named = of.iter().enumerate();
        named
            .map(|(index, state)| (format!("g-{index}"), *state))
            .collect()
    }

    /// Rule G8, as the coordinator has it.
    #[test]
    fn g8_one_group_that_has_gone_too_far_is_enough() {
        use MigrationState::{Active, Deprecated, Draining, Preparing, RolledBack, RollingBack};
        for (of, only_adds, refused) in [
            (&[Preparing][..], false, None),
            (&[Preparing, Active], false, None),
            (&[Active, Draining], false, Some("DRAINING in g-1")),
            (&[Deprecated, Active], false, Some("DEPRECATED in g-0")),
            (&[Deprecated, Active], true, None),
            (&[Deprecated, Deprecated], true, Some("DEPRECATED in g-0")),
            (&[RollingBack], false, None),
            (&[Draining, RollingBack], false, None),
            (&[RolledBack], false, None),
        ] {
            let told = gone_too_far(&states(of), only_adds);
            let expected =
                refused.map(|refused| told.as_ref().is_some_and(|it| it.contains(refused)));
            assert_eq!(told.is_some(), refused.is_some(), "{of:?}: {told:?}");
            assert_ne!(expected, Some(false), "{of:?}: {told:?}");
        }
    }

    #[test]
    fn the_most_shards_are_those_that_the_coordinator_allows() {
        assert_eq!(MOST_SHARDS, coordinator_server::MAX_STREAM_SHARDS);
        assert_eq!(too_many(MOST_SHARDS), None);
        assert!(too_many(MOST_SHARDS + 1).is_some());
    }
}
