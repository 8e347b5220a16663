//! Invariant 7: what is recorded gives the same group, and so the same answers, again.

use alloc::vec::Vec;

use super::Violation;
use crate::group::Group;

pub(super) fn check(group: &Group, violations: &mut Vec<Violation>) {
    let again = Group::restore(group.record().clone(), *group.settings());
    if again.is_err() {
        violations.push(Violation::NotReproducible);
    }
}
