//! Rules O1 to O8: what a member holds, and what becomes of it.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::holding::Phase;
use coordinator_core::input::Input;
use coordinator_core::member::MemberState;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::step::HeartbeatStatus::{Fenced, Ok as Good};
use coordinator_core::step::Rejection;
use coordinator_core::write::{FenceCause, Write};
use support::{World, given, id, join, leave, obeying, reply, report, set};

fn authority(world: &World, member: &str) -> Vec<u32> {
    (0..10)
        .filter(|shard| {
            world
                .group
                .has_authority(&id(member), ShardIndex::new(*shard))
        })
        .collect()
}

#[test]
fn o1_o2_granted_counts_between_the_answer_and_the_next_report() {
    let mut world = World::new();
    let a = world.beat(join("a"));
    assert_eq!(world.holds("a"), [0, 1, 2, 3]);
    assert_eq!(world.group.granted(&id("a")), set(&[0, 1, 2, 3]));
    let b = world.beat(join("b"));
    assert_eq!(
        given(&b),
        (vec![], vec![2, 3]),
        "rule O3: a may be reading what it was told"
    );
    assert_eq!(authority(&world, "a"), [0, 1, 2, 3]);
    assert_eq!(authority(&world, "b"), Vec::<u32>::new());
    world.beat(obeying("a", &a).owns(&[0, 1]).drains(&[2, 3]));
    assert_eq!(authority(&world, "a"), [0, 1, 2, 3], "draining counts");
    assert_eq!(world.group.draining(&id("a")), set(&[2, 3]));
}

#[test]
fn o4_h17_what_is_assigned_is_recorded_before_it_is_said() {
    let mut world = World::with_shards(2);
    let step = world.step(join("a"));
    let granted: Vec<_> = step
        .writes
        .iter()
        .filter(|write| matches!(write, Write::ShardGranted { .. }))
        .collect();
    assert_eq!(granted.len(), 2);
    assert_eq!(given(&reply(step)).0, [0, 1]);
}

#[test]
fn o5_revoked_with_something_in_flight_is_no_release() {
    let (mut world, members) = World::settled(4, &["a"]);
    world.beat(join("b"));
    let told = world.beat(obeying("a", &members["a"]));
    world.beat(obeying("a", &told).drains(&[2]).revoked(&[3]));
    assert_eq!(world.holds("a"), [0, 1, 2]);
    // Repeating what is over changes nothing.
    let version = world.versions().2;
    world.beat(obeying("a", &told).drains(&[2]).revoked(&[3]));
    assert_eq!(
        (world.versions().2, world.member("a").state),
        (version, MemberState::Active)
    );
    world.beat(obeying("a", &told).revoked(&[2, 3]));
    assert_eq!(world.holds("a"), [0, 1]);
}

#[test]
fn o5_a_shard_reported_as_owned_and_as_revoked_at_once_stays_held() {
    let (mut world, members) = World::settled(4, &["a"]);
    world.beat(obeying("a", &members["a"]).revoked(&[3]));
    assert_eq!(world.holds("a"), [0, 1, 2, 3]);
    assert_eq!(
        world.member("a").holding(ShardIndex::new(3)).unwrap().phase,
        Phase::Owned
    );
}

#[test]
fn o5a_a_report_from_before_a_grant_does_not_give_it_away() {
    let mut world = World::with_shards(2);
    let a = world.beat(join("a"));
    let a = world.beat(obeying("a", &a));
    // It lets go by itself, and is given the shard again in the same answer.
    let before = report("a", a.member_epoch, a.metadata_version.get()).owns(&[0]);
    let answer = world.beat(before.clone());
    assert_eq!(given(&answer).0, [0, 1]);
    assert!(
        answer.metadata_version > a.metadata_version,
        "so that every report sent before carries a lower one"
    );
    // The network delivers a copy of that report.
    world.beat(before);
    assert_eq!(world.holds("a"), [0, 1]);
    // The member's own later word does release.
    world.beat(report("a", answer.member_epoch, answer.metadata_version.get()).owns(&[0]));
    let since = world.member("a").holding(ShardIndex::new(1)).unwrap().since;
    assert!(
        since > answer.metadata_version,
        "it was released and granted anew"
    );
}

