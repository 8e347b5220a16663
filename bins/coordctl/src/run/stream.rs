//! Creates a stream.

use protocol::CreateStreamRequest;

use super::Session;
use crate::cli::CreateStreamArgs;
use crate::failure::Failure;
use crate::show::numbers::many;

pub(super) async fn create(session: &Session, args: CreateStreamArgs) -> Result<(), Failure> {
    let request = CreateStreamRequest {
        initial_shard_count: args.shards,
        requested_by: args.asker.name(),
        reason: args.reason,
    };
    let created = session.client.create_stream(&args.stream, &request).await?;
    session.answer(&created, |created, _| {
        let shards = many(created.shard_count as usize, "shard");
        format!("{}: created with {shards}", created.stream_prefix)
    })
}
