//! The groups that a request put back from a snapshot: each is told of for itself, also if the request failed after it.

use std::sync::{Arc, OnceLock};

use axum::http::Extensions;
use protocol::RestoredGroup;

/// The groups that were put back, to be filled in.
#[derive(Clone, Default)]
pub(super) struct PutBack(Arc<OnceLock<Vec<RestoredGroup>>>);

impl PutBack {
    pub(super) fn groups(&self) -> &[RestoredGroup] {
        self.0.get().map_or(&[], Vec::as_slice)
    }
}

/// Notes which groups a request put back.
pub(in crate::http) fn note_put_back(request: &Extensions, groups: &[RestoredGroup]) {
    if let Some(put_back) = request.get::<PutBack>() {
        // A request is handled once.
        let _ = put_back.0.set(groups.to_vec());
    }
}
