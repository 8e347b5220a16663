//! Who asked, as the check that came first found out. Asked once: passwords are slow to check on purpose.

use std::sync::{Arc, OnceLock};

use axum::http::request::Parts;

use crate::auth::Principal;

/// Who asked, to be filled in.
#[derive(Clone, Default)]
pub(super) struct Caller(Arc<OnceLock<Principal>>);

impl Caller {
    pub(super) fn known(&self) -> Option<&Principal> {
        self.0.get()
    }
}

/// Notes who asked, as soon as that is proved: before it is looked at what that user may do.
pub(in crate::http) fn note_caller(parts: &Parts, principal: &Principal) {
    if let Some(caller) = parts.extensions.get::<Caller>() {
        // There is one check in a request; its word counts.
        let _ = caller.0.set(principal.clone());
    }
}
