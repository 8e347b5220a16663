//! Changes the shard count of a stream, or shows what that would mean.

use std::time::Instant;

use protocol::{MigrationState, NOOP_RESHARDING_ID, ScaleRequest, StreamScaled};

use super::Session;
use crate::cli::ScaleArgs;
use crate::failure::Failure;
use crate::follow::{Following, took};
use crate::plan::ScalePlan;
use crate::show::numbers::many;
use crate::show::text::word;

pub(super) async fn run(session: &Session, args: ScaleArgs) -> Result<(), Failure> {
    if !args.change.execute {
        let plan = ScalePlan::make(session, &args.stream, args.shards).await?;
        let again = args.change.again();
        return session.answer(&plan, |plan, look| plan.text(look, &again));
    }
    let request = ScaleRequest {
        target_shard_count: args.shards,
        requested_by: args.change.asker.name(),
        reason: args.change.reason(),
        deprecated_after: None,
    };
    let begun = Instant::now();
    let mut scaled = session.client.scale_stream(&args.stream, &request).await?;
    let output = session.output;
    if !output.is_json() {
        output.text(&announced(&scaled))?;
    }
    let changes = !scaled.migrations.iter().all(is_noop);
    if changes && args.waiting.is_wanted(output.terminal) {
        let following = Following {
            session,
            stream: &args.stream,
            wanted: MigrationState::Deprecated,
            limit: args.waiting.wait_timeout.map(|limit| limit.0),
        };
        let groups = scaled.affected_consumer_groups.iter().cloned();
        let changes = groups.zip(scaled.migrations.iter().cloned()).collect();
        let ended = match following.to_the_end(changes).await {
            Ok(ended) => ended,
            Err(failure) => {
                // What was begun is told all the same: it goes on.
                if output.is_json() {
                    output.json(&scaled)?;
                }
                return Err(failure);
            }
        };
        (scaled.affected_consumer_groups, scaled.migrations) = ended.into_iter().unzip();
        if !output.is_json() {
            let shards = many(args.shards as usize, "shard");
            let stream = &args.stream;
            output.text(&format!(
                "{stream}: has {shards} now, after {}",
                took(begun)
            ))?;
        }
    } else if changes && !output.is_json() {
        let stream = word(&args.stream);
        output.text(&format!("look at it: coordctl migration show {stream}"))?;
    }
    if output.is_json() {
        output.json(&scaled)?;
    }
    Ok(())
}

fn is_noop(change: &protocol::Migration) -> bool {
    change.resharding_id == NOOP_RESHARDING_ID
}

fn announced(scaled: &StreamScaled) -> String {
    let stream = &scaled.stream_prefix;
    match scaled.migrations.iter().find(|change| !is_noop(change)) {
        Some(change) => format!(
            "{stream}: {} → {} shards, {} ({})",
            change.from_shard_count,
            change.to_shard_count,
            change.resharding_id,
            scaled.affected_consumer_groups.join(", ")
        ),
        None => format!(
            "{stream}: has {} already",
            many(scaled.target_shard_count as usize, "shard")
        ),
    }
}
