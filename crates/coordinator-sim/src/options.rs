//! What may happen in a run, and how often. Same seed and same options: same run.

use serde::{Deserialize, Serialize};

/// What may happen in a run. Everything is on by default, save faults that are planted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// How many actions there are before faults stop.
    pub steps: usize,
    /// How often each kind of action is chosen.
    pub weights: Weights,
    /// Whether the store falls over to a replica that is behind.
    pub lost_writes: bool,
    /// Whether some members neither name their process nor number their messages.
    pub plain_members: bool,
    /// Whether some streams have two consumer groups.
    pub two_groups: bool,
    /// Whether the store's clock jumps.
    pub clock_jumps: bool,
    /// Whether progress is demanded after the last action.
    pub demands_rest: bool,
    /// Faults that the store is given on purpose, to see that they are found.
    pub store_faults: StoreFaults,
    /// The rule of the core or of the machine that is broken on purpose.
    #[cfg(feature = "planted")]
    #[serde(skip)]
    pub planted: Option<crate::planted::Planted>,
    /// What counts as a violation though no rule says so: finds the way to it, and the shortest one.
    pub never: Option<Happening>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            steps: 500,
            weights: Weights::default(),
            lost_writes: true,
            plain_members: true,
            two_groups: true,
            clock_jumps: true,
            demands_rest: true,
            store_faults: StoreFaults::default(),
            #[cfg(feature = "planted")]
            planted: None,
            never: None,
        }
    }
}

impl Options {
    /// Nothing but messages goes wrong: what invariant 9 promises holds for every member.
    #[must_use]
    pub fn messages_only() -> Self {
        let weights = Weights {
            pauses: 0,
            processes: 0,
            coordinators: 0,
            store: 0,
            ..Weights::default()
        };
        Self {
            weights,
            plain_members: false,
            clock_jumps: false,
            ..Self::default()
        }
    }
}

/// How often each kind of action is chosen, in proportion to the others. 0: never.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// Time passes.
    pub time: u32,
    /// A message goes all the way and its answer comes back at once.
    pub exchanges: u32,
    /// A request arrives, and the coordinator comes to some stage of its work.
    pub arrivals: u32,
    /// An answer arrives.
    pub answers: u32,
    /// A coordinator goes on with its work.
    pub stages: u32,
    /// A message is lost.
    pub losses: u32,
    /// Workers go on.
    pub work: u32,
    /// A producer publishes.
    pub publishing: u32,
    /// A process is stopped for a while, and goes on.
    pub pauses: u32,
    /// A member's process crashes, is started again, gets a twin, or is shut down.
    pub processes: u32,
    /// A coordinator crashes, is started again, or is stopped for a while.
    pub coordinators: u32,
    /// The store is away, loses an answer, or its clock jumps; and it falls over where that is allowed.
    pub store: u32,
    /// The shard count is changed, or the change taken back.
    pub admins: u32,
    /// A coordinator goes on with what a change of the shard count asks for.
    pub chores: u32,
    /// The lag that is shown of a shard is not the true one.
    pub lag: u32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            time: 200,
            exchanges: 170,
            arrivals: 130,
            answers: 110,
            stages: 60,
            losses: 25,
            work: 150,
            publishing: 50,
            pauses: 12,
            processes: 14,
            coordinators: 12,
            store: 14,
            admins: 14,
            chores: 35,
            lag: 6,
        }
    }
}

/// Faults of the store that break a promise of its, each for the test that it is found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreFaults {
    /// A commit does not look whether a judged lease was renewed meanwhile.
    pub commit_without_lease_check: bool,
    /// A fail-over is not shown: no doubt arises, and epochs of lost writes are handed out again (rules C7 and C8).
    pub hidden_doubt: bool,
    /// The mark of rule M6 shows that somebody has always been watching.
    pub watch_without_gaps: bool,
    /// A commit does not look whether the record is still the expected one (rule E1).
    pub commit_without_stamp_check: bool,
    /// A renewal does not look whether the record is still the expected one (rule H17).
    pub renew_without_stamp_check: bool,
}

/// Something that happens in runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Happening {
    /// A shard was released by one member and granted to another.
    Handoff,
    /// A member's lease ended without a report.
    Expiry,
    /// A member was fenced.
    Fence,
    /// A change of the shard count came to its end.
    MigrationFinished,
    /// A change of the shard count was taken back, and that came to its end.
    MigrationRolledBack,
    /// A shard's stream was taken away.
    Retired,
    /// The store fell over.
    FailOver,
    /// A correction round was opened.
    Correction,
}
