//! Rules H1 to H13: who is speaking.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::decide_without_group;
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::member::MemberState;
use coordinator_core::names::InstanceId;
use coordinator_core::numbers::GroupEpoch;
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::settings::Settings;
use coordinator_core::step::HeartbeatStatus::{
    Fenced, InvalidRequest, Ok as Good, UnknownMember, UnsupportedProtocol,
};
use coordinator_core::{Group, numbers::ShardCount};
use support::{World, given, heartbeat, id, join, leave, obeying, reply, report, set};

#[test]
fn h1_h2_what_no_client_may_send_is_refused_before_anything_happens() {
    let (mut world, _) = World::settled(4, &["a"]);
    world.after(1_000_000);
    for (beat, status) in [
        (join("b").protocol(0), UnsupportedProtocol),
        (join("b").protocol(2), UnsupportedProtocol),
        (join("b").addressed_to("c"), InvalidRequest),
        (report("a", 1, 1).addressed_to("b"), InvalidRequest),
    ] {
        let step = world.step(beat);
        assert_eq!(step.writes, [], "not even maintenance");
        assert_eq!(reply(step).status, status);
    }
    let mut below = heartbeat(join("b"));
    below.epoch = -2;
    let step = world.command(&Input::HeartbeatReceived(below));
    assert_eq!((step.writes.len(), reply(step).status), (0, InvalidRequest));
}

#[test]
fn h3_where_there_is_no_group_nobody_is_known() {
    let answer = decide_without_group(&heartbeat(join("a")));
    assert_eq!(
        (
            answer.status,
            answer.member_epoch,
            answer.metadata_version.get()
        ),
        (UnknownMember, 0, 0)
    );
    assert_eq!(
        decide_without_group(&heartbeat(join("a").protocol(9))).status,
        UnsupportedProtocol
    );
    assert_eq!(
        decide_without_group(&heartbeat(join("a").addressed_to("b"))).status,
        InvalidRequest
    );

    // A group whose streams are still being made is none yet.
    let mut world = World::new();
    let record = GroupRecord::new(
        world.group.id().clone(),
        ShardCount::new(4),
        Provisioning::Pending,
    );
    world.group = Group::restore(record, Settings::default()).unwrap();
    assert_eq!(world.beat(join("a")).status, UnknownMember);
    world.command(&Input::ProvisioningFinished {
        generations: Generations::default(),
        epochs_from: GroupEpoch::new(500),
    });
    // Epochs below were an earlier group's of that name: its members must not be taken for these (case C36).
    let answer = world.beat(join("a"));
    assert_eq!((answer.status, answer.member_epoch), (Good, 501));
    // Told again, it changes nothing.
    world.command(&Input::ProvisioningFinished {
        generations: Generations::default(),
        epochs_from: GroupEpoch::new(900),
    });
    assert_eq!(world.group.record().group_epoch, GroupEpoch::new(501));
}

#[test]
fn h4_maintenance_comes_before_the_heartbeat() {
    let (mut world, _) = World::settled(4, &["a"]);
    world.after(15_000);
    let answer = world.beat(join("b"));
    assert_eq!(
        given(&answer),
        (vec![0, 1, 2, 3], vec![]),
        "a had expired before b was judged"
    );
    assert_eq!(world.member("a").state, MemberState::Expired);
}

#[test]
fn h5a_a_superseded_twin_is_told_nothing_and_changes_nothing() {
    let mut world = World::new();
    world.beat(join("a").instance("first"));
    let second = world.beat(join("a").instance("second").request("r2"));
    let step = world.step(
        report("a", second.member_epoch, second.metadata_version.get())
            .instance("first")
            .owns(&[0]),
    );
    assert_eq!(step.writes, []);
    let told = reply(step);
    assert_eq!(
        (told.status, told.member_epoch, given(&told)),
        (Fenced, 0, (vec![], vec![]))
    );
    let version = second.metadata_version.get();
    assert_eq!(
        world
            .beat(report("a", second.member_epoch, version).instance("second"))
            .status,
        Good
    );
}

#[test]
fn h7_an_unknown_member_joins() {
    let mut world = World::new();
    let before = world.versions();
    let answer = world.beat(join("a").instance("i").sequence(7).named("reader"));
    assert_eq!(
        (answer.status, given(&answer)),
        (Good, (vec![0, 1, 2, 3], vec![]))
    );
    assert_eq!(world.versions(), (before.0 + 1, before.0 + 1, before.2 + 1));
    assert_eq!(answer.member_epoch, before.0 + 1);
    let record = world.member("a");
    assert_eq!(
        (record.state, record.name.as_deref()),
        (MemberState::Active, Some("reader"))
    );
    assert_eq!(record.instance, Some(InstanceId::new("i")));
    assert_eq!(
        record.lease_deadline,
        Some(world.now.plus(Settings::default().member_lease_ttl()))
    );
}

