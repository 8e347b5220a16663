//! The store may have gone back: epochs leap, and nothing is granted for a while. Rules C7 and C8.

use super::super::maintenance::is_over;
use crate::draft::Draft;
use crate::group::Group;
use crate::lineage::EPOCH_LEAP;
use crate::numbers::GroupEpoch;
use crate::planted::Fault;
use crate::step::Effect;
use crate::time::{Clock, Millis, Timestamp};
use crate::write::Write;

/// Rule C8: acts on a doubt that this group has not acted on yet.
pub(in crate::decide) fn note_doubt(draft: &mut Draft<'_>) {
    let doubted_at = draft.clock().doubted_at;
    if draft.group().record.lineage.is_news(doubted_at)
        && let Some(at) = doubted_at
    {
        doubt(draft, at, 0);
    }
}

/// Rules C7 and C8: from here on epochs are above every one that was handed out, `seen` included, and nothing new is granted until whoever
/// was given a shard in the lost writes has reported or has run out of its lease.
fn doubt(draft: &mut Draft<'_>, at: Timestamp, seen: u64) {
    let known = draft.group().known_epoch().get().max(seen);
    let settings = draft.group().settings();
    let leap = if settings.plants(Fault::EpochsReused) {
        0
    } else {
        EPOCH_LEAP
    };
    let hold = if settings.plants(Fault::HoldIgnored) {
        Millis::default()
    } else {
        longest_lease(draft.group())
    };
    let hold_until = at.min(draft.clock().now).plus(hold);
    draft.write(Write::WritesDoubted {
        at,
        hold_until,
        floor: GroupEpoch::new(known.saturating_add(leap)),
    });
}

/// Rule C8: the end of a hold. Rule M7: it lies no further ahead than it could have been set.
pub(in crate::decide) fn end_hold(draft: &mut Draft<'_>) {
    let Some(until) = draft.group().record.lineage.hold_until else {
        return;
    };
    let clock = draft.clock();
    let lease = longest_lease(draft.group());
    if is_over(clock, until, lease) {
        draft.write(Write::HoldEnded);
        draft.raise_version();
    } else if until > clock.now.plus(lease) {
        draft.write(Write::HoldCut {
            until: clock.now.plus(lease),
        });
    }
}

/// Rule H5: a report shows a loss that nothing else has shown. Doubts are an order, not only moments: each is later than those before it, also
/// where the store's clock went back.
pub(super) fn doubt_by_report(draft: &mut Draft<'_>, epoch: u64) {
    let clock = draft.clock();
    let known = draft
        .group()
        .record
        .lineage
        .doubted_at
        .max(clock.doubted_at);
    doubt(draft, clock.now.or_after(known), epoch);
}

/// Rule C8: a doubt that a report brought about is one for every group of the store.
pub(in crate::decide) fn spread(writes: &[Write], clock: Clock) -> Option<Effect> {
    let doubts = writes.iter().filter_map(|write| match write {
        Write::WritesDoubted { at, .. } => Some(*at),
        _ => None,
    });
    let at = doubts.max()?;
    (Some(at) > clock.doubted_at).then_some(Effect::DoubtWrites { at })
}

/// The longest that anybody may go on reading without hearing anything.
fn longest_lease(group: &Group) -> Millis {
    let promised = group.live_members().map(|(_, member)| member.lease_ttl);
    promised.fold(group.settings().member_lease_ttl(), Ord::max)
}
