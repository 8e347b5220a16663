//! Rules G1 to G11: changes of the shard count, as one group sees them.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::Group;
use coordinator_core::evidence::{DrainProof, Open, ShardEvidence};
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::migration::{LeavingPhase, Migration, MigrationState};
use coordinator_core::names::{GroupId, ReshardingId};
use coordinator_core::numbers::{ShardCount, ShardIndex};
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::settings::Settings;
use coordinator_core::state::GroupState;
use coordinator_core::step::{Effect, Rejection, Reply, ScaleReply};
use support::shards::{
    coordinated, empty, found, observed, provisioned, resharding, retired, rollback, scale,
};
use support::{World, given, join, obeying, set};

#[test]
fn g1_g2_a_scale_out_is_recorded_provisioned_and_done_when_everybody_reads_what_it_should() {
    let (mut world, mut members) = World::settled(4, &["a", "b"]);
    let step = world.command(&scale(6));
    assert_eq!(step.reply, Reply::Scale(ScaleReply::Started(resharding())));
    assert_eq!(
        step.effects,
        [Effect::Provision {
            resharding: resharding(),
            shards: set(&[4, 5])
        }]
    );
    assert_eq!(
        (world.count(), world.assignable()),
        (4, vec![0, 1, 2, 3]),
        "nothing is routed before it exists"
    );
    world.settle(&mut members);
    assert_eq!(
        world.effects(),
        step.effects,
        "whoever comes later is asked for the same"
    );

    let (epoch, _, version) = world.versions();
    world.command(&provisioned());
    assert_eq!(
        (world.count(), world.assignable()),
        (6, vec![0, 1, 2, 3, 4, 5])
    );
    assert!(world.versions().0 > epoch && world.versions().2 > version);
    assert_eq!(world.migration().state, MigrationState::Active);
    world.settle(&mut members);
    assert_eq!(
        (world.ended(), world.group.record().migration.clone()),
        (Some(MigrationState::Deprecated), None)
    );
    assert_eq!((world.target("a").len(), world.target("b").len()), (3, 3));
    assert_eq!(
        world.command(&provisioned()).writes,
        [],
        "a step may be repeated"
    );
}

#[test]
fn g2_g6_a_scale_out_without_members_is_done_at_once() {
    let mut world = World::new();
    world.command(&scale(6));
    world.command(&provisioned());
    assert_eq!(
        (world.ended(), world.count()),
        (Some(MigrationState::Deprecated), 6)
    );
}

#[test]
fn g3_g4_g5_a_scale_in_keeps_reading_until_everything_is_proven_empty() {
    let (mut world, mut members) = World::settled(4, &["a", "b"]);
    world.command(&scale(2));
    let step = world.command(&provisioned());
    assert_eq!(
        (world.count(), world.assignable()),
        (2, vec![0, 1, 2, 3]),
        "rule G3: their owners go on reading"
    );
    assert_eq!(
        (step.effects, world.migration().state),
        (vec![], MigrationState::Active),
        "nobody has seen it yet"
    );
    // Evidence from before everybody has seen the change proves nothing.
    world.command(&observed(vec![(2, empty()), (3, empty())]));
    assert_eq!(world.leaving_in(LeavingPhase::Draining), [2, 3]);

    world.settle(&mut members);
    assert_eq!(world.migration().state, MigrationState::Draining);
    assert_eq!(
        world.effects(),
        [Effect::ReadDrainEvidence {
            resharding: resharding(),
            shards: set(&[2, 3])
        }]
    );
    world.command(&observed(vec![(2, empty()), (3, found(2, Some(10), true))]));
    assert_eq!(
        world.leaving_in(LeavingPhase::Draining),
        [2, 3],
        "all of them, or none"
    );
    let open: Vec<_> = world.migration().leaving[1]
        .open
        .iter()
        .flatten()
        .map(|open| open.condition)
        .collect();
    assert_eq!(open, [Open::Pending(2), Open::Lag(Some(10)), Open::Unread]);
    world.command(&observed(vec![(3, empty())]));
    assert_eq!(
        world.leaving_in(LeavingPhase::Draining),
        [2, 3],
        "what was not looked at is not proven"
    );

    let epoch = world.versions().0;
    world.command(&observed(vec![(2, empty()), (3, empty())]));
    assert_eq!(
        (world.leaving_in(LeavingPhase::Drained), world.assignable()),
        (vec![2, 3], vec![0, 1])
    );
    assert_eq!(
        (world.versions().0, world.effects()),
        (epoch + 1, vec![]),
        "their owners have not let go yet"
    );
    world.settle(&mut members);
    assert_eq!(
        world.effects(),
        [Effect::Retire {
            resharding: resharding(),
            shards: set(&[2, 3])
        }]
    );
    world.command(&retired(&[2]));
    assert_eq!(
        world.effects(),
        [Effect::Retire {
            resharding: resharding(),
            shards: set(&[3])
        }]
    );
    world.command(&retired(&[3]));
    assert_eq!(
        (world.ended(), world.group.record().migration.clone()),
        (Some(MigrationState::Deprecated), None)
    );
    assert_eq!(world.group.state(), GroupState::Stable);
}

