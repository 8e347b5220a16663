//! Cutting a member off without giving away what it holds: rules O6, O7 and H20.

use crate::draft::Draft;
use crate::holding::{Holding, Quarantine};
use crate::names::MemberId;
use crate::planted::Fault;
use crate::write::{FenceCause, Write};

/// Fences a member. What it held stays blocked until its lease is over; the group epoch is the caller's to raise.
pub(super) fn fence(draft: &mut Draft<'_>, member: &MemberId, cause: FenceCause) {
    if !draft.group().settings().plants(Fault::FencingReleases) {
        quarantine_holdings(draft, member);
    }
    let at = draft.clock().now;
    draft.write(Write::MemberFenced {
        member: member.clone(),
        cause,
        at,
    });
}

/// Keeps what a member holds from everybody until its lease deadline. Rule O6.
pub(super) fn quarantine_holdings(draft: &mut Draft<'_>, id: &MemberId) {
    let Some(member) = draft.group().member(id) else {
        return;
    };
    if member.holdings.is_empty() {
        return;
    }
    let judged = member.lease_deadline;
    let quarantine = Quarantine {
        member: id.clone(),
        epoch: member.epoch,
        instance: member.instance.clone(),
        until: judged.unwrap_or_else(|| draft.clock().now.plus(member.lease_ttl)),
        lease_ttl: member.lease_ttl,
        holdings: member.holdings.iter().map(Holding::quarantined).collect(),
    };
    draft.write(Write::QuarantineOpened { quarantine, judged });
}
