//! Commands that show one answer about a group.

use std::time::{Duration, Instant};

use protocol::{MessageQuery, PageDirection};

use super::Session;
use crate::cli::{GroupArgs, MessagesArgs};
use crate::doctor::is_stream_missing;
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

/// For how long the coordinator tells the same to all who ask what is in the shards.
const SAME: Duration = Duration::from_secs(1);

/// How often it is asked for at the most, and the least time between.
const ASKS: u32 = 3;
const BREATH: Duration = Duration::from_millis(100);

/// Whether Redis has no such shard, as far as it can be told.
async fn is_missing(session: &Session, stream: &str, group: &str, shard: u32) -> bool {
    let asked = Instant::now();
    let mut left = ASKS;
    loop {
        left -= 1;
        let Ok(offsets) = session.client.offsets(stream, group).await else {
            return false;
        };
        // What was read before says nothing of now.
        let age = Duration::from_millis(offsets.age_ms.unwrap_or_default());
        if age <= asked.elapsed() || left == 0 {
            let mut rows = offsets.shards.iter();
            return rows.any(|row| row.shard_index == shard && is_stream_missing(row));
        }
        tokio::time::sleep(SAME.saturating_sub(age).max(BREATH)).await;
    }
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
    if page.records.is_empty() && is_missing(session, stream, group, args.shard).await {
        return Err(Failure::NotFound {
            message: format!("there is no {} in Redis, and no record of it", page.stream_key),
            advice: "see docs/operations.md#a-stream-or-its-consumer-group-is-missing, and what else: coordctl doctor".to_owned(),
        });
    }
    session.answer(&page, |page, look| {
        let mut text = show::messages::page(page, look);
        if let Some(cursor) = &page.next_cursor {
            text.push_str("\nmore: the same with --cursor ");
            text.push_str(cursor);
        }
        text
    })
}
