//! One thing that happens in a world, as data: it can be written down, and applied to any world. What does not apply changes nothing.

use serde::{Deserialize, Serialize};

/// One thing that happens. Positions that nothing is at make it do nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// True time passes; what is due by itself happens meanwhile.
    Pass {
        /// For so long.
        ms: u64,
    },
    /// The first request of a process under way is served to the end and its answer arrives.
    Exchange {
        /// The process.
        process: usize,
        /// By whom it is served.
        coordinator: usize,
    },
    /// A request arrives.
    Arrive {
        /// The process that sent it.
        process: usize,
        /// Which of its requests under way.
        nth: usize,
        /// Where it arrives.
        coordinator: usize,
        /// Whether another copy stays under way.
        copy: bool,
        /// How many stages of its work the coordinator does at once.
        stages: usize,
        /// For how long it then does nothing of it by itself.
        hold_ms: u64,
    },
    /// A coordinator goes on with the work on a group.
    Stages {
        /// The coordinator.
        coordinator: usize,
        /// The group.
        group: usize,
        /// How many stages.
        stages: usize,
        /// For how long it then does nothing of it by itself.
        hold_ms: u64,
    },
    /// An answer arrives.
    Answer {
        /// The process that it is for.
        process: usize,
        /// Which of its answers under way.
        nth: usize,
        /// Whether another copy stays under way.
        copy: bool,
    },
    /// A request is lost.
    LoseRequest {
        /// The process that sent it.
        process: usize,
        /// Which of its requests under way.
        nth: usize,
        /// Whether the process learns at once that it failed.
        is_noticed: bool,
    },
    /// An answer is lost.
    LoseAnswer {
        /// The process that it is for.
        process: usize,
        /// Which of its answers under way.
        nth: usize,
    },
    /// A process hears that the group has a new version.
    Hint {
        /// The process.
        process: usize,
    },
    /// Every worker of a process goes on.
    Work {
        /// The process.
        process: usize,
        /// How many steps each.
        steps: usize,
    },
    /// One worker of a process goes on by one step.
    WorkOne {
        /// The process.
        process: usize,
        /// The shard of the worker.
        shard: u32,
    },
    /// A producer publishes.
    Publish {
        /// The producer.
        producer: usize,
        /// What decides the shard.
        key: u32,
    },
    /// A producer asks for the number of shards.
    Refresh {
        /// The producer.
        producer: usize,
    },
    /// A process does nothing for a while, then goes on where it was.
    PauseProcess {
        /// The process.
        process: usize,
        /// For so long.
        ms: u64,
    },
    /// A process ends without a word.
    Crash {
        /// The process.
        process: usize,
    },
    /// A process begins to leave in order.
    ShutDown {
        /// The process.
        process: usize,
    },
    /// A member that has no process gets one; `beside`: it gets one in any case.
    Start {
        /// The member.
        member: usize,
        /// Whether an earlier process lives on.
        beside: bool,
    },
    /// A coordinator ends without a word.
    CrashCoordinator {
        /// The coordinator.
        coordinator: usize,
    },
    /// A coordinator begins anew, with nothing in memory.
    StartCoordinator {
        /// The coordinator.
        coordinator: usize,
    },
    /// A coordinator does nothing for a while, then goes on where it was.
    PauseCoordinator {
        /// The coordinator.
        coordinator: usize,
        /// For so long.
        ms: u64,
    },
    /// The store answers nobody for a while.
    StoreAway {
        /// For so long.
        ms: u64,
    },
    /// The answer of the next commit is lost.
    LoseCommitAnswer {
        /// Whether the commit takes place.
        is_applied: bool,
        /// Whether the coordinator can read back what became of it.
        is_read_back: bool,
    },
    /// The store falls over to a replica.
    FailOver {
        /// How many commits the replica is behind.
        behind: usize,
    },
    /// The store's clock jumps.
    JumpClock {
        /// By so much; negative: back.
        ms: i64,
    },
    /// Another number of shards is asked for.
    Scale {
        /// Who is asked.
        coordinator: usize,
        /// The number.
        target: u32,
    },
    /// The change of the shard count is to be taken back.
    RollBack {
        /// Who is asked.
        coordinator: usize,
    },
    /// A coordinator goes on with what a change of the shard count asks for.
    Chore {
        /// The coordinator.
        coordinator: usize,
        /// How many stages.
        stages: usize,
        /// For how long it then does nothing of it by itself.
        hold_ms: u64,
    },
    /// From now on the lag that is shown is not the true one.
    BendLag {
        /// The shard.
        shard: u32,
        /// The group.
        group: usize,
        /// What is shown.
        lag: ShownLag,
    },
}

/// The lag that a server shows. Rule G4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownLag {
    /// The number of entries that are not delivered.
    #[default]
    True,
    /// None.
    Unknown,
    /// Zero, whatever is left.
    Zero,
    /// One more than there is.
    TooHigh,
}
