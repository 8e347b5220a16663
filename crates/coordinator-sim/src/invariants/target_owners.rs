//! Invariant 3: every assignable shard has exactly one target owner if there is a member to own it. The core looks at the record; this knows which of its findings are about it.

use coordinator_core::invariants::Violation;

pub(super) const fn is_about(violation: &Violation) -> bool {
    matches!(violation, Violation::Unowned { .. })
}
