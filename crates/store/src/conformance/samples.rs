//! Records and names to try stores with.

use std::sync::Arc;

use coordinator_core::evidence::{Open, OpenCondition};
use coordinator_core::holding::{Holding, Phase, Quarantine};
use coordinator_core::lineage::{Correction, Lineage};
use coordinator_core::member::{MemberRecord, MemberState};
use coordinator_core::migration::{LeavingPhase, LeavingShard, Migration, MigrationState};
use coordinator_core::names::{
    ConsumerGroup, GroupId, InstanceId, MemberId, RequestId, ReshardingId, StreamPrefix,
};
use coordinator_core::numbers::{
    AssignmentEpoch, Concurrency, GroupEpoch, MemberEpoch, MetadataVersion, Sequence, ShardCount,
    ShardIndex, StreamGeneration,
};
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::target::Target;
use coordinator_core::time::{Millis, Timestamp};

/// A group's id.
#[must_use]
pub fn group_id(stream: &str, group: &str) -> GroupId {
    GroupId {
        stream: StreamPrefix::parse(stream).unwrap(),
        group: ConsumerGroup::parse(group).unwrap(),
    }
}

/// A member's id.
#[must_use]
pub fn member_id(text: &str) -> MemberId {
    MemberId::parse(text).unwrap()
}

/// A record with as many active members as names are given, all of epoch 3, each holding the shard of its position. Their leases
/// end at `deadline`; the target is empty, so that any of them may end.
#[must_use]
pub fn plain_record(id: &GroupId, names: &[&str], deadline: Option<Timestamp>) -> GroupRecord {
    let count = u32::try_from(names.len()).unwrap();
    let mut record = GroupRecord::new(id.clone(), ShardCount::new(count), Provisioning::Done);
    record.metadata_version = MetadataVersion::new(7);
    record.group_epoch = GroupEpoch::new(3);
    record.assignment_epoch = AssignmentEpoch::new(3);
    for (shard, name) in (0..).zip(names) {
        let member = MemberRecord {
            holdings: vec![holding(shard, Phase::Owned, 5)],
            lease_deadline: deadline,
            ..member(MemberState::Active)
        };
        record.members.insert(member_id(name), Arc::new(member));
    }
    record
}

/// A record in which every field has a value that is not its default, with members in every state.
#[must_use]
pub fn full_record(id: &GroupId) -> GroupRecord {
    let mut record = GroupRecord::new(id.clone(), ShardCount::new(6), Provisioning::Pending);
    // Above 2^53, where a number that went through a float would lose its last digits.
    record.metadata_version = MetadataVersion::new(9_007_199_254_740_993);
    record.group_epoch = GroupEpoch::new(9_007_199_254_740_995);
    record.assignment_epoch = AssignmentEpoch::new(9_007_199_254_740_993);
    let states = [
        ("active", MemberState::Active),
        ("leaving", MemberState::Leaving),
        ("expired: \"0\"", MemberState::Expired),
        ("fenced/ü", MemberState::Fenced),
    ];
    for (first, (name, state)) in [0, 2, 4, 5].into_iter().zip(states) {
        record
            .members
            .insert(member_id(name), Arc::new(full_member(name, state, first)));
    }
    record
        .members
        .insert(member_id("empty"), Arc::new(member(MemberState::Active)));
    let shards = |list: &[u32]| list.iter().copied().map(ShardIndex::new).collect();
    let owners = [
        (member_id("active"), shards(&[0, 1, 3])),
        (member_id("empty"), shards(&[2, 4, 5])),
    ];
    record.target = Target::from_stored(owners).unwrap();
    record.quarantines = vec![
        Quarantine {
            member: member_id("fenced/ü"),
            epoch: MemberEpoch::new(17),
            instance: Some(InstanceId::new("instance-of-fenced")),
            until: Timestamp::from_ms(1_700_000_050_000),
            lease_ttl: Millis::new(15_000),
            holdings: vec![
                holding(4, Phase::Draining, 12),
                holding(5, Phase::Granted, 13),
            ],
        },
        Quarantine {
            member: member_id("gone"),
            epoch: MemberEpoch::new(2),
            instance: None,
            until: Timestamp::from_ms(1_700_000_060_000),
            lease_ttl: Millis::new(20_000),
            holdings: Vec::new(),
        },
    ];
    let lives = [1, 1, 1, 4, 4, 9_007_199_254_740_993];
    let lives = lives.into_iter().map(StreamGeneration::new);
    record.generations = (0..6).map(ShardIndex::new).zip(lives).collect();
    record.migration = Some(full_migration());
    record.finished_migrations = vec![Migration {
        id: ReshardingId::new("reshard-0"),
        state: MigrationState::RolledBack,
        leaving: Vec::new(),
        ..full_migration()
    }];
    record.lineage = Lineage {
        doubted_at: Some(Timestamp::from_ms(1_700_000_000_003)),
        epoch_floor: GroupEpoch::new(1_048_593),
        hold_until: Some(Timestamp::from_ms(1_700_000_015_003)),
        correction: Some(Correction {
            opened_at: Timestamp::from_ms(1_700_000_000_004),
            version: MetadataVersion::new(40),
            reported: MetadataVersion::new(43),
        }),
    };
    record
}

