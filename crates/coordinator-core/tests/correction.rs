//! Rules C1 to C8, H5, H6 and H18: the store lost writes.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;

use coordinator_core::holding::Phase;
use coordinator_core::input::Input;
use coordinator_core::lineage::{Correction, EPOCH_LEAP, Lineage};
use coordinator_core::member::MemberState;
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::{GroupEpoch, MetadataVersion, ShardCount};
use coordinator_core::record::GroupRecord;
use coordinator_core::step::HeartbeatStatus::{
    Fenced, Ok as Good, RevokePending, SyncMetadata, UnknownMember,
};
use coordinator_core::step::{Effect, HeartbeatReply, Rejection};
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::Write;
use support::{Beat, World, given, join, leave, obeying, report};

const LEASE: u64 = 15_000;

/// `a` had shards 0 to 3 when the record was saved. Since then `b` joined, `a` let go of 2 and 3, and `b` reads them.
struct Loss {
    world: World,
    saved: GroupRecord,
    members: BTreeMap<&'static str, HeartbeatReply>,
}

impl Loss {
    fn new() -> Self {
        let (mut world, mut members) = World::settled(4, &["a", "b"]);
        let saved = world.saved();
        // c joins and takes over a shard of each: this is what will be lost.
        let c = world.beat(join("c"));
        members.insert("c", c);
        world.settle(&mut members);
        Self {
            world,
            saved,
            members,
        }
    }

    /// In the lost writes a and b were there, b got shards 2 and 3 from a.
    fn of_a_handoff() -> Self {
        let (mut world, mut members) = World::settled(4, &["a"]);
        let b = world.beat(join("b"));
        let saved = world.saved();
        members.insert("b", b);
        world.settle(&mut members);
        assert_eq!((world.holds("a"), world.holds("b")), (vec![0, 1], vec![2, 3]));
        Self {
            world,
            saved,
            members,
        }
    }

    fn beat_of(&self, member: &str) -> Beat {
        obeying(member, &self.members[member])
    }

    fn hear(&mut self, member: &'static str) -> HeartbeatReply {
        let reply = self.world.beat(self.beat_of(member));
        self.members.insert(member, reply.clone());
        reply
    }

    fn lineage(&self) -> &Lineage {
        &self.world.group.record().lineage
    }
}

#[test]
fn h5_c1_c2_a_member_that_knows_more_opens_a_round_and_keeps_what_it_reads() {
    let mut loss = Loss::of_a_handoff();
    let known = loss.world.versions().2;
    loss.world.lose_writes_unseen(&loss.saved);
    let stored = loss.world.versions().2;
    assert_eq!(loss.world.holds("a"), [0, 1, 2, 3], "as it was before");

    let answer = loss.hear("b");
    assert_eq!(answer.status, SyncMetadata);
    assert_eq!(answer.metadata_version.get(), stored, "C1: no version is bumped to match");
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

#[test]
fn c7_epochs_leap_above_every_one_that_was_handed_out() {
    let mut loss = Loss::of_a_handoff();
    let handed_out = loss.world.versions().0;
    loss.world.lose_writes_unseen(&loss.saved);
    let stored = loss.world.versions().0;
    let answer = loss.hear("b");
    assert_eq!(answer.group_epoch.get(), stored.max(handed_out) + EPOCH_LEAP);
    assert_eq!(answer.member_epoch, answer.group_epoch.get());
    assert_eq!(loss.lineage().epoch_floor, answer.group_epoch);
}

#[test]
fn c7_a_second_loss_to_the_same_record_still_hands_out_unused_epochs() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    let first = loss.hear("b").member_epoch;
    loss.world.lose_writes_unseen(&loss.saved);
    // It knows the version that the record has, and so nothing is seen of the loss until it knows more.
    loss.world.tick();
    let again = loss
        .world
        .beat(report("b", first, loss.world.versions().2 + 1).owns(&[]));
    assert_eq!(again.status, SyncMetadata);
    assert!(again.member_epoch > first, "{again:?}");
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
    assert_eq!(loss.hear("b").status, RevokePending, "H18: up to date, and a is not");
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
    assert!(loss.lineage().correction.is_none(), "2 and 3 are b's target, and b holds them");
    let shards = loss.world.member("b").holdings.clone();
    assert!(shards.iter().all(|it| it.is_claim && it.phase == Phase::Draining));
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
    assert_eq!(answer.status, SyncMetadata, "its epoch is older than the loss");
    assert_eq!(loss.world.holds("b"), [2, 3], "C3: what it says it let go of is not believed");
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
    let told = loss.world.beat(report("a", loss.members["a"].member_epoch, 99).owns(&[0, 3]));
    assert_eq!(told.status, SyncMetadata);
    assert_eq!(given(&told).0, [0], "3 is b's");
    let insists = obeying("a", &told).owns(&[0, 3]);
    assert_eq!(loss.world.beat(insists).status, Fenced);
    assert_eq!(loss.world.member("a").state, MemberState::Fenced);
    let quarantined = loss.world.in_quarantine();
    assert!(quarantined.contains(&3), "O6: what it claimed is not free: {quarantined:?}");
}

