//! Rules H14 to H20 and E1 to E7: reports, epochs, and what they write.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::holding::Phase;
use coordinator_core::input::Input;
use coordinator_core::member::MemberState;
use coordinator_core::numbers::{AssignmentEpoch, GroupEpoch, MetadataVersion, ShardIndex};
use coordinator_core::step::HeartbeatStatus::{Fenced, Ok as Good};
use coordinator_core::step::{Reply, Step};
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::{FenceCause, Report, Write};
use support::{START, World, given, heartbeat, id, join, leave, numbers, obeying, reply, report};

#[test]
fn h14_h16_a_first_report_is_taken_over_and_the_whole_step_says_so() {
    let mut world = World::with_shards(1);
    let joined = world.beat(join("a"));
    world.after(1_000);
    let step = world.step(obeying("a", &joined).progress(&[0, 7]));
    let expected = Step {
        writes: vec![
            Write::ShardReported {
                member: id("a"),
                shard: ShardIndex::new(0),
                phase: Phase::Owned,
            },
            Write::LeaseSet {
                member: id("a"),
                deadline: Timestamp::from_ms(START + 16_000),
            },
            Write::MemberReported {
                member: id("a"),
                report: Report {
                    instance: None,
                    name: None,
                    max_concurrency: coordinator_core::numbers::Concurrency::new(1),
                    version: joined.metadata_version,
                    sequence: None,
                    lease_ttl: Millis::new(15_000),
                },
            },
        ],
        reply: Reply::Heartbeat(coordinator_core::step::HeartbeatReply {
            // Rule O8: progress of a shard that is none of its business is dropped, and it is not fenced for it.
            progress: support::set(&[0]),
            ..joined
        }),
        effects: vec![],
    };
    assert_eq!(step, expected);
}

#[test]
fn h17_what_changes_nothing_but_the_lease_writes_nothing_but_the_lease() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    for _ in 0..3 {
        world.after(3_000);
        let beat = obeying("a", &members["a"]);
        let steady = world
            .group
            .decide_steady(&heartbeat(beat.clone()), None)
            .unwrap();
        let step = world.step(beat);
        let deadline = world.now.plus(Millis::new(15_000));
        assert_eq!(
            step.writes,
            [Write::LeaseSet {
                member: id("a"),
                deadline
            }]
        );
        assert!(steady.renews_lease);
        assert_eq!(steady.reply, reply(step), "the short way says the same");
    }
}

#[test]
fn h17_the_short_way_is_not_taken_where_anything_would_be_recorded() {
    let (world, members) = World::settled(4, &["a", "b"]);
    let steady = |beat| world.group.decide_steady(&heartbeat(beat), None);
    assert!(steady(obeying("a", &members["a"])).is_some());
    for beat in [
        join("c"),
        leave("a", 9),
        obeying("a", &members["a"]).named("another name"),
        obeying("a", &members["a"]).owns(&[0]),
        obeying("a", &members["a"]).owns(&[0, 3]),
        obeying("a", &members["a"]).drains(&[1]),
    ] {
        assert_eq!(steady(beat.clone()), None, "{beat:?}");
    }
    let refused = steady(report("a", 99, 1)).unwrap();
    assert_eq!(
        (refused.renews_lease, refused.reply.status),
        (false, Fenced),
        "a refusal renews nothing (rule T3a)"
    );
}

#[test]
fn e2_e3_e4_what_clients_see_raises_the_version_and_membership_the_epoch() {
    let mut world = World::new();
    assert_eq!(world.versions(), (0, 0, 1));
    let a = world.beat(join("a"));
    assert_eq!(world.versions(), (1, 1, 2));
    let a = world.beat(obeying("a", &a));
    assert_eq!(
        world.versions(),
        (1, 1, 2),
        "a report of what was told is no news"
    );
    let b = world.beat(join("b"));
    assert_eq!(world.versions(), (2, 2, 3));
    let a = world.beat(obeying("a", &a));
    assert_eq!(world.versions(), (2, 2, 3));
    world.beat(obeying("a", &a));
    assert_eq!(
        world.versions(),
        (2, 2, 4),
        "a shard became assignable because its holder let go"
    );
    let b = world.beat(obeying("b", &b));
    world.beat(obeying("b", &b));
    assert_eq!(world.versions(), (2, 2, 4), "renewing a lease is no news");
}