fn full_migration() -> Migration {
    let open = |condition| OpenCondition {
        group: ConsumerGroup::parse("billing").unwrap(),
        condition,
    };
    let leaving = |shard, phase, open| LeavingShard {
        shard: ShardIndex::new(shard),
        phase,
        open: Some(open),
    };
    Migration {
        id: ReshardingId::new("reshard-1"),
        from: ShardCount::new(9),
        to: ShardCount::new(6),
        state: MigrationState::Draining,
        created_at: Timestamp::from_ms(1_700_000_000_001),
        updated_at: Timestamp::from_ms(1_700_000_000_002),
        seen_from: MetadataVersion::new(9_007_199_254_740_991),
        leaving: vec![
            leaving(
                6,
                LeavingPhase::Draining,
                vec![
                    open(Open::GroupMissing),
                    open(Open::Pending(3)),
                    open(Open::Lag(Some(4))),
                    open(Open::Lag(None)),
                    open(Open::Unread),
                ],
            ),
            leaving(7, LeavingPhase::Drained, Vec::new()),
            leaving(8, LeavingPhase::Retired, Vec::new()),
        ],
    }
}

fn full_member(name: &str, state: MemberState, first: u32) -> MemberRecord {
    let is_live = matches!(state, MemberState::Active | MemberState::Leaving);
    let holdings = [
        holding(first, Phase::Owned, 9_007_199_254_740_991),
        holding(first + 1, Phase::Draining, 11),
    ];
    MemberRecord {
        state,
        name: Some(format!("{name} \\ \u{1f980}")),
        instance: Some(InstanceId::new(&format!("instance-of-{name}"))),
        superseded: vec![InstanceId::new("older"), InstanceId::new("old")],
        join_requests: vec![RequestId::new("first"), RequestId::new("second")],
        has_reported: true,
        epoch: MemberEpoch::new(9_007_199_254_740_993),
        previous_epoch: Some(MemberEpoch::new(17)),
        epoch_before_loss: Some(MemberEpoch::new(18)),
        joined_at: MetadataVersion::new(38),
        reported_version: MetadataVersion::new(40),
        released_at: MetadataVersion::new(39),
        sequence: Some(Sequence::new(u64::MAX)),
        is_distrusted: true,
        max_concurrency: Concurrency::new(16),
        holdings: Vec::from(holdings)
            .into_iter()
            .filter(|_| is_live)
            .collect(),
        lease_ttl: Millis::new(15_001),
        lease_deadline: is_live.then(|| Timestamp::from_ms(1_700_000_000_123)),
        ended_at: (!is_live).then(|| Timestamp::from_ms(1_699_999_999_999)),
    }
}

fn member(state: MemberState) -> MemberRecord {
    MemberRecord {
        state,
        name: None,
        instance: None,
        superseded: Vec::new(),
        join_requests: Vec::new(),
        has_reported: false,
        epoch: MemberEpoch::new(3),
        previous_epoch: None,
        epoch_before_loss: None,
        joined_at: MetadataVersion::default(),
        reported_version: MetadataVersion::default(),
        released_at: MetadataVersion::default(),
        sequence: None,
        is_distrusted: false,
        max_concurrency: Concurrency::new(1),
        holdings: Vec::new(),
        lease_ttl: Millis::new(15_000),
        lease_deadline: None,
        ended_at: None,
    }
}

fn holding(shard: u32, phase: Phase, since: u64) -> Holding {
    Holding {
        shard: ShardIndex::new(shard),
        phase,
        since: MetadataVersion::new(since),
        is_claim: phase == Phase::Draining,
        release_by: (phase == Phase::Owned).then(|| Timestamp::from_ms(1_700_000_009_999)),
    }
}