#[test]
fn c3_draining_what_is_not_its_own_is_what_it_was_told_to_do() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    let told = loss.hear("b");
    let obeys = obeying("b", &told).drains(&[2, 3]);
    assert_eq!(loss.world.beat(obeys).status, RevokePending);
    assert_eq!(loss.world.beat(obeying("b", &told).revoked(&[2, 3])).status, RevokePending);
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
        Input::RollbackRequested { resharding },
        Input::DeletionRequested { force: true },
    ] {
        assert_eq!(
            loss.world.decide(&refused).unwrap_err(),
            Rejection::MetadataSyncInProgress
        );
    }
}

#[test]
fn c8_nothing_is_granted_and_nobody_expires_for_one_lease() {
    let (mut world, mut members) = World::settled(4, &["a"]);
    let saved = world.saved();
    world.after(14_000);
    world.lose_writes_since(&saved);
    let start = world.now;
    let b = world.beat(join("b"));
    assert_eq!((b.status, given(&b)), (RevokePending, (vec![], vec![2, 3])));
    let a = world.beat(obeying("a", &members["a"]));
    assert_eq!((a.status, given(&a)), (RevokePending, (vec![0, 1], vec![])));
    // a lets go of 2 and 3, and still nobody gets them.
    members.insert("a", world.beat(obeying("a", &a)));
    let b = world.beat(obeying("b", &b));
    assert_eq!((b.status, given(&b)), (RevokePending, (vec![], vec![2, 3])));
    members.insert("b", b);
    assert_eq!(world.group.next_deadline(), Some(start.plus(Millis::new(LEASE))));

    world.after(LEASE - 1);
    world.settle_partly(&mut members);
    assert!(world.group.record().lineage.hold_until.is_some());
    let version = world.versions().2;
    world.after(1);
    world.tick();
    assert_eq!(world.group.record().lineage.hold_until, None);
    assert_eq!(world.versions().2, version + 1, "the end of a hold can be seen");
    world.settle(&mut members);
    assert_eq!((world.holds("a"), world.holds("b")), (vec![0, 1], vec![2, 3]));
}

#[test]
fn c8_leases_that_ran_out_by_the_old_record_end_after_the_hold() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    let saved = world.saved();
    world.after(LEASE + 1_000);
    world.lose_writes_since(&saved);
    world.tick();
    assert_eq!(world.member("a").state, MemberState::Active, "nobody is expired");
    world.beat(obeying("a", &members["a"]));
    world.after(LEASE - 1);
    world.beat(obeying("a", &members["a"]));
    world.after(1);
    world.tick();
    assert_eq!(world.member("a").state, MemberState::Active);
    assert_eq!(world.member("b").state, MemberState::Expired);
}

#[test]
fn c8_quarantines_and_rebalance_deadlines_wait_for_the_end_of_the_hold() {
    let mut world = World::with_shards(2);
    let a = world.join_and_settle("a");
    world.beat(obeying("a", &a).owns(&[0, 7]));
    assert_eq!(world.in_quarantine(), [0, 1]);
    let saved = world.saved();
    world.after(LEASE);
    world.lose_writes_since(&saved);
    world.tick();
    assert_eq!(world.in_quarantine(), [0, 1]);
    world.after(LEASE);
    world.tick();
    assert_eq!(world.in_quarantine(), Vec::<u32>::new());
}

#[test]
fn c8_a_doubt_is_acted_on_once() {
    let (mut world, _) = World::settled(2, &["a"]);
    let epoch = world.versions().0;
    world.doubted_at = Some(world.now);
    world.tick();
    assert_eq!(world.versions().0, epoch + EPOCH_LEAP);
    assert_eq!(world.tick(), []);
    world.after(100);
    world.doubted_at = Some(world.now);
    world.tick();
    assert_eq!(world.versions().0, epoch + 2 * EPOCH_LEAP, "a new one is a new one");
}

