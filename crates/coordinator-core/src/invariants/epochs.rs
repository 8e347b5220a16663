//! Invariant 4: epochs stand in their order, and nothing of them goes down within one lineage (rules E4, E5, E7); nobody
//! is recorded to have seen a version that there is not.

use alloc::vec::Vec;

use super::Violation;
use crate::group::Group;

pub(super) fn check(group: &Group, violations: &mut Vec<Violation>) {
    let record = group.record();
    let (group_epoch, assignment_epoch) = (record.group_epoch.get(), record.assignment_epoch.get());
    let mut must_not_exceed = |what, value, limit_of, limit| {
        if value > limit {
            violations.push(Violation::EpochAhead {
                what,
                value,
                limit_of,
                limit,
            });
        }
    };
    must_not_exceed(
        "the assignment epoch",
        assignment_epoch,
        "the group epoch",
        group_epoch,
    );
    for member in record.members.values() {
        for (what, version) in [
            ("the version with which a member joined", member.joined_at),
            (
                "the version that a member reported",
                member.reported_version,
            ),
        ] {
            must_not_exceed(
                what,
                version.get(),
                "the metadata version",
                record.metadata_version.get(),
            );
        }
    }
    for (_, member) in group.live_members() {
        must_not_exceed(
            "a member's epoch",
            member.epoch.get(),
            "the assignment epoch",
            assignment_epoch,
        );
    }
}

pub(super) fn check_succession(earlier: &Group, later: &Group, violations: &mut Vec<Violation>) {
    let (before, after) = (earlier.record(), later.record());
    let mut must_not_fall = |what, from, to| {
        if to < from {
            violations.push(Violation::WentDown { what, from, to });
        }
    };
    must_not_fall(
        "the group epoch",
        before.group_epoch.get(),
        after.group_epoch.get(),
    );
    must_not_fall(
        "the assignment epoch",
        before.assignment_epoch.get(),
        after.assignment_epoch.get(),
    );
    must_not_fall(
        "the metadata version",
        before.metadata_version.get(),
        after.metadata_version.get(),
    );
    for (id, member) in &after.members {
        if let Some(earlier) = before.members.get(id) {
            must_not_fall("a member's epoch", earlier.epoch.get(), member.epoch.get());
        }
    }
}