#[test]
fn e4_a_recomputation_that_changes_nothing_keeps_every_owner() {
    let (mut world, mut members) = World::settled(4, &["a", "b", "c", "d"]);
    let targets: Vec<_> = ["a", "b", "c", "d"]
        .map(|member| world.target(member))
        .to_vec();
    members.insert("e", world.beat(join("e")));
    world.settle(&mut members);
    assert_eq!(
        ["a", "b", "c", "d"]
            .map(|member| world.target(member))
            .to_vec(),
        targets
    );
    assert_eq!(world.target("e"), Vec::<u32>::new());
    let record = world.group.record();
    assert_eq!(record.group_epoch.as_assignment(), record.assignment_epoch);
}

#[test]
fn e5_e6_a_lost_answer_leaves_the_previous_epoch_good_until_the_newer_one_was_sent() {
    let (mut world, members) = World::settled(4, &["a"]);
    let first = &members["a"];
    world.beat(join("b"));
    let told = world.beat(obeying("a", first));
    assert!(told.member_epoch > first.member_epoch, "rule E5");
    // The answer was lost: the member repeats what it has.
    let again = world.beat(obeying("a", first));
    assert_eq!(again, told, "the same decision (rule H16)");
    // A third assignment while the second is still unknown to it.
    world.beat(join("c"));
    let third = world.beat(obeying("a", first));
    assert_eq!(third.status, Good);
    assert_eq!(
        world.beat(obeying("a", first)).status,
        Good,
        "case C38: a subset at the previous epoch is accepted"
    );
    world.beat(obeying("a", &third));
    assert_eq!(
        world.beat(obeying("a", first)).status,
        Fenced,
        "the newer one was sent"
    );
    assert_eq!(
        world.member("a").state,
        MemberState::Active,
        "rule H15 changes nothing"
    );
}

#[test]
fn c38_more_than_it_had_at_the_previous_epoch_is_fenced() {
    let (mut world, members) = World::settled(4, &["a"]);
    let b = world.beat(join("b"));
    let told = world.beat(obeying("a", &members["a"]));
    let settled = world.beat(obeying("a", &told));
    world.beat(obeying("b", &b));
    world.beat(join("c"));
    let newer = world.beat(obeying("a", &settled));
    assert!(newer.member_epoch > settled.member_epoch);
    let step = world.step(obeying("a", &settled).owns(&[0, 1, 2]));
    assert_eq!(
        (step.writes.len(), reply(step).status),
        (0, Fenced),
        "rule H15"
    );
}

#[test]
fn h14a_an_overtaken_message_neither_releases_nor_claims_nor_fences() {
    let mut world = World::new();
    let joined = world.beat(join("a").instance("i").sequence(1));
    let late = obeying("a", &joined).instance("i").sequence(2);
    let b = world.beat(join("b"));
    let told = world.beat(obeying("a", &joined).instance("i").sequence(3));
    let done = world.beat(obeying("a", &told).instance("i").sequence(4));
    assert_eq!(world.holds("a"), [0, 1]);
    world.beat(obeying("b", &b));
    // It claims shards that were released since, under an epoch that is no longer its own, or its own.
    for epoch in [joined.member_epoch, done.member_epoch] {
        let mut beat = heartbeat(late.clone());
        beat.epoch = i64::try_from(epoch).unwrap();
        let writes = world.command(&Input::HeartbeatReceived(beat)).writes;
        assert_eq!(writes, []);
        assert_eq!(world.member("a").state, MemberState::Active);
    }
    let empty = report("a", done.member_epoch, done.metadata_version.get())
        .instance("i")
        .sequence(4);
    assert_eq!(
        given(&world.beat(empty)).0,
        [0, 1],
        "a copy of a message releases nothing"
    );
    assert_eq!(world.holds("a"), [0, 1]);
}