#[test]
fn c34_an_old_confirmation_does_not_free_what_was_granted_anew() {
    let (mut world, members) = World::settled(2, &["a"]);
    let b = world.beat(join("b"));
    assert_eq!(given(&b), (vec![], vec![1]));
    let told = world.beat(obeying("a", &members["a"]));
    assert_eq!(given(&told).0, [0]);
    let confirmation = obeying("a", &told).revoked(&[1]);
    // Before the confirmation arrives, b leaves and the target flips back to a.
    let version = world.versions().2;
    world.beat(leave("b", version));
    assert_eq!(world.target("a"), [0, 1]);
    let answer = world.beat(confirmation);
    assert_eq!((answer.status, given(&answer).0), (Good, vec![0, 1]));
    assert_eq!(
        world.holds("a"),
        [0, 1],
        "rule O5a: the old confirmation releases nothing"
    );
    let c = world.beat(join("c"));
    assert_eq!(given(&c), (vec![], vec![1]), "one holder at every moment");
}

#[test]
fn o6_quarantine_ends_with_the_lease_that_ran_when_the_member_was_fenced() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    world.after(5_000);
    let told = world.beat(obeying("b", &members["b"]));
    let fenced = world.beat(obeying("a", &members["a"]).owns(&[0, 1, 2]));
    assert_eq!(fenced.status, Fenced);
    assert_eq!(world.in_quarantine(), [0, 1]);
    world.after(9_999);
    let told = world.beat(obeying("b", &told));
    assert_eq!(given(&told), (vec![2, 3], vec![0, 1]));
    world.after(1);
    let told = world.beat(obeying("b", &told));
    assert_eq!(given(&told), (vec![0, 1, 2, 3], vec![]));
}

#[test]
fn o6_the_same_process_ends_its_quarantine_by_asserting_that_it_has_stopped() {
    let from = |beat: support::Beat, sequence| beat.instance("i").sequence(sequence);
    let mut world = World::new();
    let joined = world.beat(from(join("a"), 1));
    let fenced = world.beat(from(obeying("a", &joined).owns(&[9]), 2));
    assert_eq!(fenced.status, Fenced);
    assert_eq!(world.in_quarantine(), [0, 1, 2, 3]);
    let copy = world.step(from(join("a"), 1));
    assert_eq!(
        (copy.writes.len(), reply(copy).status),
        (0, Fenced),
        "a late copy of its join asserts nothing"
    );
    let back = world.beat(from(join("a").request("back"), 3));
    assert_eq!(
        (given(&back), world.in_quarantine()),
        ((vec![0, 1, 2, 3], vec![]), vec![])
    );
}

#[test]
fn o6_a_process_without_a_name_does_not_prove_that_another_has_stopped() {
    let mut world = World::new();
    let joined = world.beat(join("a"));
    assert_eq!(world.beat(obeying("a", &joined).owns(&[9])).status, Fenced);
    // It may be the same process, or a second one under the same id while the first reads on.
    let back = world.beat(join("a").request("back"));
    assert_eq!(
        (given(&back), world.in_quarantine()),
        ((vec![], vec![0, 1, 2, 3]), vec![0, 1, 2, 3])
    );
    world.after(15_000);
    let back = world.beat(join("a").request("again"));
    assert_eq!(given(&back).0, [0, 1, 2, 3]);
}

#[test]
fn o6_h9_another_process_does_not_end_the_quarantine() {
    let mut world = World::new();
    let joined = world.beat(join("a").instance("i").sequence(1));
    world.beat(obeying("a", &joined).instance("i").sequence(2).owns(&[9]));
    let other = world.beat(join("a").instance("j").sequence(1).request("other"));
    assert_eq!(given(&other), (vec![], vec![0, 1, 2, 3]));
    assert_eq!(world.in_quarantine(), [0, 1, 2, 3]);
}

