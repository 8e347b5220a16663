//! Lists, shows and creates groups.

use protocol::{CreateGroupRequest, ErrorCode, GroupsQuery};

use super::Session;
use crate::cli::{CreateGroupArgs, GroupArgs, ListArgs};
use crate::failure::Failure;
use crate::show::groups;
use crate::show::numbers::many;
use crate::show::text::{printable, word};

pub(super) async fn list(session: &Session, args: &ListArgs) -> Result<(), Failure> {
    let query = GroupsQuery {
        stream_prefix: args.stream.clone(),
        ..GroupsQuery::default()
    };
    let list = session.client.groups_page(&query).await?;
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
    let is_new = is_new(session, &args.stream).await?;
    if is_new && args.shards.is_none() {
        let stream = word(&args.stream);
        return Err(Failure::NotFound {
            message: format!("there is no stream `{}`", printable(&args.stream)),
            advice: format!(
                "make it first: coordctl stream create {stream} --shards N; or, with this group alone, add --shards N"
            ),
        });
    }
    let group = client
        .create_group(&args.stream, &args.group, &request)
        .await?;
    session.answer(&group, |group, _| {
        let shards = many(group.shard_count as usize, "shard");
        let (stream, name) = (&group.stream_prefix, &group.consumer_group);
        if is_new {
            format!("{stream}/{name}: created, and with it the stream {stream}, with {shards}")
        } else {
            format!("{stream}/{name}: created, with the {shards} of the stream")
        }
    })
}

/// Whether the stream has no group at all. The one named like it is asked for first: the list may lag behind what was just made.
async fn is_new(session: &Session, stream: &str) -> Result<bool, Failure> {
    match session.client.group(stream, stream).await {
        Ok(_) => return Ok(false),
        Err(error) if error.code() == Some(&ErrorCode::GroupNotFound) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(session.listed(stream).await?.is_empty())
}
