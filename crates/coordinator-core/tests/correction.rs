//! Rules C1 to C6, H5, H6 and H18: members are brought up to date after the store lost writes.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::holding::Phase;
use coordinator_core::input::Input;
use coordinator_core::lineage::{Correction, Lineage};
use coordinator_core::member::MemberState;
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::{MetadataVersion, ShardCount};
use coordinator_core::step::HeartbeatStatus::{
    Fenced, InvalidRequest, Ok as Good, RevokePending, SyncMetadata, UnknownMember,
};
use coordinator_core::step::Rejection;
use coordinator_core::time::Millis;
use coordinator_core::write::Write;
use support::loss::Loss;
use support::{Beat, World, given, join, leave, obeying, report};

const LEASE: u64 = 15_000;

#[test]
fn h5_c1_c2_a_member_that_knows_more_opens_a_round_and_keeps_what_it_reads() {
    let mut loss = Loss::of_a_handoff();
    let known = loss.world.versions().2;
    loss.world.lose_writes_unseen(&loss.saved);
    let stored = loss.world.versions().2;
    assert_eq!(loss.world.holds("a"), [0, 1, 2, 3], "as it was before");

    let answer = loss.hear("b");
    assert_eq!(answer.status, SyncMetadata);
    assert_eq!(
        answer.metadata_version.get(),
        stored,
        "C1: no version is bumped to match"
    );
    // Shards 2 and 3 are its target, and a may be reading them for all that is recorded.
    assert_eq!(given(&answer), (vec![], vec![2, 3]));
    assert_eq!(loss.world.holds("b"), [2, 3], "C2: it may be reading them");
    assert_eq!(
        loss.lineage().correction,
        Some(Correction {
            opened_at: loss.world.now,
            version: MetadataVersion::new(stored),
            reported: MetadataVersion::new(known),
        })
    );
}

/// Case C06: one reader per shard throughout, and epochs above every one seen.
#[test]
fn c06_c4_h18_the_round_ends_when_all_are_up_to_date_and_nobody_waits() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_since(&loss.saved);
    assert_eq!(loss.hear("b").status, SyncMetadata);
    assert_eq!(loss.hear("a").status, SyncMetadata);
    // b lets go of what a holds by the record; a owns 0 and 1 and says so.
    loss.world.after(1_000);
    assert_eq!(
        loss.hear("b").status,
        RevokePending,
        "H18: up to date, and a is not"
    );
    let a = loss.hear("a");
    assert_eq!(a.status, RevokePending, "C8: the hold still lasts");
    assert_eq!(loss.lineage().correction, None, "C4: all are up to date");
    assert_eq!(loss.world.holds("b"), Vec::<u32>::new());
    for _ in 0..6 {
        loss.world.after(3_000);
        loss.hear("a");
        loss.hear("b");
    }
    let (a, b) = (loss.hear("a"), loss.hear("b"));
    assert_eq!((a.status, given(&a).0), (Good, vec![0, 1]));
    assert_eq!((b.status, given(&b).0), (Good, vec![2, 3]));
}

#[test]
fn c2_c4_a_shard_that_two_claim_goes_to_nobody_until_one_has_let_go() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    loss.hear("b");
    // a has not heard anything yet and is asked for 2 and 3, which it holds by the record; b drains them.
    let told = loss.members["b"].clone();
    let draining = obeying("b", &told).drains(&[2, 3]);
    assert_eq!(loss.world.beat(draining.clone()).status, RevokePending);
    loss.hear("a");
    loss.hear("a");
    assert_eq!(loss.world.holds("a"), [0, 1]);
    assert_eq!(loss.world.holds("b"), [2, 3]);
    assert!(
        loss.lineage().correction.is_none(),
        "2 and 3 are b's target, and b holds them"
    );
    let shards = loss.world.member("b").holdings.clone();
    assert!(
        shards
            .iter()
            .all(|it| it.is_claim && it.phase == Phase::Draining)
    );
}