#[test]
fn h8_an_unknown_member_with_any_other_epoch_is_unknown() {
    let mut world = World::new();
    for beat in [report("a", 1, 1), report("a", 99, 1), leave("a", 1)] {
        let step = world.step(beat);
        assert_eq!(step.writes, []);
        assert_eq!(reply(step).status, UnknownMember);
    }
}

#[test]
fn h9_an_expired_member_rejoins_with_nothing() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    world.after(10_000);
    let b = world.beat(obeying("b", &members["b"]));
    world.after(6_000);
    world.tick();
    assert_eq!(world.member("a").state, MemberState::Expired);
    assert_eq!(b.status, Good);
    let again = world.beat(join("a").request("again"));
    assert!(again.member_epoch > members["a"].member_epoch);
    assert_eq!(
        given(&again),
        (vec![0, 1], vec![]),
        "what b has not begun to read (rule A6); nothing of its own is carried over"
    );
    assert_eq!(world.holds("b"), [2, 3]);
}

#[test]
fn h9_what_a_leaving_member_held_waits_unless_the_same_process_comes_back() {
    let mut world = World::new();
    let a = world.beat(join("a").instance("i").sequence(1));
    let version = a.metadata_version.get();
    let leaving = world.beat(
        leave("a", version)
            .instance("i")
            .sequence(2)
            .drains(&[0, 1, 2, 3]),
    );
    assert_eq!(given(&leaving), (vec![], vec![]));
    let mut other = World {
        doubted_at: None,
        group: world.group.clone(),
        now: world.now,
        since: world.since,
    };

    let same = world.beat(join("a").instance("i").sequence(3).request("back"));
    assert_eq!(
        given(&same),
        (vec![0, 1, 2, 3], vec![]),
        "it says itself that it has stopped"
    );

    let successor = other.beat(join("a").instance("j").sequence(1).request("new"));
    assert_eq!(given(&successor), (vec![], vec![0, 1, 2, 3]));
    assert_eq!(other.in_quarantine(), [0, 1, 2, 3]);
    // A late leave of the earlier process is none of the successor's (rule H13).
    let late = other.step(leave("a", version).instance("i").sequence(4));
    assert_eq!((late.writes.len(), reply(late).status), (0, Fenced));
}

#[test]
fn h10_the_same_process_asks_again_and_gets_the_same() {
    let mut world = World::new();
    let first = world.beat(join("a").instance("i").sequence(1));
    world.after(5_000);
    let again = world.beat(join("a").instance("i").sequence(2).request("other"));
    assert_eq!(again, first, "no new epoch, no new version");
    let ttl = Settings::default().member_lease_ttl();
    assert_eq!(
        world.member("a").lease_deadline,
        Some(world.now.plus(ttl)),
        "rule T3a: its lease was renewed"
    );

    // A client that names no instance is known by its request, until it has reported.
    let mut world = World::new();
    let first = world.beat(join("a").request("r"));
    assert_eq!(world.beat(join("a").request("r")), first);
    world.beat(obeying("a", &first));
    let anew = world.beat(join("a").request("r"));
    assert!(anew.member_epoch > first.member_epoch, "rule H11");
}

#[test]
fn h11_another_process_under_a_live_id_gets_nothing_that_the_first_may_be_reading() {
    let mut world = World::new();
    let first = world.beat(join("a").instance("first"));
    let second = world.beat(join("a").instance("second").request("r2"));
    assert_eq!(given(&second), (vec![], vec![0, 1, 2, 3]), "granted counts");
    assert!(second.member_epoch > first.member_epoch);
    world.after(14_999);
    let step = report("a", second.member_epoch, second.metadata_version.get()).instance("second");
    let second = world.beat(step);
    assert_eq!(given(&second).0, Vec::<u32>::new());
    world.after(1);
    let second = world
        .beat(report("a", second.member_epoch, second.metadata_version.get()).instance("second"));
    assert_eq!(
        given(&second),
        (vec![0, 1, 2, 3], vec![]),
        "the first one's lease is over"
    );
}

