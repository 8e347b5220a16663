//! Whether two messages come from the same process, and whether one is a late copy of another (rules O6, H9, H10).

use crate::input::Heartbeat;
use crate::member::MemberRecord;

/// Whether the sender is certainly the recorded process: both name it, and it is the same.
pub(super) fn is_same_process(member: &MemberRecord, heartbeat: &Heartbeat) -> bool {
    member.instance.is_some() && member.instance == heartbeat.instance
}

/// Whether a join is a late copy of a message that was processed already.
pub(super) fn is_copy_of_join(member: &MemberRecord, heartbeat: &Heartbeat) -> bool {
    let is_late = is_same_process(member, heartbeat)
        && matches!((heartbeat.sequence, member.sequence), (Some(sent), Some(recorded)) if sent <= recorded);
    is_late || member.join_requests.contains(&heartbeat.request)
}
