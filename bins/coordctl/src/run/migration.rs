//! Shows changes of the shard count, and takes one back.

use std::time::Instant;

use protocol::{MigrationState, RollbackRequest};

use super::Session;
use crate::cli::{GroupArgs, RollbackArgs, ShowMigrationArgs};
use crate::failure::Failure;
use crate::follow::{Following, took};
use crate::plan::RollbackPlan;
use crate::show::migrations;
use crate::show::numbers::many;
use crate::show::text::word;

pub(super) async fn list(session: &Session, args: &GroupArgs) -> Result<(), Failure> {
    let known = session
        .client
        .migrations(&args.stream, args.group())
        .await?;
    session.answer(&known, migrations::list)
}

pub(super) async fn show(session: &Session, args: &ShowMigrationArgs) -> Result<(), Failure> {
    let id = id_of(session, args).await?;
    let client = &session.client;
    let change = client.migration(&args.stream, args.group(), &id).await?;
    session.answer(&change, migrations::one)
}

pub(super) async fn roll_back(session: &Session, args: RollbackArgs) -> Result<(), Failure> {
    let id = id_of(session, &args.of).await?;
    let (stream, group) = (args.of.stream.as_str(), args.of.group());
    if !args.change.execute {
        let plan = RollbackPlan::make(session, stream, group, &id).await?;
        let again = args.change.again();
        return session.answer(&plan, |plan, look| plan.text(look, &again));
    }
    let request = RollbackRequest {
        requested_by: args.change.asker.name(),
        reason: args.change.reason(),
    };
    let begun = Instant::now();
    let client = &session.client;
    let mut change = client.roll_back(stream, group, &id, &request).await?;
    let output = session.output;
    let shards = many(change.from_shard_count as usize, "shard");
    if !output.is_json() {
        output.text(&format!("{stream}: back to {shards}, {id}"))?;
    }
    if args.waiting.is_wanted(output.terminal) {
        let following = Following {
            session,
            stream,
            wanted: MigrationState::RolledBack,
            limit: args.waiting.wait_timeout.map(|limit| limit.0),
        };
        let groups = session.groups_of(stream).await?;
        let changes = groups
            .into_iter()
            .map(|of| (of.consumer_group, change.clone()));
        let ended = match following.to_the_end(changes.collect()).await {
            Ok(ended) => ended,
            Err(failure) => {
                // What was begun is told all the same: it goes on.
                if output.is_json() {
                    output.json(&change)?;
                }
                return Err(failure);
            }
        };
        let of_group = ended.into_iter().find(|(name, _)| name == group);
        change = of_group.map_or(change, |(_, change)| change);
        if !output.is_json() {
            output.text(&format!(
                "{stream}: has {shards} again, after {}",
                took(begun)
            ))?;
        }
    } else if !output.is_json() {
        let stream = word(stream);
        output.text(&format!(
            "look at it: coordctl migration show {stream} {id}"
        ))?;
    }
    if output.is_json() {
        output.json(&change)?;
    }
    Ok(())
}

/// The change that was named, else the one that is under way.
async fn id_of(session: &Session, args: &ShowMigrationArgs) -> Result<String, Failure> {
    if let Some(id) = &args.id {
        return Ok(id.clone());
    }
    let client = &session.client;
    let known = client.migrations(&args.stream, args.group()).await?;
    known.active_resharding_id.ok_or_else(|| Failure::NotFound {
        message: format!("no change of {} is under way", args.stream),
        advice: format!(
            "coordctl migrations {} shows those that are through",
            word(&args.stream)
        ),
    })
}
