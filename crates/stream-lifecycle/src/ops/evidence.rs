//! What a drain still waits for (rule G4), as one look at a stream tells it. The proof itself is part of the removal.

use crate::error::LifecycleError;
use crate::model::DrainProof;
use crate::wire::Reply;

/// What a drain still waits for in one group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupEvidence {
    /// Its name; what of it is no text is replaced.
    pub name: String,
    /// How many entries are delivered and not acknowledged.
    pub pending: u64,
    /// How many entries are not delivered yet; none where Redis does not know, or says what can't be (case C25).
    pub lag: Option<u64>,
    /// Whether there is an entry after the last one delivered.
    pub has_unread: bool,
    /// How many entries were trimmed or deleted before the group was given them, as far as its reader counted (case C30).
    pub trimmed_unread: u64,
}

impl GroupEvidence {
    /// Whether this proof would find the group drained.
    #[must_use]
    pub fn is_drained(&self, proof: DrainProof) -> bool {
        let is_done = self.pending == 0 && !self.has_unread;
        is_done && (proof == DrainProof::Entries || self.lag == Some(0))
    }
}

/// What a drain still waits for, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrainEvidence {
    /// Whether the stream is missing although its generation is alive: what was in it is lost, and no group is left.
    pub is_missing: bool,
    /// How many entries the stream has; 0 if it is missing.
    pub length: u64,
    /// Every group of the stream, those of plain clients too.
    pub groups: Vec<GroupEvidence>,
}

fn group(mut row: Reply) -> Result<GroupEvidence, LifecycleError> {
    Ok(GroupEvidence {
        name: row.text()?,
        pending: row.number()?,
        lag: row.optional_number()?,
        has_unread: row.number()? == 1,
        trimmed_unread: row.number()?,
    })
}

/// Reads the answer of the script.
pub(super) fn evidence(mut reply: Reply) -> Result<DrainEvidence, LifecycleError> {
    let Some(length) = reply.optional_number()? else {
        return Ok(DrainEvidence {
            is_missing: true,
            length: 0,
            groups: Vec::new(),
        });
    };
    let groups: Result<Vec<GroupEvidence>, LifecycleError> =
        reply.rows()?.into_iter().map(group).collect();
    Ok(DrainEvidence {
        is_missing: false,
        length,
        groups: groups?,
    })
}