#[test]
fn h14a_a_client_without_positions_is_judged_by_its_version() {
    let (mut world, members) = World::settled(4, &["a"]);
    let first = members["a"].clone();
    world.beat(join("b"));
    let told = world.beat(obeying("a", &first));
    let done = world.beat(obeying("a", &told));
    world.beat(obeying("a", &done));
    let older = report("a", done.member_epoch, first.metadata_version.get()).owns(&[0, 1, 2, 3]);
    let step = world.step(older);
    assert_eq!((step.writes.len(), reply(step).status), (0, Good));
}

#[test]
fn h14a_i9_a_copy_from_before_a_release_does_not_fence_though_its_version_is_the_last_reported() {
    let (mut world, members) = World::settled(4, &["a"]);
    world.beat(join("b"));
    let told = world.beat(obeying("a", &members["a"]));
    // The member is told, and reports under the new version that it still drains two shards; then that it is done.
    let draining = obeying("a", &told).owns(&[0, 1]).drains(&[2, 3]);
    world.beat(draining.clone());
    world.beat(obeying("a", &told));
    assert_eq!(world.holds("a"), [0, 1]);
    let step = world.step(draining);
    assert_eq!((step.writes.len(), reply(step).status), (0, Good));
    assert_eq!(world.member("a").state, MemberState::Active);
}

#[test]
fn h15_any_other_epoch_is_fenced_and_changes_nothing() {
    let (mut world, members) = World::settled(4, &["a"]);
    let epoch = members["a"].member_epoch;
    for epoch in [epoch + 1, epoch + 1_000] {
        let step = world.step(report("a", epoch, 2).owns(&[0, 1, 2, 3]));
        assert_eq!(step.writes, []);
        let told = reply(step);
        assert_eq!((told.status, told.member_epoch), (Fenced, 0));
    }
    assert_eq!(world.beat(obeying("a", &members["a"])).status, Good);
}

#[test]
fn h20_a_member_that_keeps_what_it_should_release_is_fenced_after_the_rebalance_timeout() {
    let (mut world, members) = World::settled(4, &["a"]);
    let b = world.beat(join("b"));
    let stubborn = obeying("a", &members["a"]).owns(&[0, 1, 2, 3]);
    let told = world.beat(stubborn.clone());
    let deadline = world.now.plus(Millis::new(60_000));
    assert_eq!(
        world.member("a").rebalance_deadline(),
        Some(deadline),
        "armed with the first decision that takes a shard"
    );
    let keeps = |world: &mut World| world.beat(obeying("a", &told).owns(&[0, 1, 2, 3]));
    for _ in 0..5 {
        world.after(11_999);
        world.beat(obeying("b", &b));
        assert_eq!(keeps(&mut world).status, Good);
        assert_eq!(
            world.member("a").rebalance_deadline(),
            Some(deadline),
            "case C39: it is not pushed back"
        );
        assert_eq!(world.holds("a"), [0, 1, 2, 3], "before it nothing moves");
    }
    world.after(5);
    let writes = world.tick();
    assert!(writes.contains(&Write::MemberFenced {
        member: id("a"),
        cause: FenceCause::RebalanceTimeout,
        at: world.now
    }));
    assert_eq!(
        world.in_quarantine(),
        [0, 1, 2, 3],
        "rule O6: fencing is not release"
    );
    assert_eq!(keeps(&mut world).status, Fenced);
}

#[test]
fn h20_the_deadline_is_cleared_when_the_member_complies() {
    let (mut world, members) = World::settled(4, &["a"]);
    world.beat(join("b"));
    let told = world.beat(obeying("a", &members["a"]));
    assert!(world.member("a").rebalance_deadline().is_some());
    world.beat(obeying("a", &told));
    assert_eq!(world.member("a").rebalance_deadline(), None);
}