#[test]
fn g5_a_shard_that_was_written_to_meanwhile_is_read_again() {
    let (mut world, mut members) = World::settled(2, &["a"]);
    world.command(&scale(1));
    world.command(&provisioned());
    world.settle(&mut members);
    world.command(&observed(vec![(1, empty())]));
    world.settle(&mut members);
    let open = found(0, Some(1), true).open_conditions(&[coordinated()], DrainProof::Lag);
    world.command(&Input::RetireRefused {
        resharding: resharding(),
        shard: ShardIndex::new(1),
        open,
    });
    assert_eq!(
        (world.assignable(), world.target("a")),
        (vec![0, 1], vec![0, 1])
    );
    world.settle(&mut members);
    assert_eq!(given(&members["a"]).0, [0, 1]);
    world.command(&observed(vec![(1, empty())]));
    world.settle(&mut members);
    world.command(&retired(&[1]));
    assert_eq!(world.ended(), Some(MigrationState::Deprecated));
}

#[test]
fn g5_who_is_in_quarantine_is_waited_for() {
    let (mut world, mut members) = World::settled(2, &["a", "b"]);
    world.command(&scale(1));
    world.command(&provisioned());
    world.settle(&mut members);
    world.command(&observed(vec![(1, empty())]));
    // The owner of the shard that leaves is cut off before it lets go.
    world.beat(obeying("b", &members["b"]).owns(&[0, 1]));
    assert_eq!((world.in_quarantine(), world.effects()), (vec![1], vec![]));
    world.after(15_000);
    world.tick();
    assert_eq!(
        world.effects(),
        [Effect::Retire {
            resharding: resharding(),
            shards: set(&[1])
        }]
    );
}

#[test]
fn g4_what_proves_that_a_shard_is_drained() {
    let open = |evidence: ShardEvidence, proof| {
        evidence
            .open_conditions(&[coordinated()], proof)
            .iter()
            .map(|open| open.condition)
            .collect::<Vec<_>>()
    };
    let by_lag = |evidence| open(evidence, DrainProof::Lag);
    assert_eq!(by_lag(empty()), []);
    assert_eq!(by_lag(ShardEvidence::Missing), []);
    assert_eq!(by_lag(ShardEvidence::NotApplicable), [], "rule G11");
    // Case C25: what lag alone would have said.
    assert_eq!(
        by_lag(found(0, Some(0), true)),
        [Open::Unread],
        "0 with entries unread"
    );
    assert_eq!(
        by_lag(found(0, Some(3), false)),
        [Open::Lag(Some(3))],
        "stuck above 0 with nothing left"
    );
    assert_eq!(
        by_lag(found(0, None, false)),
        [Open::Lag(None)],
        "unknown is no proof"
    );
    assert_eq!(by_lag(found(1, Some(0), false)), [Open::Pending(1)]);
    let by_entries = |evidence| open(evidence, DrainProof::Entries);
    assert_eq!(by_entries(found(0, None, false)), []);
    assert_eq!(by_entries(found(0, None, true)), [Open::Unread]);
    assert_eq!(
        by_lag(ShardEvidence::Groups(vec![])),
        [Open::GroupMissing],
        "where the group is gone, nobody knows what it handled"
    );
}