#[test]
fn h6_a_member_with_another_version_is_told_again_until_it_comes_with_the_present_one() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    let before = loss.beat_of("b");
    let first = loss.world.beat(before.clone());
    let again = loss.world.beat(before.clone());
    assert_eq!((first.status, again.clone()), (SyncMetadata, first));
    // The answers were lost; the member still speaks of the lost view. Its lease is renewed (T3a), and nothing else is written.
    loss.world.after(1_000);
    let step = loss.world.step(before);
    let deadline = loss.world.now.plus(Millis::new(LEASE));
    assert_eq!(
        step.writes,
        [Write::LeaseSet {
            member: support::id("b"),
            deadline
        }]
    );
    // An older version than the present one is another view, too.
    let behind = report("a", loss.members["a"].member_epoch, 1).owns(&[0, 1]);
    assert_eq!(loss.world.beat(behind).status, SyncMetadata);
}

#[test]
fn h6_a_version_that_is_equal_by_chance_is_still_of_the_lost_view() {
    let mut loss = Loss::of_a_handoff();
    let known = loss.world.versions().2;
    loss.world.lose_writes_unseen(&loss.saved);
    let old_view = loss.beat_of("b");
    loss.hear("b");
    let mut newcomers = 0;
    while loss.world.versions().2 < known {
        newcomers += 1;
        loss.world.beat(join(&format!("n{newcomers}")));
    }
    assert_eq!(loss.world.versions().2, known);
    let answer = loss.world.beat(old_view.clone().owns(&[]));
    assert_eq!(
        answer.status, SyncMetadata,
        "its epoch is older than the loss"
    );
    assert_eq!(
        loss.world.holds("b"),
        [2, 3],
        "C3: what it says it let go of is not believed"
    );
}

#[test]
fn c3_what_the_lost_view_let_go_of_is_ignored() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    loss.hear("b");
    // a confirmed a revoke that the store knows nothing of; it comes with the version of the lost view.
    let stale = loss.beat_of("a").revoked(&[2, 3]);
    assert_eq!(loss.world.beat(stale).status, SyncMetadata);
    assert_eq!(loss.world.holds("a"), [0, 1, 2, 3]);
}

#[test]
fn c3_who_was_told_and_still_owns_what_is_not_its_own_is_fenced() {
    let mut loss = Loss::new();
    loss.world.lose_writes_unseen(&loss.saved);
    let lost = loss.beat_of("a");
    loss.world.beat(lost.owns(&[0, 3]));
    let told = loss
        .world
        .beat(report("a", loss.members["a"].member_epoch, 99).owns(&[0, 3]));
    assert_eq!(told.status, SyncMetadata);
    assert_eq!(given(&told).0, [0], "3 is b's");
    let insists = obeying("a", &told).owns(&[0, 3]);
    assert_eq!(loss.world.beat(insists).status, Fenced);
    assert_eq!(loss.world.member("a").state, MemberState::Fenced);
    let quarantined = loss.world.in_quarantine();
    assert!(
        quarantined.contains(&3),
        "O6: what it claimed is not free: {quarantined:?}"
    );
}

#[test]
fn c3_draining_what_is_not_its_own_is_what_it_was_told_to_do() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    let told = loss.hear("b");
    let obeys = obeying("b", &told).drains(&[2, 3]);
    assert_eq!(loss.world.beat(obeys).status, RevokePending);
    assert_eq!(
        loss.world.beat(obeying("b", &told).revoked(&[2, 3])).status,
        RevokePending
    );
    assert_eq!(loss.world.holds("b"), Vec::<u32>::new());
}

#[test]
fn c4_members_that_are_gone_do_not_keep_the_round_open() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    for _ in 0..8 {
        loss.hear("b");
        loss.world.after(5_000);
        loss.world.tick();
    }
    assert_eq!(loss.world.member("a").state, MemberState::Expired);
    assert_eq!(loss.lineage().correction, None);
    assert_eq!(loss.hear("b").status, Good);
}

