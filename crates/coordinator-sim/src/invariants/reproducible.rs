//! Invariant 7: committed responses are reproducible: replaying the recorded aggregate gives the same view.

use coordinator_core::Group;
use coordinator_core::holding::Phase;
use coordinator_core::input::{Heartbeat, Input, PROTOCOL_VERSION};
use coordinator_core::member::MemberRecord;
use coordinator_core::names::{MemberId, RequestId};
use coordinator_core::numbers::Sequence;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::Clock;

use crate::violation::Invariant;

/// The same heartbeat of each member, decided by the group as it is and as it is read from its record.
pub(crate) fn check(group: &Group, clock: Clock) -> Option<(Invariant, String)> {
    let again = match Group::restore(group.record().clone(), *group.settings()) {
        Ok(again) => again,
        Err(error) => return Some((Invariant::Reproducible, error.to_string())),
    };
    for (id, member) in group.live_members() {
        let input = Input::HeartbeatReceived(sample(group, id, member));
        let (here, there) = (group.decide(clock, &input), again.decide(clock, &input));
        if here != there {
            let seen = format!("{id} is answered {here:?}, and from the record {there:?}");
            return Some((Invariant::Reproducible, seen));
        }
    }
    None
}

fn sample(group: &Group, id: &MemberId, member: &MemberRecord) -> Heartbeat {
    Heartbeat {
        protocol_version: PROTOCOL_VERSION,
        request: RequestId::new("sample"),
        addressed_to: id.clone(),
        member: id.clone(),
        epoch: i64::try_from(member.epoch.get()).unwrap_or(i64::MAX),
        version: group.metadata_version(),
        instance: member.instance.clone(),
        sequence: member.sequence.map(|last| Sequence::new(last.get() + 1)),
        name: member.name.clone(),
        max_concurrency: member.max_concurrency,
        owned: member.shards_in(Phase::Owned),
        revoking: Vec::new(),
        progress: ShardSet::new(),
    }
}