#[test]
fn c22_two_processes_with_one_id_do_not_take_it_from_each_other_in_turns() {
    let mut world = World::new();
    world.beat(join("a").instance("old").sequence(1));
    let new = world.beat(join("a").instance("new").sequence(1).request("n"));
    for sequence in 2..6 {
        let old = world.step(join("a").instance("old").sequence(sequence).request("o"));
        assert_eq!(
            (old.writes.len(), reply(old).status),
            (0, Fenced),
            "the older one does not take it back"
        );
    }
    let version = new.metadata_version.get();
    assert_eq!(
        world
            .beat(
                report("a", new.member_epoch, version)
                    .instance("new")
                    .sequence(2)
            )
            .status,
        Good
    );
    // Once the newer one is gone, the older may have the id again.
    world.after(20_000);
    world.tick();
    assert_eq!(
        world
            .beat(join("a").instance("old").sequence(9).request("late"))
            .status,
        Good
    );
}

#[test]
fn h12_an_ended_member_is_fenced_whatever_it_sends() {
    let (mut world, members) = World::settled(4, &["a"]);
    world.after(15_000);
    world.tick();
    for beat in [
        obeying("a", &members["a"]),
        report("a", 77, 1),
        leave("a", 9),
    ] {
        let step = world.step(beat);
        assert_eq!((step.writes.len(), reply(step).status), (0, Fenced));
    }
}

#[test]
fn h13_leaving_raises_the_epoch_once_and_releases_by_reports() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    let (epoch, _, version) = world.versions();
    let first = world.beat(leave("a", version).drains(&[0]));
    assert_eq!(given(&first), (vec![], vec![]), "rule H19");
    assert_eq!(world.versions().0, epoch + 1);
    assert_eq!(world.holds("a"), [0]);
    let again = world.beat(leave("a", version).drains(&[0]));
    assert_eq!(again, first);
    let b = world.beat(obeying("b", &members["b"]));
    assert_eq!(given(&b), (vec![1, 2, 3], vec![0]));
    let version = world.versions().2;
    world.beat(leave("a", version).revoked(&[0]));
    assert_eq!(world.versions().0, epoch + 1);
    let b = world.beat(obeying("b", &b));
    assert_eq!(given(&b), (vec![0, 1, 2, 3], vec![]));
    // Its record ends with its lease, and that changes nothing any more.
    let versions = world.versions();
    world.after(10_000);
    world.beat(obeying("b", &b));
    world.after(10_000);
    world.tick();
    assert_eq!(world.member("a").state, MemberState::Expired);
    assert_eq!(world.versions().0, versions.0);
    assert_eq!(
        world
            .group
            .member(&id("a"))
            .map(|member| member.holdings.len()),
        Some(0)
    );
    assert_eq!(world.group.assignable(), set(&[0, 1, 2, 3]));
}

/// It has stopped before it asks again (case C37): what it was told to let go of is not held against it (rule H20), nor kept from others.
#[test]
fn h10_o6_a_numbered_process_that_asks_again_has_let_go_of_what_it_should() {
    let mut world = World::with_shards(4);
    let numbered = |beat: support::Beat, sequence| beat.instance("p").sequence(sequence);
    let a = world.beat(numbered(join("a"), 1));
    let a = world.beat(numbered(obeying("a", &a), 2));
    world.beat(join("b"));
    world.beat(numbered(obeying("a", &a), 3).owns(&[0, 1, 2, 3]));
    assert!(world.member("a").rebalance_deadline().is_some());
    let again = world.beat(numbered(join("a").request("again"), 4));
    assert_eq!(
        (again.status, again.member_epoch),
        (Good, world.member("a").epoch.get())
    );
    assert_eq!(world.holds("a"), [0, 1], "what it may have stays its own");
    assert_eq!(world.member("a").rebalance_deadline(), None);
    // A late copy of an earlier join says nothing about now.
    world.beat(numbered(join("a"), 1));
    assert_eq!(world.holds("a"), [0, 1]);
}

/// A process that names itself was replaced by one that does not: what it still says, its leave above all, is not its successor's.
#[test]
fn h5a_h13_c22_what_a_superseded_process_says_is_not_its_nameless_successors() {
    let mut world = World::with_shards(2);
    let named = world.beat(join("a").instance("named"));
    let plain = world.beat(join("a").request("nameless"));
    assert_eq!(plain.status, Good);
    let version = named.metadata_version.get();
    for late in [
        leave("a", version).instance("named"),
        obeying("a", &plain).instance("named"),
    ] {
        assert_eq!(world.beat(late).status, Fenced);
    }
    assert_eq!(world.member("a").state, MemberState::Active);
    assert_eq!(world.member("a").instance, None);
}
