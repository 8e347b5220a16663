//! Rules M1 to M7, T1, T3a and T4: what time alone brings about.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::Group;
use coordinator_core::assign::Sticky;
use coordinator_core::member::MemberState;
use coordinator_core::record::GroupRecord;
use coordinator_core::settings::{Settings, SettingsError, SettingsWarning, Timing};
use coordinator_core::state::GroupState;
use coordinator_core::step::HeartbeatStatus::Ok as Good;
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::Write;
use support::{World, given, heartbeat, id, join, obeying};

#[test]
fn t1_m1_a_lease_ends_exactly_one_lease_after_the_last_heartbeat() {
    let (mut world, members) = World::settled(4, &["a"]);
    world.after(7_000);
    world.beat(obeying("a", &members["a"]));
    world.after(14_999);
    assert_eq!(world.tick(), []);
    let (epoch, _, version) = world.versions();
    world.after(1);
    let judged = Some(world.now);
    let writes = world.tick();
    assert!(writes.contains(&Write::MemberExpired {
        member: id("a"),
        judged,
        at: world.now
    }));
    assert_eq!(
        (world.versions().0, world.versions().2),
        (epoch + 1, version + 1)
    );
    assert_eq!(
        (world.group.state(), world.target("a")),
        (GroupState::Empty, vec![])
    );
    assert_eq!(world.member("a").holdings, []);
}

#[test]
fn m1_several_that_expire_together_raise_the_epoch_once() {
    let (mut world, _) = World::settled(4, &["a", "b", "c"]);
    let (epoch, _, version) = world.versions();
    world.after(15_000);
    world.tick();
    assert_eq!(
        (world.versions().0, world.versions().2),
        (epoch + 1, version + 1)
    );
}

#[test]
fn m2_an_ended_record_stays_for_its_retention() {
    let (mut world, _) = World::settled(4, &["a"]);
    world.after(15_000);
    world.tick();
    world.after(599_999);
    assert_eq!(world.tick(), []);
    assert_eq!(world.member("a").state, MemberState::Expired);
    world.after(1);
    assert_eq!(world.tick(), [Write::MemberPruned { member: id("a") }]);
    assert_eq!(world.group.member(&id("a")), None);
    assert_eq!(world.group.next_deadline(), None);
}

#[test]
fn m3_the_state_tells_how_far_a_group_is() {
    let mut world = World::new();
    assert_eq!(world.group.state(), GroupState::Empty);
    let a = world.beat(join("a"));
    assert_eq!(
        world.group.state(),
        GroupState::Reconciling,
        "a has not reported what it was told"
    );
    world.beat(obeying("a", &a));
    assert_eq!(world.group.state(), GroupState::Stable);
    world.beat(join("b"));
    assert_eq!(world.group.state(), GroupState::Reconciling);
}

#[test]
fn m4_a_broken_record_is_reported_not_panicked_about() {
    let (world, _) = World::settled(4, &["a", "b"]);
    let mut record: GroupRecord = world.group.record().clone();
    let thief = record.members.get(&id("a")).unwrap().holdings.clone();
    let mut victim = (**record.members.get(&id("b")).unwrap()).clone();
    victim.holdings = thief;
    record.members.insert(id("b"), std::sync::Arc::new(victim));
    let broken = Group::restore(record, Settings::default()).unwrap();
    let said: Vec<_> = broken
        .check_invariants()
        .iter()
        .map(ToString::to_string)
        .collect();
    // Invariant I1.
    assert_eq!(
        said,
        [
            "shard 0 is held by 2 at once, quarantines included",
            "shard 1 is held by 2 at once, quarantines included"
        ]
    );
}

#[test]
fn m5_the_next_deadline_is_when_something_may_change() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    let lease = world.now.plus(Millis::new(15_000));
    assert_eq!(world.group.next_deadline(), Some(lease));
    world.after(3_000);
    world.beat(obeying("a", &members["a"]));
    assert_eq!(world.group.next_deadline(), Some(lease), "b's");
    assert_eq!(world.tick(), [], "a needless tick changes nothing");
}

