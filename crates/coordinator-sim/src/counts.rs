//! What happened in runs, in numbers.

use std::collections::BTreeSet;
use std::fmt;

/// No more distinct records than these are kept apart.
const MOST_STATES: usize = 4_000_000;

/// What happened in one run or in many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs.
    pub seeds: u64,
    /// Actions, those of the calm at the end left out.
    pub steps: u64,
    /// Commits of group records.
    pub commits: u64,
    /// Renewals of leases on the short way.
    pub renewals: u64,
    /// Heartbeats that were answered.
    pub heartbeats: u64,
    /// Shards released by one member and granted to another.
    pub handoffs: u64,
    /// Changes of the shard count that came to their end.
    pub migrations_finished: u64,
    /// Changes of the shard count that were taken back, to the end.
    pub migrations_rolled_back: u64,
    /// Shard streams taken away.
    pub retired: u64,
    /// Retirements that the last look at the stream refused.
    pub retire_refused: u64,
    /// Members whose lease ended without a report.
    pub expiries: u64,
    /// Members that were fenced.
    pub fences: u64,
    /// Fall-overs of the store.
    pub fail_overs: u64,
    /// Correction rounds that were opened.
    pub corrections: u64,
    /// Entries published.
    pub published: u64,
    /// Entries handled, each time counted.
    pub handled: u64,
    /// Distinct records of groups, by a digest of what is in them without times.
    pub(crate) states: BTreeSet<u64>,
}

impl Counts {
    /// Distinct records of groups; times are left out.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn saw_state(&mut self, digest: u64) {
        if self.states.len() < MOST_STATES {
            self.states.insert(digest);
        }
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.steps += other.steps;
        self.commits += other.commits;
        self.renewals += other.renewals;
        self.heartbeats += other.heartbeats;
        self.handoffs += other.handoffs;
        self.migrations_finished += other.migrations_finished;
        self.migrations_rolled_back += other.migrations_rolled_back;
        self.retired += other.retired;
        self.retire_refused += other.retire_refused;
        self.expiries += other.expiries;
        self.fences += other.fences;
        self.fail_overs += other.fail_overs;
        self.corrections += other.corrections;
        self.published += other.published;
        self.handled += other.handled;
        for digest in &other.states {
            self.saw_state(*digest);
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.states.len() < MOST_STATES {
            ""
        } else {
            " or more"
        };
        writeln!(f, "seeds {}, steps {}", self.seeds, self.steps)?;
        writeln!(
            f,
            "commits {}, renewals {}, heartbeats {}",
            self.commits, self.renewals, self.heartbeats
        )?;
        writeln!(f, "states {}{more}", self.states())?;
        writeln!(f, "handoffs {}", self.handoffs)?;
        writeln!(
            f,
            "migrations finished {}, rolled back {}",
            self.migrations_finished, self.migrations_rolled_back
        )?;
        writeln!(
            f,
            "shards retired {}, refused {}",
            self.retired, self.retire_refused
        )?;
        writeln!(f, "expiries {}, fences {}", self.expiries, self.fences)?;
        writeln!(
            f,
            "fail-overs {}, corrections {}",
            self.fail_overs, self.corrections
        )?;
        write!(
            f,
            "entries published {}, handled {} (each group reads each entry, some twice)",
            self.published, self.handled
        )
    }
}
