//! Lists, shows and creates groups.

use protocol::CreateGroupRequest;

use super::Session;
use crate::cli::{CreateGroupArgs, GroupArgs, ListArgs};
use crate::failure::Failure;
use crate::show::groups;
use crate::show::numbers::many;

pub(super) async fn list(session: &Session, args: &ListArgs) -> Result<(), Failure> {
    let mut list = session.client.groups().await?;
    if let Some(stream) = &args.stream {
        list.groups.retain(|group| group.stream_prefix == *stream);
    }
    session.answer(&list, |list, look| groups::list(&list.groups, look))
}

pub(super) async fn show(session: &Session, args: &GroupArgs) -> Result<(), Failure> {
    let group = session
        .client
        .monitored_group(&args.stream, args.group())
        .await?;
    session.answer(&group, groups::one)
}

pub(super) async fn create(session: &Session, args: CreateGroupArgs) -> Result<(), Failure> {
    let request = CreateGroupRequest {
        initial_shard_count: args.shards,
        requested_by: args.asker.name(),
        reason: args.reason,
    };
    let client = &session.client;
    let group = client
        .create_group(&args.stream, &args.group, &request)
        .await?;
    session.answer(&group, |group, _| {
        let shards = many(group.shard_count as usize, "shard");
        let (stream, name) = (&group.stream_prefix, &group.consumer_group);
        format!("{stream}/{name}: created, with the {shards} of the stream")
    })
}