#[test]
fn c5_nobody_changes_the_group_during_a_round() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    loss.hear("b");
    let resharding = ReshardingId::new("reshard-1");
    for refused in [
        Input::ScaleRequested {
            resharding: resharding.clone(),
            target: ShardCount::new(8),
        },
        Input::RollbackRequested {
            resharding,
            is_decided: false,
        },
        Input::DeletionRequested { force: true },
    ] {
        assert_eq!(
            loss.world.decide(&refused).unwrap_err(),
            Rejection::MetadataSyncInProgress
        );
    }
}

#[test]
fn h5a_a_superseded_twin_is_not_told_the_epoch_by_a_round() {
    let mut world = World::with_shards(2);
    let old = world.beat(join("a").instance("old").sequence(1));
    world.beat(join("a").instance("new").sequence(1));
    let twin = report("a", old.member_epoch, 99)
        .instance("old")
        .sequence(2);
    let answer = world.beat(twin);
    assert_eq!((answer.status, answer.member_epoch), (Fenced, 0));
    assert_eq!(world.group.record().lineage, Lineage::default());
}

#[test]
fn h5_an_epoch_below_the_recorded_one_and_a_stranger_open_no_round() {
    let (mut world, members) = World::settled(2, &["a", "b"]);
    let epoch = members["a"].member_epoch;
    let lower = report("a", epoch - 1, 99);
    let known = world.group.accepts_epoch(world.member("a"), epoch - 1);
    assert!(!known, "it has confirmed its epoch");
    assert_eq!(world.beat(lower).status, Fenced);
    assert_eq!(world.beat(report("x", 7, 99)).status, UnknownMember);
    assert_eq!(world.beat(join("y")).status, Good);
    assert_eq!(world.group.record().lineage, Lineage::default());
}

#[test]
fn h5_a_higher_epoch_than_the_recorded_one_is_a_members_of_the_lost_view() {
    let mut loss = Loss::of_a_handoff();
    let known = loss.members["a"].member_epoch;
    loss.world.lose_writes_unseen(&loss.saved);
    assert!(known > loss.world.member("a").epoch.get());
    assert_eq!(loss.hear("a").status, SyncMetadata);
}

#[test]
fn h14a_a_late_copy_in_a_round_claims_nothing() {
    let mut world = World::with_shards(2);
    let a = world.beat(join("a").instance("p").sequence(1));
    let saved = world.saved();
    let numbered = |sequence| {
        report("a", a.member_epoch, 50)
            .instance("p")
            .sequence(sequence)
    };
    world.lose_writes_unseen(&saved);
    assert_eq!(world.beat(numbered(9).owns(&[0])).status, SyncMetadata);
    let before = world.saved();
    let late = world.beat(numbered(8).owns(&[0, 1, 5]));
    assert_ne!(late.status, Good);
    assert_eq!(world.saved(), before, "nothing of it is applied");
}

#[test]
fn h13_a_member_may_leave_during_a_round() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    loss.hear("b");
    let version = loss.members["b"].metadata_version.get();
    let gone = loss.world.beat(leave("b", version));
    assert_eq!(gone.status, RevokePending);
    assert_eq!(loss.world.holds("b"), Vec::<u32>::new());
    for _ in 0..6 {
        loss.world.after(3_000);
        loss.hear("a");
    }
    assert_eq!(loss.lineage().correction, None);
}

#[test]
fn h2_c6_a_shard_that_no_stream_can_have_is_recorded_nowhere() {
    let (mut world, members) = World::settled(2, &["a"]);
    let before = world.saved();
    let most = ShardCount::MAX.get();
    let epoch = members["a"].member_epoch;
    for beat in [
        report("a", epoch, 99).owns(&[0, most]),
        report("a", epoch, 99).drains(&[u32::MAX]),
        leave("a", 99).drains(&[most]),
    ] {
        assert_eq!(world.beat(beat).status, InvalidRequest);
    }
    assert_eq!(world.saved(), before);
}

