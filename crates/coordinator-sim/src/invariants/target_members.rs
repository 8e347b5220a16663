//! Invariant 5: the target names only members that may own and shards that are assignable, and loads differ by at most one. The core looks at the record; this knows which of its findings are about it.

use coordinator_core::invariants::Violation;

pub(super) const fn is_about(violation: &Violation) -> bool {
    matches!(
        violation,
        Violation::TargetWithoutMember { .. }
            | Violation::TargetWithoutShard { .. }
            | Violation::Unbalanced { .. }
    )
}
