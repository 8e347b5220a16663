//! Invariants I1, I3, I4, I5 and I7: each check can fail, and says what is wrong (rule M4). A record that no decision can have led to is refused
//! when it is read (rule C6).
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use coordinator_core::Group;
use coordinator_core::invariants::Violation;
use coordinator_core::member::MemberRecord;
use coordinator_core::numbers::{
    AssignmentEpoch, GroupEpoch, MemberEpoch, MetadataVersion, ShardCount, ShardIndex,
};
use coordinator_core::record::{GroupRecord, RecordError};
use coordinator_core::settings::Settings;
use coordinator_core::target::Target;
use support::{World, id, set};

/// A settled group of two members and four shards, with a planted fault.
fn broken(plant: impl FnOnce(&mut GroupRecord)) -> Result<Group, RecordError> {
    let (world, _) = World::settled(4, &["a", "b"]);
    let mut record = world.group.record().clone();
    plant(&mut record);
    Group::restore(record, Settings::default())
}

fn violations(plant: impl FnOnce(&mut GroupRecord)) -> Vec<Violation> {
    broken(plant).unwrap().check_invariants()
}

fn target(a: &[u32], b: &[u32]) -> Target {
    Target::from_stored([(id("a"), set(a)), (id("b"), set(b))]).unwrap()
}

fn change(record: &mut GroupRecord, member: &str, change: impl FnOnce(&mut MemberRecord)) {
    change(Arc::make_mut(record.members.get_mut(&id(member)).unwrap()));
}

#[test]
fn i1_a_shard_that_two_hold_is_found() {
    let found = violations(|record| {
        let stolen = record.members[&id("a")].holdings[0];
        change(record, "b", |b| b.holdings.insert(0, stolen));
    });
    let shard = ShardIndex::new(0);
    assert_eq!(found, [Violation::HeldTwice { shard, holders: 2 }]);
}

#[test]
fn i3_a_shard_without_a_target_owner_is_found() {
    let found = violations(|record| record.target = target(&[0], &[2, 3]));
    assert_eq!(
        found,
        [Violation::Unowned {
            shard: ShardIndex::new(1)
        }]
    );
}

#[test]
fn i5_a_target_out_of_balance_or_of_a_shard_that_is_not_there_is_found() {
    let found = violations(|record| record.target = target(&[0, 1, 2], &[3]));
    assert_eq!(found, [Violation::Unbalanced { least: 1, most: 3 }]);
    let found = violations(|record| record.shard_count = ShardCount::new(3));
    assert_eq!(
        found,
        [Violation::TargetWithoutShard {
            shard: ShardIndex::new(3)
        }]
    );
}

#[test]
fn i4_what_went_down_is_found() {
    let (world, _) = World::settled(4, &["a", "b"]);
    let earlier = |plant: fn(&mut GroupRecord)| {
        let mut record = world.group.record().clone();
        plant(&mut record);
        let earlier = Group::restore(record, Settings::default()).unwrap();
        world.group.check_succession(&earlier)
    };
    assert_eq!(earlier(|_| {}), []);
    let (group, assignment, version) = world.versions();
    let went_down = |what, to: u64| {
        [Violation::WentDown {
            what,
            from: to + 1,
            to,
        }]
    };
    assert_eq!(
        earlier(|record| record.group_epoch = record.group_epoch.next()),
        went_down("the group epoch", group)
    );
    assert_eq!(
        earlier(|record| record.metadata_version = record.metadata_version.next()),
        went_down("the metadata version", version)
    );
    assert_eq!(
        world.group.record().assignment_epoch,
        AssignmentEpoch::new(assignment)
    );
}

#[test]
fn i4_a_member_that_joined_with_a_version_to_come_is_found() {
    let found = violations(|record| {
        let later = record.metadata_version.next();
        change(record, "b", |b| b.joined_at = later);
    });
    let [
        Violation::EpochAhead {
            what, value, limit, ..
        },
    ] = &found[..]
    else {
        panic!("{found:?}");
    };
    assert_eq!(*what, "the version with which a member joined");
    assert_eq!(*value, limit + 1);
}

#[test]
fn c6_i7_a_record_that_no_decision_can_have_led_to_is_refused() {
    let refusal = |plant: fn(&mut GroupRecord)| broken(plant).unwrap_err();
    assert_eq!(
        refusal(|record| record.assignment_epoch = AssignmentEpoch::new(9)),
        RecordError::AssignmentAheadOfGroup {
            assignment: AssignmentEpoch::new(9),
            group: GroupEpoch::new(2)
        }
    );
    assert_eq!(
        refusal(|record| change(record, "b", |b| b.epoch = MemberEpoch::new(9))),
        RecordError::MemberAheadOfAssignment { member: id("b") }
    );
    assert_eq!(
        refusal(|record| change(record, "b", |b| b.holdings.reverse())),
        RecordError::HoldingsOutOfOrder {
            shard: ShardIndex::new(2)
        }
    );
    assert_eq!(
        refusal(|record| drop(record.members.remove(&id("b")))),
        RecordError::TargetWithoutMember { member: id("b") }
    );
    assert_eq!(
        refusal(|record| record.shard_count = ShardCount::new(1 << 21)),
        RecordError::TooManyShards {
            count: ShardCount::new(1 << 21)
        }
    );
    let twice = Target::from_stored([(id("a"), set(&[1])), (id("b"), set(&[1]))]);
    assert_eq!(
        twice.unwrap_err(),
        RecordError::TwoTargetOwners {
            shard: ShardIndex::new(1)
        }
    );
    let far = Target::from_stored([(id("a"), set(&[u32::MAX]))]);
    assert_eq!(
        far.unwrap_err(),
        RecordError::ShardOutOfRange {
            shard: ShardIndex::new(u32::MAX)
        }
    );
    assert_eq!(
        broken(|record| record.metadata_version = MetadataVersion::new(99))
            .unwrap()
            .check_invariants(),
        []
    );
}
