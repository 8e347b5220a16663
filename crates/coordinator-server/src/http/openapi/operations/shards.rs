//! What is in the shard streams.

use protocol::{ErrorCode, MessagePage, MessageQuery, Offsets};

use super::super::operation::{Described, get};
use super::{GROUP, STORE, STREAMS, example};

pub(super) fn operations() -> Vec<Described> {
    vec![
        get(
            "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/offsets",
            "getOffsets",
            "Tell how far a group has come in each shard",
        )
        .about("At most a second old; `ageMs` says how much. What Redis can't tell is null, never 0; each shard fails alone and says why.")
        .tagged("Monitoring")
        .answers::<Offsets>(200, "The shards and their sums.", example!("offsets.full"))
        .refuses(&STREAMS)
        .refuses(&GROUP)
        .refuses(&STORE),
        get(
            "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/shards/{shardIndex}/messages",
            "getShardMessages",
            "Look at the records of a shard",
        )
        .about("One page, of fewer records than asked for where they are large: of about 4 MiB, values above 256 KiB being null. Nothing is delivered to anyone.")
        .tagged("Monitoring")
        .query::<MessageQuery>()
        .answers::<MessagePage>(200, "The page.", example!("message-page.full"))
        .refuses(&[ErrorCode::NotFound])
        .refuses(&STREAMS)
        .refuses(&GROUP)
        .refuses(&STORE),
    ]
}
