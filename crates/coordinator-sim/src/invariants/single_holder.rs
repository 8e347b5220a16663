//! Invariant 1: no shard is granted to two members at once, counting quarantine. The core looks at the record; this knows which of its findings are about it.

use coordinator_core::invariants::Violation;

pub(super) const fn is_about(violation: &Violation) -> bool {
    matches!(
        violation,
        Violation::HeldTwice { .. } | Violation::HoldersMiscounted { .. }
    )
}
