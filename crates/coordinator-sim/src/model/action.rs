//! What can happen in the model. Each is applied by the file that its kind belongs to; here they are only named.

use std::fmt;

/// How a coordinator serves a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From what it has in memory, renewing the lease alone (rule H17).
    Short,
    /// Begin, decide, commit, apply, answer.
    Long,
}

/// One step. Positions are those in the state before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A process is started.
    Start {
        /// Which.
        process: u8,
    },
    /// One heartbeat interval passes. Every process looks at its clock.
    TimePasses,
    /// A whole lease passes and no coordinator is there (rule M6).
    NobodyWatches,
    /// A coordinator takes a request up.
    Serve {
        /// Which request.
        request: u8,
        /// How.
        way: Way,
        /// Whether a copy of it is still under way.
        again: bool,
    },
    /// A coordinator decides what time alone brings about.
    Tick,
    /// What was decided is committed and answered, or refused.
    Commit {
        /// Which of the decisions.
        pending: u8,
    },
    /// A coordinator ends in the middle of a decision.
    Abort {
        /// Which of the decisions.
        pending: u8,
    },
    /// An answer arrives.
    Hear {
        /// At which process.
        process: u8,
        /// Which of those that are under way to it.
        answer: u8,
    },
    /// A process is told that there is a newer version.
    News {
        /// Which.
        process: u8,
    },
    /// A process waits no longer for an answer.
    GiveUp {
        /// Which.
        process: u8,
    },
    /// A worker that was told to stop has ended.
    WorkerEnds {
        /// Of which process.
        process: u8,
        /// Which of its workers.
        worker: u8,
    },
    /// A process is told to leave.
    ShutDown {
        /// Which.
        process: u8,
    },
    /// A process ends without a word.
    Crash {
        /// Which.
        process: u8,
    },
    /// A process ends without a word and begins anew.
    Restart {
        /// Which.
        process: u8,
    },
    /// A second process begins under the id of one that lives on.
    Twin {
        /// Of which.
        process: u8,
    },
    /// The store goes back.
    LoseWrites {
        /// By how many commits, less one.
        back: u8,
    },
    /// Another number of shards is asked for.
    Scale,
    /// That is taken back.
    RollBack,
    /// A coordinator does to the streams what the group asks for, and tells the group.
    CarryOut,
    /// A coordinator does to the streams what the group asks for, and ends before it tells the group.
    CarryOutHalf,
    /// A coordinator tells the group what it has read of the streams.
    Observe,
    /// An entry is published.
    Publish {
        /// To which shard.
        shard: u8,
    },
    /// A process is given all that is unread of a shard.
    Read {
        /// Of which shard.
        shard: u8,
    },
    /// What is pending of a shard is handled and acknowledged by whoever reads it.
    Acknowledge {
        /// Of which shard.
        shard: u8,
    },
    /// Redis says from now on that a shard's lag is 0.
    LagLies {
        /// Of which shard.
        shard: u8,
    },
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
