//! What every command that changes something is told: who asks, why, whether really, and whether to wait.

use clap::Args;

use super::HumanDuration;

/// Who asks.
#[derive(Debug, Args)]
pub(crate) struct Asker {
    /// Who asks, for the audit [default: user@host]
    #[arg(long, env = "COORDCTL_REQUESTED_BY", value_name = "WHO")]
    pub(crate) requested_by: Option<String>,
}

/// Whether a change is only planned, or made.
#[derive(Debug, Args)]
pub(crate) struct Change {
    /// Show what would happen, and change nothing; this is the default
    #[arg(long, conflicts_with = "execute")]
    pub(crate) plan: bool,

    /// Do it; needs --reason
    #[arg(long, requires = "reason")]
    pub(crate) execute: bool,

    /// Why, for the audit; needed to do it
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    #[command(flatten)]
    pub(crate) asker: Asker,
}

/// Whether the end of a change is waited for.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Waiting {
    /// Wait until the change is through, and show what it waits for; the default on a terminal
    #[arg(long, overrides_with = "no_wait")]
    pub(crate) wait: bool,

    /// Do not wait; the default without a terminal
    #[arg(long, overrides_with = "wait")]
    pub(crate) no_wait: bool,

    /// The most to wait; after that the exit code is 7, and the change goes on
    #[arg(long, value_name = "DURATION")]
    pub(crate) wait_timeout: Option<HumanDuration>,
}

impl Waiting {
    /// Whether to wait, where standard output is a terminal or not.
    pub(crate) const fn is_wanted(self, terminal: bool) -> bool {
        self.wait || (!self.no_wait && (terminal || self.wait_timeout.is_some()))
    }
}
