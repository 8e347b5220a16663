//! Whether two messages come from the same process, and whether one is a late copy of another (rules O6, H9, H10).

use crate::input::Heartbeat;
use crate::member::MemberRecord;

/// Whether the sender is certainly the recorded process: both name it, and it is the same.
pub(super) fn is_same_process(member: &MemberRecord, heartbeat: &Heartbeat) -> bool {
    member.instance.is_some() && member.instance == heartbeat.instance
}

/// Rule O6: whether a join that is no copy proves that the recorded process has stopped. So it does where both name the process and number their messages, and
/// this one comes later. Whoever does not number them may have sent it before it began to read; and of two processes that name no instance either may be
/// alive.
pub(super) fn has_stopped(member: &MemberRecord, heartbeat: &Heartbeat) -> bool {
    let is_later = matches!((heartbeat.sequence, member.sequence), (Some(sent), Some(recorded)) if sent > recorded);
    is_same_process(member, heartbeat) && is_later
}

/// Whether a join is a late copy of a message that was processed already.
pub(super) fn is_copy_of_join(member: &MemberRecord, heartbeat: &Heartbeat) -> bool {
    let is_late = is_same_process(member, heartbeat)
        && matches!((heartbeat.sequence, member.sequence), (Some(sent), Some(recorded)) if sent <= recorded);
    is_late || member.join_requests.contains(&heartbeat.request)
}