#[test]
fn e7_nothing_goes_down_when_members_come_and_go() {
    let mut world = World::new();
    let mut last = (
        GroupEpoch::default(),
        AssignmentEpoch::default(),
        MetadataVersion::default(),
    );
    for round in 0..20 {
        let name = format!("m{}", round % 3);
        world.beat(join(&name).request(&format!("{round}")));
        world.after(4_000);
        world.tick();
        let record = world.group.record();
        let now = (
            record.group_epoch,
            record.assignment_epoch,
            record.metadata_version,
        );
        assert!(now.0 >= last.0 && now.1 >= last.1 && now.2 >= last.2);
        last = now;
    }
}

#[test]
fn e1_h16_the_recorded_group_answers_the_same() {
    let (world, members) = World::settled(6, &["a", "b", "c"]);
    let again =
        coordinator_core::Group::restore(world.group.record().clone(), *world.group.settings())
            .unwrap();
    for (member, last) in &members {
        let input = Input::HeartbeatReceived(heartbeat(obeying(member, last)));
        // Invariant I7: replaying the record gives the same view.
        assert_eq!(again.decide(world.clock(), &input), world.decide(&input));
    }
    assert_eq!(numbers(&world.group.current(&id("a"))), world.target("a"));
}

#[test]
fn h20_nobody_is_fenced_for_shards_that_became_its_own_again() {
    let (mut world, members) = World::settled(2, &["a"]);
    let b = world.beat(join("b"));
    let told = world.beat(obeying("a", &members["a"]));
    let drains = obeying("a", &told).owns(&[0]).drains(&[1]);
    for _ in 0..5 {
        world.after(11_000);
        world.beat(obeying("b", &b));
        world.beat(drains.clone());
    }
    // Just before the deadline the other one leaves: there is nothing to let go of any more.
    world.beat(leave("b", b.metadata_version.get()));
    world.after(5_000);
    world.tick();
    assert_eq!(world.member("a").state, MemberState::Active);
    assert_eq!(world.beat(drains).status, Good);
    assert_eq!(world.member("a").rebalance_deadline(), None);
}

#[test]
fn h20_a_shard_that_is_taken_later_is_due_later() {
    let (mut world, members) = World::settled(4, &["a"]);
    let b = world.beat(join("b"));
    let first = world.beat(obeying("a", &members["a"]).owns(&[0, 1, 2, 3]));
    let armed = world.now;
    world.after(11_000);
    world.beat(obeying("b", &b));
    // Another one comes, and a third shard is to go: it has its own time.
    world.beat(join("c"));
    world.beat(obeying("a", &first).owns(&[0, 1]).drains(&[2, 3]));
    let due = |world: &World, shard: u32| {
        let shard = ShardIndex::new(shard);
        world.member("a").holding(shard).unwrap().release_by
    };
    assert_eq!(due(&world, 3), Some(armed.plus(Millis::new(60_000))));
    let taken: Vec<u32> = (0..3)
        .filter(|shard| !world.target("a").contains(shard))
        .collect();
    let later: Vec<u32> = taken
        .into_iter()
        .filter(|shard| due(&world, *shard) == Some(world.now.plus(Millis::new(60_000))))
        .collect();
    assert_eq!(later.len() + world.target("a").len() + 2, 4, "{later:?}");
    assert_eq!(
        world.member("a").rebalance_deadline(),
        Some(armed.plus(Millis::new(60_000)))
    );
}

/// A deadline that was armed for one hand-over is not inherited by the next.
#[test]
fn h20_e2_a_shard_that_came_back_and_is_taken_again_has_a_new_time() {
    let (mut world, members) = World::settled(2, &["a"]);
    let b = world.beat(join("b"));
    let keeps = obeying("a", &world.beat(obeying("a", &members["a"]))).owns(&[0, 1]);
    world.after(10_000);
    world.beat(leave("b", b.metadata_version.get()));
    assert_eq!(world.member("a").rebalance_deadline(), None, "at once");
    let own_again = world.beat(keeps);
    world.after(5_000);
    world.beat(join("c"));
    world.beat(obeying("a", &own_again).owns(&[0, 1]));
    assert_eq!(
        world.member("a").rebalance_deadline(),
        Some(world.now.plus(Millis::new(60_000)))
    );
}
