//! Lines of a body of any length: read one at a time, within limits of bytes and time, and digested on the way.

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use protocol::{ErrorCode, SNAPSHOT_LINE_MAX_BYTES, SNAPSHOT_MAX_BYTES, SnapshotLine};
use sha2::{Digest, Sha256};
use std::time::Duration;

use super::hex;
use crate::http::ApiError;

/// For how long nothing of a body may arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// A body as lines of a snapshot.
pub(super) struct Lines {
    body: Body,
    /// What arrived and was not read yet, and how much of it has no line break.
    rest: Vec<u8>,
    searched: usize,
    arrived: usize,
    number: usize,
    digest: Sha256,
    is_over: bool,
}

impl Lines {
    pub(super) fn of(body: Body) -> Self {
        Self {
            body,
            rest: Vec::new(),
            searched: 0,
            arrived: 0,
            number: 0,
            digest: Sha256::new(),
            is_over: false,
        }
    }

    /// The next line, and its text; none at the end of the body. An end has to have the digest of all that was before it.
    pub(super) async fn next(&mut self) -> Result<Option<(SnapshotLine, Vec<u8>)>, ApiError> {
        let Some(text) = self.next_text().await? else {
            return Ok(None);
        };
        self.number += 1;
        let line = protocol::decode(&text)
            .map_err(|error| self.wrong(&format!("it is no line of a snapshot: {error}")))?;
        if let SnapshotLine::End(end) = &line {
            if end.sha256 != hex(&self.digest.clone().finalize()) {
                return Err(self.wrong("the digest is not that of what was before: the file was changed, or a part is missing"));
            }
        } else {
            self.digest.update(&text);
            self.digest.update(b"\n");
        }
        Ok(Some((line, text)))
    }

    /// A refusal that names the line.
    pub(super) fn wrong(&self, what: &str) -> ApiError {
        ApiError::invalid(format!("line {}: {what}", self.number))
    }

    async fn next_text(&mut self) -> Result<Option<Vec<u8>>, ApiError> {
        loop {
            let unsearched = self.rest[self.searched..].iter();
            if let Some(at) = unsearched.clone().position(|byte| *byte == b'\n') {
                let after = self.rest.split_off(self.searched + at + 1);
                let mut line = std::mem::replace(&mut self.rest, after);
                line.pop();
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.rest.len();
            if self.searched > SNAPSHOT_LINE_MAX_BYTES {
                return Err(too_large("a line", SNAPSHOT_LINE_MAX_BYTES));
            }
            if self.is_over {
                let last = std::mem::take(&mut self.rest);
                self.searched = 0;
                return Ok(Some(last).filter(|last| !last.is_empty()));
            }
            match self.more().await? {
                Some(more) => self.rest.extend_from_slice(&more),
                None => self.is_over = true,
            }
        }
    }

    async fn more(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.body.frame())
                .await
                .map_err(|_| {
                    ApiError::invalid(format!("nothing of the body arrived for {PATIENCE:?}"))
                })?;
            let Some(frame) = frame else {
                return Ok(None);
            };
            let frame =
                frame.map_err(|error| ApiError::invalid(format!("the body broke off: {error}")))?;
            if let Ok(data) = frame.into_data() {
                self.arrived += data.len();
                if self.arrived > SNAPSHOT_MAX_BYTES {
                    return Err(too_large("the snapshot", SNAPSHOT_MAX_BYTES));
                }
                return Ok(Some(data));
            }
        }
    }
}

fn too_large(what: &str, limit: usize) -> ApiError {
    let message = format!("{what} is larger than {limit} bytes");
    ApiError::new(ErrorCode::PayloadTooLarge, message)
}
