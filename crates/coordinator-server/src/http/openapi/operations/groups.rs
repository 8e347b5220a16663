//! Consumer groups, and how keys are routed to their stream.

use protocol::{CreateGroupRequest, DeleteGroupRequest, ErrorCode, Group, Routing};

use super::super::operation::{Described, delete, get, post};
use super::{CHANGE, GROUP, STORE, example};

const ONE: &str = "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}";

pub(super) fn operations() -> Vec<Described> {
    vec![
        post(ONE, "createStreamGroup", "Make a consumer group")
            .about("Makes the stream as well where there is none. A further group has the shard count of its stream; asking for another one is refused.")
            .tagged("Streams")
            .body::<CreateGroupRequest>(example!("create-stream-request.full"))
            .answers::<Group>(201, "The group is there.", example!("group.full"))
            .refuses(&[ErrorCode::GroupAlreadyExists, ErrorCode::StreamPrefixAlreadyExists])
            .refuses(&[ErrorCode::ActiveMigrationExists, ErrorCode::MetadataSyncInProgress])
            .refuses(&[ErrorCode::RedisStreamProvisioningFailed])
            .refuses(&CHANGE)
            .refuses(&STORE),
        get(ONE, "getStreamGroup", "Show a consumer group")
            .tagged("Streams")
            .answers::<Group>(200, "The group.", example!("group.full"))
            .refuses(&GROUP)
            .refuses(&STORE),
        delete(ONE, "deleteStreamGroup", "Delete a consumer group")
            .about("Without `force` only when no member is active and none that was cut off may still be reading. The streams stay.")
            .tagged("Streams")
            .body::<DeleteGroupRequest>(example!("delete-group-request.full"))
            .answers::<Group>(200, "The group as it was.", example!("group.full"))
            .refuses(&[ErrorCode::GroupHasActiveMembers, ErrorCode::MetadataSyncInProgress])
            .refuses(&GROUP)
            .refuses(&CHANGE)
            .refuses(&STORE),
        get(
            "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/producer-routing",
            "getProducerRoutingMetadata",
            "Tell where keys are published",
        )
        .about("A key's shard is told by routing version 1 from `shardCount`; see the documentation of the protocol.")
        .tagged("Producers")
        .answers::<Routing>(200, "The routing.", example!("routing.full"))
        .refuses(&GROUP)
        .refuses(&STORE),
    ]
}
