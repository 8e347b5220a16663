//! Commands that show one answer about a group.

use protocol::{MessageQuery, PageDirection};

use super::Session;
use crate::cli::{GroupArgs, MessagesArgs};
use crate::failure::Failure;
use crate::show;

pub(super) async fn members(session: &Session, args: &GroupArgs) -> Result<(), Failure> {
    let members = session.client.members(&args.stream, args.group()).await?;
    session.answer(&members, show::members::list)
}

pub(super) async fn assignments(session: &Session, args: &GroupArgs) -> Result<(), Failure> {
    let client = &session.client;
    let assignments = client.assignments(&args.stream, args.group()).await?;
    session.answer(&assignments, show::assignments::list)
}

pub(super) async fn shards(session: &Session, args: &GroupArgs) -> Result<(), Failure> {
    let offsets = session.client.offsets(&args.stream, args.group()).await?;
    session.answer(&offsets, show::shards::list)
}

pub(super) async fn lag(session: &Session, args: &GroupArgs) -> Result<(), Failure> {
    let offsets = session.client.offsets(&args.stream, args.group()).await?;
    session.answer(&offsets, show::shards::lag)
}

pub(super) async fn messages(session: &Session, args: MessagesArgs) -> Result<(), Failure> {
    let query = MessageQuery {
        direction: if args.forward {
            PageDirection::Forward
        } else {
            PageDirection::Backward
        },
        cursor: args.cursor,
        limit: args.limit,
    };
    let (stream, group) = (&args.of.stream, args.of.group());
    let client = &session.client;
    let page = client.messages(stream, group, args.shard, &query).await?;
    session.answer(&page, |page, look| {
        let mut text = show::messages::page(page, look);
        if let Some(cursor) = &page.next_cursor {
            text.push_str("\nmore: the same with --cursor ");
            text.push_str(cursor);
        }
        text
    })
}
