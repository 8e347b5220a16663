//! Changes of the shard count: rules G1 to G11. Here, what all parts of it share; one file for each step.

mod advance;
mod drain;
mod effects;
mod rollback;
mod scale;

use alloc::vec::Vec;

pub(super) use advance::advance;
pub(super) use drain::{drain_observed, retire_refused, shards_retired};
pub(super) use effects::effects;
pub(super) use rollback::rollback;
pub(super) use scale::{note_generations, provisioned, scale};

use super::recompute;
use crate::draft::Draft;
use crate::group::Group;
use crate::migration::{LeavingShard, Migration, MigrationState};
use crate::names::ReshardingId;
use crate::write::Write;

/// The change under way, if it is the one that is spoken of.
fn current<'a>(group: &'a Group, resharding: &ReshardingId) -> Option<&'a Migration> {
    group
        .record
        .migration
        .as_ref()
        .filter(|migration| migration.id == *resharding)
}

/// Takes the change to another state. Clients see that (rule E2), and what leaves is looked at once they have.
fn move_to(draft: &mut Draft<'_>, state: MigrationState, leaving: Vec<LeavingShard>) {
    let at = draft.clock().now;
    let seen_from = draft.raise_version();
    draft.write(Write::MigrationMoved {
        state,
        at,
        seen_from,
        leaving,
    });
}

/// Makes a change, and computes the target anew if it changed what is assignable. Rule E3.
fn changing_assignable(draft: &mut Draft<'_>, change: impl FnOnce(&mut Draft<'_>)) {
    let before = draft.group().assignable();
    change(draft);
    if draft.group().assignable() != before {
        draft.raise_group_epoch();
        draft.raise_version();
        recompute::recompute_if_due(draft);
    }
}

/// Rule G4: whether every live member has seen the version since which shards leave; so also where none is live (rule G6).
fn is_seen_by_all(group: &Group, migration: &Migration) -> bool {
    group
        .live_members()
        .all(|(_, member)| member.reported_version >= migration.seen_from)
}