#[test]
fn o6_a_fenced_process_that_shows_to_have_let_go_need_not_be_waited_for() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    let a = &members["a"];
    world.beat(obeying("a", a).owns(&[0, 1, 2]));
    assert_eq!(world.in_quarantine(), [0, 1]);
    world.beat(obeying("a", a).owns(&[0]));
    assert_eq!(world.in_quarantine(), [0]);
    let stale = report("a", a.member_epoch, 0);
    world.beat(stale);
    assert_eq!(
        world.in_quarantine(),
        [0],
        "rule O5a counts in quarantine too"
    );
    let empty = world.beat(obeying("a", a).owns(&[]));
    assert_eq!((empty.status, world.in_quarantine()), (Fenced, vec![]));
}

#[test]
fn o7_a_claim_outside_the_authority_fences_and_never_changes_the_owner() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    let epoch = world.versions().0;
    let step = world.step(obeying("a", &members["a"]).owns(&[0, 1]).drains(&[3]));
    assert!(step.writes.contains(&Write::MemberFenced {
        member: id("a"),
        cause: FenceCause::OutsideAuthority {
            shard: ShardIndex::new(3)
        },
        at: world.now,
    }));
    assert_eq!(reply(step).status, Fenced);
    assert_eq!(world.versions().0, epoch + 1);
    assert_eq!(world.holds("b"), [2, 3]);
    // What no longer is in flight is no claim.
    let (mut world, members) = World::settled(4, &["a", "b"]);
    assert_eq!(
        world.beat(obeying("a", &members["a"]).revoked(&[3])).status,
        Good
    );
}

#[test]
fn o8_progress_of_foreign_shards_is_dropped_without_fencing() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    let answer = world.beat(obeying("a", &members["a"]).progress(&[0, 2, 99]));
    assert_eq!((answer.status, answer.progress), (Good, set(&[0])));
}

#[test]
fn o3_a_claimed_shard_within_the_authority_is_held_though_it_was_never_told() {
    let (mut world, members) = World::settled(2, &["a", "b"]);
    let version = world.versions().2;
    world.beat(leave("b", version));
    // a learns of it from a lost answer, of which the coordinator has no record.
    let a = &members["a"];
    let answer = world.beat(report("a", a.member_epoch, a.metadata_version.get()).owns(&[0, 1]));
    assert_eq!((answer.status, world.holds("a")), (Good, vec![0, 1]));
}

#[test]
fn o5a_a_copy_of_the_report_that_was_answered_with_a_grant_does_not_give_it_away() {
    let mut world = World::with_shards(1);
    let a = world.beat(join("a").instance("pa").sequence(1));
    let a = world.beat(obeying("a", &a).instance("pa").sequence(2));
    let b = world.beat(join("b").instance("pb").sequence(1));
    let fifth = obeying("b", &b).instance("pb").sequence(5);
    world.beat(fifth.clone());
    world.beat(
        leave("a", a.metadata_version.get())
            .instance("pa")
            .sequence(3),
    );
    // The shard is b's to have now. A copy of what b said before is answered with today's version, and grants nothing.
    let overtaken = world.beat(fifth);
    assert_eq!(given(&overtaken), (vec![], vec![0]));
    // Its next report carries that version. The answer to it grants the shard, under a higher one.
    let next = obeying("b", &overtaken).instance("pb").sequence(6);
    let granted = world.beat(next);
    assert_eq!(given(&granted).0, [0]);
    assert!(granted.metadata_version > overtaken.metadata_version);
    let holding = *world.member("b").holding(ShardIndex::new(0)).unwrap();
    assert_eq!(holding.since, granted.metadata_version);
}

#[test]
fn o6_a_group_in_which_a_fenced_process_may_still_read_is_not_deleted_without_force() {
    let (mut world, members) = World::settled(2, &["a"]);
    world.beat(obeying("a", &members["a"]).owns(&[0, 1, 7]));
    let delete = |force| Input::DeletionRequested { force };
    assert_eq!(
        world.decide(&delete(false)),
        Err(Rejection::GroupHasActiveMembers { active: 1 })
    );
    assert!(world.decide(&delete(true)).is_ok());
    world.after(15_000);
    assert!(world.decide(&delete(false)).is_ok(), "its lease is over");
}