#[test]
fn m6_nobody_is_expired_because_coordinators_were_away() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    world.after(60_000);
    world.since = world.now;
    assert_eq!(world.tick(), [], "case C33: a full lease of grace");
    world.after(14_000);
    let a = world.beat(obeying("a", &members["a"]));
    assert_eq!(a.status, Good);
    assert_eq!(world.member("b").state, MemberState::Active);
    world.after(1_000);
    world.tick();
    assert_eq!(
        (world.member("a").state, world.member("b").state),
        (MemberState::Active, MemberState::Expired)
    );
}

#[test]
fn m6_neither_a_rebalance_timeout_nor_a_quarantine_ends_because_coordinators_were_away() {
    let (mut world, members) = World::settled(4, &["a"]);
    world.beat(join("b"));
    world.beat(obeying("a", &members["a"]).owns(&[0, 1, 2, 3]));
    world.after(70_000);
    world.since = world.now;
    world.tick();
    assert_eq!(world.member("a").state, MemberState::Active);

    let (mut world, members) = World::settled(4, &["a", "b"]);
    world.beat(obeying("a", &members["a"]).owns(&[0, 1, 2]));
    assert_eq!(world.in_quarantine(), [0, 1]);
    // The store's clock jumps: to everybody else hardly any time has passed.
    world.after(1_000_000);
    world.since = world.now;
    world.tick();
    assert_eq!(world.in_quarantine(), [0, 1]);
    world.after(15_000);
    world.tick();
    assert_eq!(world.in_quarantine(), Vec::<u32>::new());
}

#[test]
fn m7_a_clock_that_jumped_back_makes_nobody_immortal() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    world.beat(obeying("a", &members["a"]).owns(&[0, 1, 2]));
    world.now = Timestamp::from_ms(500_000);
    world.since = world.now;
    world.tick();
    let latest = world.now.plus(Millis::new(15_000));
    assert_eq!(world.member("b").lease_deadline, Some(latest));
    assert_eq!(world.group.record().quarantines[0].until, latest);
    assert_eq!(world.group.next_deadline(), Some(latest));
}

#[test]
fn m7_a_longer_lease_that_was_promised_is_not_cut_short_by_new_settings() {
    let timing = Timing {
        member_lease_ttl: Millis::new(60_000),
        ..Timing::default()
    };
    let mut world = World::with(4, Settings::validated(timing, &Sticky).unwrap());
    world.beat(join("a"));
    let record = world.group.record().clone();
    world.group = Group::restore(record, Settings::default()).unwrap();
    assert_eq!(world.tick(), []);
    world.after(59_999);
    assert_eq!(
        world.tick(),
        [],
        "the member counts on the minute that it was promised"
    );
    world.after(1);
    world.tick();
    assert_eq!(world.member("a").state, MemberState::Expired);
}

#[test]
fn t3a_m7_a_longer_lease_that_was_promised_is_not_cut_short_by_a_heartbeat_under_new_settings() {
    let timing = Timing {
        member_lease_ttl: Millis::new(60_000),
        ..Timing::default()
    };
    let mut world = World::with(4, Settings::validated(timing, &Sticky).unwrap());
    let joined = world.beat(join("a"));
    let promised = world.member("a").lease_deadline;
    let record = world.group.record().clone();
    world.group = Group::restore(record, Settings::default()).unwrap();
    // The answer to this report may be lost: the member then still counts on the minute.
    world.after(3_000);
    world.beat(obeying("a", &joined));
    assert_eq!(world.member("a").lease_deadline, promised);
    world.after(56_999);
    assert_eq!(world.tick(), []);
    // Once the old promise is no longer the longer one, the new settings count.
    let told = world.beat(obeying("a", &joined).named("new"));
    assert_eq!(told.status, Good);
    assert_eq!(world.member("a").lease_ttl, Millis::new(15_000));
    let deadline = world.now.plus(Millis::new(15_000));
    assert_eq!(world.member("a").lease_deadline, Some(deadline));
}

