//! Invariant 4: epochs stand in their order, and nothing of them goes down within one lineage. The core looks at the record; this knows which of its findings are about it.

use coordinator_core::invariants::Violation;

pub(super) const fn is_about(violation: &Violation) -> bool {
    matches!(
        violation,
        Violation::EpochAhead { .. } | Violation::WentDown { .. }
    )
}