#[test]
fn g6_g7_zero_is_an_ordinary_target_and_nobody_need_be_there() {
    let mut world = World::with_shards(3);
    world.command(&scale(0));
    world.command(&provisioned());
    assert_eq!(
        (world.count(), world.migration().state),
        (0, MigrationState::Draining)
    );
    world.command(&observed(vec![
        (0, found(0, Some(1), true)),
        (1, empty()),
        (2, empty()),
    ]));
    assert_eq!(
        world.leaving_in(LeavingPhase::Draining),
        [0, 1, 2],
        "nobody's being there is no evidence"
    );
    let late = world.beat(join("a"));
    assert_eq!(
        given(&late).0,
        [0, 1, 2],
        "whoever comes reads what is left"
    );
    let late = world.beat(obeying("a", &late));
    world.command(&observed(vec![(0, empty()), (1, empty()), (2, empty())]));
    let late = world.beat(obeying("a", &late));
    assert_eq!(given(&late), (vec![], vec![]));
    world.beat(obeying("a", &late));
    world.command(&retired(&[0, 1, 2]));
    assert_eq!(
        (world.ended(), world.assignable()),
        (Some(MigrationState::Deprecated), vec![])
    );
}

#[test]
fn g8_a_scale_out_is_taken_back_by_draining_what_it_added() {
    let (mut world, mut members) = World::settled(2, &["a"]);
    world.command(&scale(4));
    world.command(&provisioned());
    world.settle_partly(&mut members);
    world.command(&rollback());
    assert_eq!(
        (world.count(), world.assignable()),
        (2, vec![0, 1, 2, 3]),
        "what is in the added shards is read"
    );
    assert_eq!(world.migration().state, MigrationState::RollingBack);
    assert_eq!(
        world.command(&rollback()).writes,
        [],
        "repeating it changes nothing"
    );
    world.settle(&mut members);
    assert_eq!(
        world.effects(),
        [Effect::ReadDrainEvidence {
            resharding: resharding(),
            shards: set(&[2, 3])
        }]
    );
    world.command(&observed(vec![(2, empty()), (3, ShardEvidence::Missing)]));
    world.settle(&mut members);
    world.command(&retired(&[2, 3]));
    assert_eq!(world.ended(), Some(MigrationState::RolledBack));
    assert_eq!(world.command(&rollback()).writes, []);
}

#[test]
fn g8_a_scale_in_is_taken_back_at_once_and_only_before_shards_are_on_their_way_out() {
    let (mut world, mut members) = World::settled(4, &["a", "b"]);
    world.command(&scale(2));
    world.command(&provisioned());
    world.command(&rollback());
    assert_eq!(
        (world.count(), world.ended()),
        (4, Some(MigrationState::RolledBack))
    );
    assert_eq!(
        (world.target("a"), world.target("b")),
        (vec![0, 1], vec![2, 3]),
        "nothing has moved"
    );

    world.command(&Input::ScaleRequested {
        resharding: ReshardingId::new("other"),
        target: ShardCount::new(2),
    });
    world.command(&Input::MigrationProvisioned {
        resharding: ReshardingId::new("other"),
        generations: Generations::default(),
    });
    world.settle(&mut members);
    let late = world.decide(&Input::RollbackRequested {
        resharding: ReshardingId::new("other"),
        is_decided: false,
    });
    assert_eq!(
        late,
        Err(Rejection::RollbackNotAllowed {
            state: MigrationState::Draining
        })
    );
    let unknown = ReshardingId::new("unknown");
    let refused = world.decide(&Input::RollbackRequested {
        resharding: unknown.clone(),
        is_decided: false,
    });
    assert_eq!(
        refused,
        Err(Rejection::UnknownMigration { wanted: unknown })
    );
}