/// What it is still draining would else be nobody's, and given to the next at once.
#[test]
fn h5_c2_a_member_that_leaves_and_knows_more_keeps_what_it_drains() {
    let mut loss = Loss::of_a_handoff();
    let known = loss.world.versions().2;
    loss.world.lose_writes_unseen(&loss.saved);
    let answer = loss.world.beat(leave("b", known).drains(&[2, 3]));
    assert_eq!(
        (answer.status, given(&answer)),
        (RevokePending, (vec![], vec![]))
    );
    assert_eq!(loss.world.holds("b"), [2, 3]);
    assert_eq!(loss.world.member("b").state, MemberState::Leaving);
    assert!(loss.lineage().hold_until.is_some());
    assert_eq!(
        loss.lineage().correction,
        None,
        "nobody is to be brought up to date"
    );
}

/// Two processes of one plain member, of which the second joined in the lost writes. Only one of them may go on, whichever is heard first (C7, E6, H15).
struct Twins {
    world: World,
    first: Beat,
    second: Beat,
}

impl Twins {
    fn new() -> Self {
        let mut world = World::with_shards(1);
        let first = world.join_and_settle("m");
        let saved = world.saved();
        let second = world.beat(join("m").request("another process"));
        assert!(second.member_epoch > first.member_epoch);
        world.lose_writes_since(&saved);
        Self {
            world,
            first: obeying("m", &first),
            second: obeying("m", &second),
        }
    }
}

#[test]
fn c7_h15_an_epoch_of_the_lost_writes_is_not_one_between_the_last_sent_and_the_new() {
    let mut twins = Twins::new();
    let first = twins.world.beat(twins.first);
    assert_eq!((first.status, given(&first).0), (RevokePending, vec![0]));
    assert_eq!(twins.world.beat(twins.second).status, Fenced);
    assert_eq!(twins.world.holds("m"), [0]);
}

#[test]
fn c7_h5_who_is_believed_for_a_lost_epoch_shuts_out_who_has_the_recorded_one() {
    let mut twins = Twins::new();
    assert_eq!(twins.world.beat(twins.second).status, SyncMetadata);
    assert_eq!(twins.world.beat(twins.first).status, Fenced);
}

/// What is recorded of a leave is no version that the store does not have: the leaver takes over a lower one, and its next leave is no older message.
#[test]
fn h14a_t3a_a_member_that_leaves_with_a_lost_version_is_heard_again() {
    let mut loss = Loss::of_a_handoff();
    let known = loss.world.versions().2;
    loss.world.lose_writes_unseen(&loss.saved);
    let told = loss.world.beat(leave("b", known).drains(&[2, 3]));
    loss.world.after(3_000);
    let version = told.metadata_version.get();
    loss.world
        .beat(leave("b", version).drains(&[2]).revoked(&[3]));
    assert_eq!(loss.world.holds("b"), [2]);
    let lease = loss.world.now.plus(Millis::new(15_000));
    assert_eq!(loss.world.member("b").lease_deadline, Some(lease));
}

/// Redis was restarted and lost nothing: a member that has heard of an epoch, and is overtaken by an earlier message of its own, is not thrown out for it.
#[test]
fn e6_c7_the_epochs_that_were_recorded_before_a_doubt_stay_good() {
    let mut world = World::with_shards(2);
    let numbered = |beat: Beat, sequence| beat.instance("p").sequence(sequence);
    let first = world.beat(numbered(join("a"), 1));
    let early = numbered(obeying("a", &first), 3);
    world.beat(join("b"));
    let told = world.beat(numbered(obeying("a", &first).owns(&[0, 1]), 2));
    assert!(told.member_epoch > first.member_epoch);
    world.doubted_at = Some(world.now);
    let late = world.beat(early);
    assert!(late.member_epoch > told.member_epoch, "the leap");
    let status = world.beat(numbered(obeying("a", &told), 5)).status;
    assert_eq!(status, RevokePending, "it had heard {}", told.member_epoch);
}
