//! The coordinator dies before and after everything that it writes in a change of the shard count; another one finishes the change, and nothing is lost.
//! Rules G1 to G10, cases C45 and C47. With `--no-capture` each test tells its points.
#![allow(clippy::unwrap_used)]

mod resharding;

use protocol::MigrationState;
use resharding::case::{Case, RollBack};
use resharding::points::die_at_every_point;

const OUT: Case = Case {
    from: 2,
    to: 4,
    roll_back: RollBack::Never,
    groups: 1,
    owner_dies: false,
    two_die: false,
    joins: false,
};

const IN: Case = Case {
    from: 4,
    to: 2,
    ..OUT
};

const TO_ZERO: Case = Case {
    from: 3,
    to: 0,
    ..OUT
};

fn scale_out(case: Case) {
    die_at_every_point(
        case,
        &[
            "MigrationStarted",
            "provision of shard 2",
            "provision of shard 3",
            "MigrationMoved",
            "MigrationFinished",
        ],
    );
}

/// Rules G3 to G5 and case C45.
fn scale_in(case: Case) {
    die_at_every_point(
        case,
        &[
            "MigrationStarted",
            "MigrationMoved",
            "LeavingShardChanged",
            "seal of shard",
            "retirement of shard",
            "MigrationFinished",
        ],
    );
}

/// Rule G8.
fn roll_back(case: Case) {
    let points = die_at_every_point(case, &["MigrationMoved", "MigrationFinished"]);
    // At the first points the change may still win.
    let last = points.0.values().next_back().unwrap();
    assert_eq!(last.1, MigrationState::RolledBack);
}

#[test]
fn a_scale_out_survives_a_death_at_every_point_c47() {
    scale_out(OUT);
}

#[test]
fn a_scale_out_of_two_groups_survives_a_death_at_every_point_c47() {
    scale_out(Case { groups: 2, ..OUT });
}

#[test]
fn a_scale_in_survives_a_death_at_every_point_c45() {
    scale_in(IN);
}

#[test]
fn a_scale_in_of_two_groups_survives_a_death_at_every_point_c45() {
    scale_in(Case { groups: 2, ..IN });
}

#[test]
fn a_scale_in_survives_the_death_of_the_coordinator_and_of_the_owner_c45() {
    scale_in(Case {
        owner_dies: true,
        ..IN
    });
}

#[test]
fn a_scale_in_of_two_groups_survives_the_death_of_two_coordinators_c45() {
    scale_in(Case {
        groups: 2,
        two_die: true,
        ..IN
    });
}

#[test]
fn a_scale_out_of_two_groups_survives_the_death_of_two_coordinators_c47() {
    scale_out(Case {
        groups: 2,
        two_die: true,
        ..OUT
    });
}

/// Rule G10 and case C02.
#[test]
fn a_group_created_during_a_scale_in_survives_a_death_at_every_point_c02() {
    die_at_every_point(
        Case { joins: true, ..IN },
        &["create", "provision of shard 0", "provision of shard 1"],
    );
}

#[test]
fn a_scale_to_zero_survives_a_death_at_every_point_c45() {
    scale_in(TO_ZERO);
}

#[test]
fn a_scale_to_zero_of_two_groups_survives_a_death_at_every_point_c45() {
    scale_in(Case {
        groups: 2,
        ..TO_ZERO
    });
}

#[test]
fn taking_back_half_made_shards_survives_a_death_at_every_point() {
    for groups in [1, 2] {
        roll_back(Case {
            roll_back: RollBack::FromPreparing,
            groups,
            ..OUT
        });
    }
}

#[test]
fn taking_back_a_scale_out_survives_a_death_at_every_point() {
    for groups in [1, 2] {
        roll_back(Case {
            roll_back: RollBack::FromActive,
            groups,
            ..OUT
        });
    }
}

#[test]
fn taking_back_a_scale_in_survives_a_death_at_every_point() {
    for groups in [1, 2] {
        roll_back(Case {
            roll_back: RollBack::FromActive,
            groups,
            ..IN
        });
    }
}
