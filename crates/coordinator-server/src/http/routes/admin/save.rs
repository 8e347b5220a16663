//! The metadata as a file: a line for each group, read when its turn comes. Nothing but one line is ever in memory.

use std::collections::BTreeSet;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use coordinator_core::names::GroupId;
use futures_util::stream;
use protocol::{
    IsoTimestamp, SNAPSHOT_FORMAT, SNAPSHOT_FORMAT_VERSION, SNAPSHOT_MEDIA_TYPE, SnapshotEnd,
    SnapshotGroup, SnapshotHeader, SnapshotLine, SnapshotUnreadable,
};
use sha2::{Digest, Sha256};
use store::StoreError;

use super::{hex, hex_digest};
use crate::engine::{Engine, EngineError, WrittenDown};
use crate::http::access::Administrator;
use crate::http::{ApiError, App};

pub(in crate::http) async fn save(
    State(app): State<App>,
    _: Administrator,
) -> Result<impl IntoResponse, ApiError> {
    let groups = app.engine().group_ids().await?;
    let header = SnapshotHeader {
        format: SNAPSHOT_FORMAT.to_owned(),
        format_version: SNAPSHOT_FORMAT_VERSION,
        coordinator_version: env!("CARGO_PKG_VERSION").to_owned(),
        coordinator_id: app.config().coordinator_id.clone(),
        taken_at: now(),
        groups: u64::try_from(groups.len()).unwrap_or(u64::MAX),
    };
    let mut saving = Saving {
        engine: app.engine().clone(),
        header: Some(header),
        next: None,
        groups,
        written: 0,
        digest: Some(Sha256::new()),
    };
    // A store that can't be read shows before anything is said.
    saving.next = saving.next_group().await?;
    let lines = stream::unfold(saving, |mut saving| async move {
        let line = saving.next().await?;
        Some((line, saving))
    });
    Ok((
        [(CONTENT_TYPE, SNAPSHOT_MEDIA_TYPE)],
        Body::from_stream(lines),
    ))
}

/// A snapshot that is being written.
struct Saving {
    engine: Engine,
    header: Option<SnapshotHeader>,
    /// A line that was read already.
    next: Option<SnapshotLine>,
    groups: BTreeSet<GroupId>,
    written: u64,
    /// Of what was written so far; none at the end.
    digest: Option<Sha256>,
}

impl Saving {
    /// The next line; none after the last. After a failure the answer breaks off, and has no end.
    async fn next(&mut self) -> Option<Result<Bytes, EngineError>> {
        let mut digest = self.digest.take()?;
        let line = match self.header.take() {
            Some(header) => Ok(Some(SnapshotLine::Header(header))),
            None if self.next.is_some() => Ok(self.next.take()),
            None => self.next_group().await,
        };
        match line {
            Ok(Some(line)) => {
                let text = text_of(&line);
                digest.update(&text);
                self.digest = Some(digest);
                Some(Ok(text))
            }
            Ok(None) => Some(Ok(text_of(&SnapshotLine::End(SnapshotEnd {
                groups: self.written,
                sha256: hex(&digest.finalize()),
            })))),
            Err(error) => {
                tracing::warn!(%error, "a snapshot breaks off");
                Some(Err(error))
            }
        }
    }

    async fn next_group(&mut self) -> Result<Option<SnapshotLine>, EngineError> {
        while let Some(id) = self.groups.pop_first() {
            match self.engine.written_down(&id).await {
                Ok(Some(found)) => {
                    self.written += 1;
                    return Ok(Some(SnapshotLine::Group(group(&id, found))));
                }
                // It was deleted meanwhile, or was only ever named.
                Ok(None) => {}
                Err(EngineError::Store(StoreError::Corrupt { reason, .. })) => {
                    return Ok(Some(SnapshotLine::Unreadable(SnapshotUnreadable {
                        stream_prefix: id.stream.as_str().to_owned(),
                        consumer_group: id.group.as_str().to_owned(),
                        reason,
                    })));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

fn group(id: &GroupId, found: WrittenDown) -> SnapshotGroup {
    let record = &found.record;
    let live = record.members.values().filter(|member| member.is_live());
    SnapshotGroup {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        revision: found.revision.get(),
        shard_count: record.shard_count.get(),
        metadata_version: record.metadata_version.get(),
        group_epoch: record.group_epoch.get(),
        members: u64::try_from(live.count()).unwrap_or(u64::MAX),
        sha256: hex_digest(found.text.as_bytes()),
        record: found.text,
    }
}

fn text_of(line: &SnapshotLine) -> Bytes {
    let mut text = serde_json::to_vec(line)
        .expect("types of the protocol have text keys and nothing that refuses to be written");
    text.push(b'\n');
    text.into()
}

fn now() -> IsoTimestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    IsoTimestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}