#[test]
fn c8_a_group_that_hears_of_it_late_does_not_wait_again() {
    let (mut world, members) = World::settled(2, &["a"]);
    let doubted_at = world.now;
    world.after(LEASE - 1);
    world.beat(obeying("a", &members["a"]));
    world.after(1).doubted_at = Some(doubted_at);
    let answer = world.beat(obeying("a", &members["a"]));
    assert_eq!(answer.status, Good);
    assert!(answer.member_epoch > EPOCH_LEAP, "C7 all the same");
}

#[test]
fn c8_the_short_way_does_not_pass_by_a_doubt() {
    let (world, members) = World::settled(2, &["a"]);
    let steady = obeying("a", &members["a"]).build();
    assert!(world.group.decide_steady(&steady, None).is_some());
    assert_eq!(world.group.decide_steady(&steady, Some(world.now)), None);
}

#[test]
fn c8_what_one_group_learns_is_told_to_all() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    let at = loss.world.now;
    let step = loss.world.step(loss.beat_of("b"));
    assert_eq!(step.effects, [Effect::DoubtWrites { at }]);
    let again = loss.world.decide(&Input::TickDue).unwrap();
    assert_eq!(again.effects, step.effects, "until it is known everywhere");
    loss.world.doubted_at = Some(at);
    let step = loss.world.decide(&Input::TickDue).unwrap();
    assert_eq!((step.writes, step.effects), (vec![], vec![]));
}

#[test]
fn c8_m7_the_end_of_a_hold_is_cut_when_the_clock_went_back() {
    let (mut world, _) = World::settled(2, &["a"]);
    world.doubted_at = Some(world.now);
    world.tick();
    world.now = Timestamp::from_ms(500_000);
    world.since = Timestamp::from_ms(490_000);
    world.tick();
    let until = world.group.record().lineage.hold_until;
    assert_eq!(until, Some(Timestamp::from_ms(500_000 + LEASE)));
}

#[test]
fn h10_a_replayed_join_during_a_hold_starts_nothing() {
    let mut world = World::with_shards(2);
    let join = join("a").instance("p").sequence(1);
    assert_eq!(given(&world.beat(join.clone())).0, [0, 1]);
    world.doubted_at = Some(world.now);
    let again = world.beat(join.sequence(2));
    assert_eq!((again.status, given(&again)), (RevokePending, (vec![], vec![0, 1])));
}

#[test]
fn h5a_a_superseded_twin_is_not_told_the_epoch_by_a_round() {
    let mut world = World::with_shards(2);
    let old = world.beat(join("a").instance("old").sequence(1));
    world.beat(join("a").instance("new").sequence(1));
    let twin = report("a", old.member_epoch, 99).instance("old").sequence(2);
    let answer = world.beat(twin);
    assert_eq!((answer.status, answer.member_epoch), (Fenced, 0));
    assert_eq!(world.group.record().lineage, Lineage::default());
}

#[test]
fn h5_an_epoch_below_the_recorded_one_and_a_stranger_open_no_round() {
    let (mut world, members) = World::settled(2, &["a", "b"]);
    let epoch = members["a"].member_epoch;
    let lower = report("a", epoch - 1, 99);
    let known = world.member("a").accepts_epoch(epoch - 1);
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
    let numbered = |sequence| report("a", a.member_epoch, 50).instance("p").sequence(sequence);
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
fn c5_g5_a_migration_rests_while_writes_are_doubted() {
    let (mut world, mut members) = World::settled(2, &["a"]);
    let resharding = ReshardingId::new("reshard-1");
    world.command(&Input::ScaleRequested {
        resharding: resharding.clone(),
        target: ShardCount::new(1),
    });
    world.command(&Input::MigrationProvisioned { resharding });
    world.settle(&mut members);
    assert!(matches!(
        world.decide(&Input::TickDue).unwrap().effects[..],
        [Effect::ReadDrainEvidence { .. }]
    ));
    world.doubted_at = Some(world.now);
    world.tick();
    assert_eq!(world.decide(&Input::TickDue).unwrap().effects, []);
    world.after(LEASE);
    world.beat(obeying("a", &members["a"]));
    world.tick();
    assert!(matches!(
        world.decide(&Input::TickDue).unwrap().effects[..],
        [Effect::ReadDrainEvidence { .. }]
    ));
}

#[test]
fn c6_a_record_whose_floor_no_epoch_reached_is_refused() {
    let (world, _) = World::settled(2, &["a"]);
    let mut record = world.saved();
    record.lineage.epoch_floor = GroupEpoch::new(1_000);
    let error = coordinator_core::Group::restore(record, *world.group.settings()).unwrap_err();
    assert!(error.to_string().contains("1000"), "{error}");
}
