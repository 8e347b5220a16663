//! The metadata as a file, and back.

use protocol::{ErrorCode, RestoreQuery, Restored, SNAPSHOT_MEDIA_TYPE, SnapshotLine};

use super::super::operation::{Described, get, post};
use super::{CHANGE, STORE, example};

pub(super) fn operations() -> Vec<Described> {
    vec![
        get(
            "/coord/v1/admin/snapshot",
            "saveSnapshot",
            "Save the metadata of all groups",
        )
        .about("One SnapshotLine a line: a header, the groups, and an end with the digest of all before it. What has no end is not whole.")
        .tagged("Administration")
        .tells::<SnapshotLine>()
        .answers_text(SNAPSHOT_MEDIA_TYPE, "The lines.")
        .refuses(&STORE),
        post(
            "/coord/v1/admin/snapshot/restore",
            "restoreSnapshot",
            "Restore the metadata of groups",
        )
        .about("Into an empty store, or with force. What is restored is older than what members know: they are brought up to date before anything moves.")
        .tagged("Administration")
        .query::<RestoreQuery>()
        .text_body(SNAPSHOT_MEDIA_TYPE)
        .answers::<Restored>(200, "What became of each group.", example!("restored.full"))
        .refuses(&[ErrorCode::GroupAlreadyExists, ErrorCode::PayloadTooLarge])
        .refuses(&CHANGE)
        .refuses(&STORE),
    ]
}
