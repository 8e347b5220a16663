//! What members ask.

use protocol::{HeartbeatRequest, HeartbeatResponse, WatchQuery, WatchResponse};

use super::super::operation::{Described, get, post};
use super::{CHANGE, GROUP, STORE, example};

pub(super) fn operations() -> Vec<Described> {
    vec![
        post(
            "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/members/{memberId}/heartbeat",
            "sendConsumerHeartbeat",
            "Report as a member, and be told one's shards",
        )
        .about(HEARTBEAT)
        .tagged("Members")
        .body::<HeartbeatRequest>(example!("heartbeat-request.full"))
        .answers::<HeartbeatResponse>(
            200,
            "The answer, whatever its status.",
            example!("heartbeat-response.full"),
        )
        .refuses(&CHANGE)
        .refuses(&STORE),
        get(
            "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/watch",
            "watchStreamGroup",
            "Wait for a group to change",
        )
        .about("Answers as soon as the version of the group's metadata is above `after`, else after `waitMs`. A hint only: whoever is woken sends a heartbeat.")
        .tagged("Members")
        .query::<WatchQuery>()
        .answers::<WatchResponse>(200, "The version now.", example!("watch-response.full"))
        .refuses(&GROUP)
        .refuses(&STORE),
    ]
}

const HEARTBEAT: &str = "\
The member tells its whole state each time. What it does with the answer, by `status`:

- `OK`: starts what is assigned and not read yet, drains what is no longer assigned, and sends the new epoch from now on.
- `RETRY`: changes nothing and asks again soon.
- `SYNC_METADATA`, `REVOKE_PENDING`: takes the versions and the epoch over, also lower ones; keeps what it owns and is assigned; starts nothing.
- `UNKNOWN_MEMBER_ID`, `FENCED_MEMBER_EPOCH`: stops reading and acknowledging at once, forgets its shards, joins again with epoch 0 and empty lists.
- `UNSUPPORTED_PROTOCOL`, `INVALID_REQUEST`: stops for good and says why.";
