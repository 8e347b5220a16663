//! Commands about contexts: coordinators and tokens that are kept.

use clap::Subcommand;

/// The coordinators and tokens that are kept.
#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// All contexts
    List,
    /// One context; its token is never shown
    Show {
        /// The context [default: the current one]
        name: Option<String>,
    },
    /// Make a context the current one
    Use {
        /// The context
        name: String,
    },
    /// Forget a context and its token
    Delete {
        /// The context
        name: String,
    },
}
