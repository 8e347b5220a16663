//! Rules C7 and C8: epochs leap and grants wait once the store may have lost writes.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::lineage::EPOCH_LEAP;
use coordinator_core::member::MemberState;
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::{GroupEpoch, MetadataVersion, ShardCount};
use coordinator_core::step::Effect;
use coordinator_core::step::HeartbeatStatus::{Fenced, Ok as Good, RevokePending, SyncMetadata};
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::{FenceCause, Write};
use support::loss::Loss;
use support::{World, given, join, obeying, report};

const LEASE: u64 = 15_000;

#[test]
fn c7_epochs_leap_above_every_one_that_was_handed_out() {
    let mut loss = Loss::of_a_handoff();
    let handed_out = loss.world.versions().0;
    loss.world.lose_writes_unseen(&loss.saved);
    let stored = loss.world.versions().0;
    let answer = loss.hear("b");
    assert_eq!(
        answer.group_epoch.get(),
        stored.max(handed_out) + EPOCH_LEAP
    );
    assert_eq!(answer.member_epoch, answer.group_epoch.get());
    assert_eq!(loss.lineage().epoch_floor, answer.group_epoch);
}

#[test]
fn c7_two_losses_to_the_same_record_hand_out_different_epochs() {
    let (mut world, _) = World::settled(2, &["a"]);
    let saved = world.saved();
    let mut handed_out = Vec::new();
    for member in ["b", "c", "d"] {
        let known = world.group.known_epoch();
        world.lose_writes_since(&saved);
        world.group = world.group.clone().knowing(known);
        handed_out.push(world.beat(join(member)).member_epoch);
        world.after(1);
    }
    let mut once = handed_out.clone();
    once.dedup();
    assert_eq!((once.len(), once.is_sorted()), (3, true), "{handed_out:?}");
}

#[test]
fn c7_a_report_of_a_later_epoch_shows_how_high_they_went() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    let first = loss.hear("b").member_epoch;
    loss.world.lose_writes_unseen(&loss.saved);
    let version = loss.world.versions().2;
    let again = loss.world.beat(report("b", first, version + 1));
    assert_eq!(again.status, SyncMetadata);
    assert_eq!(again.member_epoch, first + EPOCH_LEAP);
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
    assert_eq!(
        world.group.next_deadline(),
        Some(start.plus(Millis::new(LEASE)))
    );

    world.after(LEASE - 1);
    world.settle_partly(&mut members);
    assert!(world.group.record().lineage.hold_until.is_some());
    let version = world.versions().2;
    world.after(1);
    world.tick();
    assert_eq!(world.group.record().lineage.hold_until, None);
    assert_eq!(
        world.versions().2,
        version + 1,
        "the end of a hold can be seen"
    );
    world.settle(&mut members);
    assert_eq!(
        (world.holds("a"), world.holds("b")),
        (vec![0, 1], vec![2, 3])
    );
}

#[test]
fn c8_leases_that_ran_out_by_the_old_record_end_after_the_hold() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    let saved = world.saved();
    world.after(LEASE + 1_000);
    world.lose_writes_since(&saved);
    world.tick();
    assert_eq!(
        world.member("a").state,
        MemberState::Active,
        "nobody is expired"
    );
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
    assert_eq!(
        world.versions().0,
        epoch + 2 * EPOCH_LEAP,
        "a new one is a new one"
    );
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
fn c8_what_one_group_learns_is_told_to_all_before_it_is_committed() {
    let mut loss = Loss::of_a_handoff();
    loss.world.lose_writes_unseen(&loss.saved);
    let at = loss.world.now;
    let step = loss.world.step(loss.beat_of("b"));
    assert_eq!(step.effects, [Effect::DoubtWrites { at }]);
    loss.world.doubted_at = Some(at);
    let step = loss.world.decide(&Input::TickDue).unwrap();
    assert_eq!((step.writes, step.effects), (vec![], vec![]));
}