#[test]
fn g8_what_was_not_yet_provisioned_is_taken_back_too() {
    let mut world = World::with_shards(2);
    world.command(&scale(3));
    world.command(&rollback());
    assert_eq!(
        (world.count(), world.assignable()),
        (2, vec![0, 1, 2]),
        "its streams may be half made, and written to"
    );
    world.command(&observed(vec![(2, ShardEvidence::Missing)]));
    world.command(&retired(&[2]));
    assert_eq!(
        (world.ended(), world.assignable()),
        (Some(MigrationState::RolledBack), vec![0, 1])
    );
}

#[test]
fn g9_one_change_at_a_time() {
    let mut world = World::new();
    let step = world.command(&scale(4));
    assert_eq!(
        (step.writes.len(), step.reply),
        (0, Reply::Scale(ScaleReply::NothingToDo))
    );
    world.command(&scale(6));
    let other = Input::ScaleRequested {
        resharding: ReshardingId::new("other"),
        target: ShardCount::new(7),
    };
    assert_eq!(
        world.decide(&other),
        Err(Rejection::ActiveMigration {
            active: resharding()
        })
    );
    let same = Input::ScaleRequested {
        resharding: ReshardingId::new("other"),
        target: ShardCount::new(6),
    };
    let step = world.command(&same);
    assert_eq!(
        (step.writes.len(), step.reply),
        (0, Reply::Scale(ScaleReply::Resumed(resharding())))
    );
}

#[test]
fn g10_a_group_that_comes_during_a_change_joins_it() {
    let (mut world, _) = World::settled(4, &["a"]);
    world.command(&scale(2));
    world.command(&provisioned());
    let id = GroupId {
        group: coordinated(),
        ..world.group.id().clone()
    };
    let beside = GroupRecord::beside(id, world.group.record(), Provisioning::Pending);
    let late = Group::restore(beside, Settings::default()).unwrap();
    let joined = late.record().migration.clone().unwrap();
    let original = world.group.record().migration.clone().unwrap();
    assert_eq!(
        joined,
        Migration {
            seen_from: late.record().metadata_version,
            ..original
        }
    );
    assert_eq!(
        (late.record().shard_count, late.assignable()),
        (ShardCount::new(2), set(&[0, 1, 2, 3]))
    );
}

/// A version of the sibling would never be reached by a group whose own begins at 1, and its shards would never be proven drained.
#[test]
fn g10_g4_a_group_that_comes_during_a_drain_looks_at_its_shards() {
    let (mut world, mut members) = World::settled(4, &["a"]);
    world.command(&scale(2));
    world.command(&provisioned());
    world.settle(&mut members);
    let id = GroupId {
        group: coordinated(),
        ..world.group.id().clone()
    };
    let beside = GroupRecord::beside(id, world.group.record(), Provisioning::Done);
    let mut late = World::with_shards(2);
    late.group = Group::restore(beside, Settings::default()).unwrap();
    late.join_and_settle("b");
    assert_eq!(
        late.effects(),
        [Effect::ReadDrainEvidence {
            resharding: resharding(),
            shards: set(&[2, 3]),
        }]
    );
}

#[test]
fn g11_where_there_is_no_data_plane_members_alone_decide() {
    let (mut world, mut members) = World::settled(4, &["a"]);
    world.command(&scale(1));
    world.command(&provisioned());
    world.settle(&mut members);
    world.command(&observed(
        (1..4)
            .map(|shard| (shard, ShardEvidence::NotApplicable))
            .collect(),
    ));
    assert_eq!(world.effects(), [], "a still holds them");
    world.settle(&mut members);
    world.command(&retired(&[1, 2, 3]));
    assert_eq!(world.ended(), Some(MigrationState::Deprecated));
}

#[test]
fn m2_finished_changes_are_remembered_up_to_a_hundred() {
    let mut world = World::with_shards(1);
    for round in 0..102_u32 {
        let id = ReshardingId::new(&format!("r{round}"));
        world.command(&Input::ScaleRequested {
            resharding: id.clone(),
            target: ShardCount::new(2 + round),
        });
        world.command(&Input::MigrationProvisioned {
            resharding: id,
            generations: Generations::default(),
        });
    }
    let finished = &world.group.record().finished_migrations;
    assert_eq!((finished.len(), finished[0].id.as_str()), (100, "r2"));
}
