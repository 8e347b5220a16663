//! Streams: making them.

use protocol::{CreateStreamRequest, ErrorCode, StreamCreated};

use super::super::operation::{Described, post};
use super::{CHANGE, STORE, example};

pub(super) fn operations() -> Vec<Described> {
    vec![
        post("/coord/v1/streams/{streamPrefix}", "createStream", "Make a stream")
            .about("Makes the shards and the consumer group named like the stream. Keys in Redis that have its name and were not made for it are left alone: the stream is refused then.")
            .tagged("Streams")
            .body::<CreateStreamRequest>(example!("create-stream-request.full"))
            .answers::<StreamCreated>(201, "The stream is there.", example!("stream-created.full"))
            .refuses(&[ErrorCode::StreamPrefixAlreadyExists, ErrorCode::RedisStreamProvisioningFailed])
            .refuses(&CHANGE)
            .refuses(&STORE),
    ]
}