/// What the store shows is known to whoever asks the store.
#[test]
fn c8_what_the_store_shows_need_not_be_told() {
    let (mut world, _) = World::settled(2, &["a"]);
    world.doubted_at = Some(world.now);
    let step = world.command(&Input::TickDue);
    assert_eq!(step.effects, []);
    // Each group finds it out by itself: one that did must not begin it anew for all others.
    world.doubted_at = None;
    assert_eq!(world.decide(&Input::TickDue).unwrap().effects, []);
}

#[test]
fn c8_a_doubt_by_a_report_is_later_than_any_before_though_the_clock_went_back() {
    let (mut world, members) = World::settled(2, &["a"]);
    let known = world.now.plus(Millis::new(60_000));
    world.doubted_at = Some(known);
    world.after(LEASE - 1);
    let told = world.beat(obeying("a", &members["a"]));
    world.after(1_000_000);
    world.since = world.now;
    world.after(LEASE - 1);
    let told = world.beat(obeying("a", &told));
    world.after(1);
    world.tick();
    assert_eq!(world.saved().lineage.hold_until, None);

    world.now = Timestamp::from_ms(500_000);
    let knows_more = report("a", told.member_epoch, told.metadata_version.get() + 5);
    let step = world.step(knows_more);
    let at = known.plus(Millis::new(1));
    assert_eq!(step.effects, [Effect::DoubtWrites { at }]);
    let lineage = world.saved().lineage;
    assert_eq!(lineage.doubted_at, Some(at));
    let end = world.now.plus(Millis::new(LEASE));
    assert_eq!(lineage.hold_until, Some(end), "M7");
}

/// A client that keeps the highest version it ever saw would else hold the grants of every group with each of its reports.
#[test]
fn h5_c8_who_does_not_take_over_what_it_is_told_is_fenced_and_no_sign_any_more() {
    let (mut world, members) = World::settled(2, &["a", "b"]);
    let keeps = |epoch| report("a", epoch, 99).owns(&[0]);
    let told = world.beat(keeps(members["a"].member_epoch));
    assert_eq!(told.status, SyncMetadata);
    let doubted_at = world.saved().lineage.doubted_at;
    world.doubted_at = doubted_at;
    world.after(3_000);
    let step = world.step(keeps(told.member_epoch));
    assert_eq!(step.effects, []);
    let cause = FenceCause::UnknownVersion {
        reported: MetadataVersion::new(99),
    };
    let (member, at) = (support::id("a"), world.now);
    assert!(
        step.writes
            .contains(&Write::MemberFenced { member, cause, at })
    );
    assert_eq!(world.in_quarantine(), [0], "O6");

    // It comes back, and goes on like that: also long after, nobody is held up by it.
    world.after(60_000);
    world.since = Timestamp::from_ms(0);
    world.tick();
    let again = world.beat(join("a").request("again"));
    assert_eq!(again.status, Good);
    let step = world.step(report("a", again.member_epoch, 99));
    assert_eq!(step.effects, []);
    assert_eq!(world.saved().lineage.doubted_at, doubted_at);
    assert_eq!(world.member("a").state, MemberState::Fenced);
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
    assert_eq!(
        (again.status, given(&again)),
        (RevokePending, (vec![], vec![0, 1]))
    );
}

#[test]
fn c5_g5_a_migration_rests_while_writes_are_doubted() {
    let (mut world, mut members) = World::settled(2, &["a"]);
    let resharding = ReshardingId::new("reshard-1");
    world.command(&Input::ScaleRequested {
        resharding: resharding.clone(),
        target: ShardCount::new(1),
    });
    world.command(&Input::MigrationProvisioned {
        resharding,
        generations: Generations::default(),
    });
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

#[test]
fn c7_c49_an_epoch_that_nobody_can_have_been_given_is_not_believed() {
    let (mut world, members) = World::settled(2, &["a"]);
    let before = world.saved();
    let absurd = report("a", i64::MAX.unsigned_abs(), 99);
    assert_eq!(world.beat(absurd).status, Fenced);
    assert_eq!(world.saved(), before);
    let far = members["a"].member_epoch + (1 << 40);
    assert_eq!(world.beat(report("a", far, 99)).status, SyncMetadata);
}
