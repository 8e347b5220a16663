//! How much may happen in one run of the model: what makes the search finite. Decides nothing about what happens.

/// How often each kind of thing may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Steps of time, each one heartbeat interval.
    pub time: u8,
    /// Requests that a client gives up waiting for; they may arrive later, or never.
    pub given_up: u8,
    /// Requests that nobody waits for any more and that are still under way, at the same time; if there are more, the oldest are lost.
    pub late: u8,
    /// Requests that arrive once more.
    pub repeated: u8,
    /// Processes that end and come back as a new process of the same member.
    pub restarts: u8,
    /// Processes that begin under the id of one that lives on.
    pub twins: u8,
    /// Processes that end without a word.
    pub crashes: u8,
    /// Processes that are told to leave.
    pub shutdowns: u8,
    /// Coordinators that end between a decision and its commit.
    pub aborts: u8,
    /// Times at which no coordinator is there for a whole lease.
    pub absences: u8,
    /// Times at which the store goes back to an earlier record.
    pub losses: u8,
    /// Changes of the shard count that are asked for.
    pub scales: u8,
    /// Changes that are taken back.
    pub rollbacks: u8,
    /// Entries that are published.
    pub published: u8,
    /// Times at which Redis says a lag of 0 though entries are unread.
    pub false_lags: u8,
}

/// Takes one from a budget; says whether there was one.
pub(super) fn spend(budget: &mut u8) -> Option<()> {
    *budget = budget.checked_sub(1)?;
    Some(())
}
