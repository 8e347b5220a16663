//! Commands that only look.

use clap::Args;

/// One group.
#[derive(Debug, Args)]
pub(crate) struct GroupArgs {
    /// The stream
    pub(crate) stream: String,

    /// The group [default: the one named like the stream]
    pub(crate) group: Option<String>,
}

impl GroupArgs {
    pub(crate) fn group(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.stream)
    }
}

#[derive(Debug, Args)]
pub(crate) struct MessagesArgs {
    #[command(flatten)]
    pub(crate) of: GroupArgs,

    /// The shard
    #[arg(long, value_name = "INDEX")]
    pub(crate) shard: u32,

    /// Oldest first, instead of newest first
    #[arg(long)]
    pub(crate) forward: bool,

    /// Where to go on: what the page before named
    #[arg(long, value_name = "ID")]
    pub(crate) cursor: Option<String>,

    /// How many records
    #[arg(long, default_value_t = protocol::MESSAGE_LIMIT_DEFAULT, value_parser = clap::value_parser!(u32).range(1..=i64::from(protocol::MESSAGE_LIMIT_MAX)), value_name = "COUNT")]
    pub(crate) limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Only those of this stream, which need not exist any more
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Option<String>,

    /// Only those of this group of --stream, which need not exist any more
    #[arg(long, value_name = "GROUP", requires = "stream")]
    pub(crate) group: Option<String>,

    /// How many [default: the coordinator's]
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<u32>,
}