#[test]
fn a_lease_that_the_store_lost_is_given_anew_in_full() {
    let (mut world, _) = World::settled(4, &["a"]);
    let mut record = world.group.record().clone();
    let mut member = (**record.members.get(&id("a")).unwrap()).clone();
    member.lease_deadline = None;
    record.members.insert(id("a"), std::sync::Arc::new(member));
    world.group = Group::restore(record, Settings::default()).unwrap();
    world.after(100_000);
    assert_eq!(
        world.tick(),
        [Write::LeaseSet {
            member: id("a"),
            deadline: world.now.plus(Millis::new(15_000))
        }]
    );
}

#[test]
fn t3a_every_answer_that_lets_a_client_go_on_has_renewed_its_lease() {
    let (mut world, members) = World::settled(4, &["a", "b"]);
    world.after(4_000);
    let beats: [&dyn Fn(&World) -> support::Beat; 4] = [
        &|_| obeying("a", &members["a"]),
        &|_| obeying("a", &members["a"]).owns(&[0]),
        &|_| join("b").request("another process"),
        &|world| support::leave("b", world.group.metadata_version().get()),
    ];
    for beat in beats {
        world.after(1_000);
        let beat = beat(&world);
        let name = heartbeat(beat.clone()).member;
        assert_eq!(world.beat(beat).status, Good);
        let deadline = world.group.member(&name).unwrap().lease_deadline;
        assert_eq!(
            deadline,
            Some(world.now.plus(Millis::new(15_000))),
            "{name}"
        );
    }
}

#[test]
fn t4_one_moment_serves_a_whole_decision() {
    let (mut world, _) = World::settled(4, &["a"]);
    world.after(15_000);
    let step = world.step(join("b"));
    let moments: Vec<_> = step
        .writes
        .iter()
        .filter_map(|write| match write {
            Write::MemberExpired { at, .. } => Some(*at),
            Write::MemberJoined { record, .. } => record
                .lease_deadline
                .map(|end| end.minus(Millis::new(15_000))),
            _ => None,
        })
        .collect();
    assert_eq!(moments, [world.now, world.now]);
    assert_eq!(given(&support::reply(step)).0, [0, 1, 2, 3]);
}

#[test]
fn h21_times_that_cannot_work_are_refused() {
    let with = |change: fn(&mut Timing)| {
        let mut timing = Timing::default();
        change(&mut timing);
        Settings::validated(timing, &Sticky)
    };
    let ms = Millis::new;
    assert_eq!(
        with(|t| t.heartbeat_interval = Millis::new(0)).unwrap_err(),
        SettingsError::Zero {
            setting: "heartbeat-interval"
        }
    );
    assert_eq!(
        with(|t| t.member_lease_ttl = Millis::new(0)).unwrap_err(),
        SettingsError::Zero {
            setting: "member-lease-ttl"
        }
    );
    assert_eq!(
        with(|t| t.rebalance_timeout = Millis::new(0)).unwrap_err(),
        SettingsError::Zero {
            setting: "rebalance-timeout"
        }
    );
    assert_eq!(
        with(|t| t.stale_member_retention = Millis::new(0)).unwrap_err(),
        SettingsError::Zero {
            setting: "stale-member-retention"
        }
    );
    assert_eq!(
        with(|t| t.member_lease_ttl = Millis::new(5_999)).unwrap_err(),
        SettingsError::LeaseTooShort {
            lease: ms(5_999),
            heartbeat: ms(3_000)
        }
    );
    assert_eq!(
        with(|t| t.rebalance_timeout = Millis::new(2_999)).unwrap_err(),
        SettingsError::RebalanceTimeoutTooShort {
            timeout: ms(2_999),
            heartbeat: ms(3_000)
        }
    );
    let short = with(|t| t.member_lease_ttl = Millis::new(8_999)).unwrap();
    assert_eq!(
        short.warnings(),
        [SettingsWarning::LeaseShort {
            lease: ms(8_999),
            heartbeat: ms(3_000)
        }]
    );
    assert_eq!(Settings::default().warnings(), []);
}
