//! The times a group lives by, and which of them can't work (rule H21). Does not parse text.

use alloc::vec::Vec;

use crate::assign::{AssignmentStrategy, Sticky};
use crate::evidence::DrainProof;
use crate::planted::Fault;
use crate::time::Millis;

/// Times and strategy of a group. Built by [`Settings::validated`] only.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    heartbeat_interval: Millis,
    member_lease_ttl: Millis,
    rebalance_timeout: Millis,
    stale_member_retention: Millis,
    strategy: &'static dyn AssignmentStrategy,
    drain_proof: DrainProof,
    #[cfg(feature = "planted")]
    planted: Option<Fault>,
}

/// Times before they are checked. The default is that of protocol version 1 (rule T1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How often a member reports.
    pub heartbeat_interval: Millis,
    /// How long a member lives after its last report (rule T1).
    pub member_lease_ttl: Millis,
    /// How long a member may keep a shard it should release (rule H20).
    pub rebalance_timeout: Millis,
    /// How long the record of an expired or fenced member stays (rule M2).
    pub stale_member_retention: Millis,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            heartbeat_interval: Millis::new(3_000),
            member_lease_ttl: Millis::new(15_000),
            rebalance_timeout: Millis::new(60_000),
            stale_member_retention: Millis::new(600_000),
        }
    }
}

/// Times that can't work (rule H21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A time of zero.
    #[error("{setting} must be above 0")]
    Zero {
        /// The setting, as it is called in the configuration.
        setting: &'static str,
    },
    /// A lease that a single late heartbeat ends.
    #[error("member-lease-ttl ({lease}) must be at least twice heartbeat-interval ({heartbeat})")]
    LeaseTooShort {
        /// The lease.
        lease: Millis,
        /// The interval.
        heartbeat: Millis,
    },
    /// A member would be fenced before it could report.
    #[error("rebalance-timeout ({timeout}) must be at least heartbeat-interval ({heartbeat})")]
    RebalanceTimeoutTooShort {
        /// The timeout.
        timeout: Millis,
        /// The interval.
        heartbeat: Millis,
    },
}

/// Times that work but are unwise (rule H21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsWarning {
    /// Two lost heartbeats end the lease.
    #[error(
        "member-lease-ttl ({lease}) is below three times heartbeat-interval ({heartbeat}): two lost heartbeats expire a member"
    )]
    LeaseShort {
        /// The lease.
        lease: Millis,
        /// The interval.
        heartbeat: Millis,
    },
}

impl Settings {
    /// Checks the times (rule H21).
    ///
    /// # Errors
    /// [`SettingsError`] names the first setting that can't work.
    pub fn validated(
        timing: Timing,
        strategy: &'static dyn AssignmentStrategy,
    ) -> Result<Self, SettingsError> {
        let Timing {
            heartbeat_interval,
            member_lease_ttl,
            rebalance_timeout,
            stale_member_retention,
        } = timing;
        for (setting, value) in [
            ("heartbeat-interval", heartbeat_interval),
            ("member-lease-ttl", member_lease_ttl),
            ("rebalance-timeout", rebalance_timeout),
            ("stale-member-retention", stale_member_retention),
        ] {
            if value.get() == 0 {
                return Err(SettingsError::Zero { setting });
            }
        }
        if member_lease_ttl.get() < heartbeat_interval.get().saturating_mul(2) {
            return Err(SettingsError::LeaseTooShort {
                lease: member_lease_ttl,
                heartbeat: heartbeat_interval,
            });
        }
        if rebalance_timeout < heartbeat_interval {
            return Err(SettingsError::RebalanceTimeoutTooShort {
                timeout: rebalance_timeout,
                heartbeat: heartbeat_interval,
            });
        }
        Ok(Self {
            heartbeat_interval,
            member_lease_ttl,
            rebalance_timeout,
            stale_member_retention,
            strategy,
            drain_proof: DrainProof::default(),
            #[cfg(feature = "planted")]
            planted: None,
        })
    }

    /// What works but is unwise (rule H21).
    #[must_use]
    pub fn warnings(&self) -> Vec<SettingsWarning> {
        let (lease, heartbeat) = (self.member_lease_ttl, self.heartbeat_interval);
        let short = lease.get() < heartbeat.get().saturating_mul(3);
        short
            .then_some(SettingsWarning::LeaseShort { lease, heartbeat })
            .into_iter()
            .collect()
    }

    /// How often a member reports.
    #[must_use]
    pub const fn heartbeat_interval(&self) -> Millis {
        self.heartbeat_interval
    }

    /// How long a member lives after its last report (rule T1).
    #[must_use]
    pub const fn member_lease_ttl(&self) -> Millis {
        self.member_lease_ttl
    }

    /// How long a member may keep a shard it should release (rule H20).
    #[must_use]
    pub const fn rebalance_timeout(&self) -> Millis {
        self.rebalance_timeout
    }

    /// How long the record of an expired or fenced member stays (rule M2).
    #[must_use]
    pub const fn stale_member_retention(&self) -> Millis {
        self.stale_member_retention
    }

    /// The same settings with another proof of a shard's being drained (rule G4).
    #[must_use]
    pub const fn with_drain_proof(self, drain_proof: DrainProof) -> Self {
        Self {
            drain_proof,
            ..self
        }
    }

    /// What counts as proof of a shard's being drained (rule G4).
    #[must_use]
    pub const fn drain_proof(&self) -> DrainProof {
        self.drain_proof
    }

    /// The same settings with one rule broken on purpose, to see whether that is noticed.
    #[cfg(feature = "planted")]
    #[must_use]
    pub const fn with_planted(self, fault: Fault) -> Self {
        Self {
            planted: Some(fault),
            ..self
        }
    }

    /// Whether a rule is broken on purpose.
    #[cfg(feature = "planted")]
    pub(crate) fn plants(&self, fault: Fault) -> bool {
        self.planted == Some(fault)
    }

    /// Whether a rule is broken on purpose: never.
    #[cfg(not(feature = "planted"))]
    #[allow(clippy::unused_self)]
    pub(crate) const fn plants(&self, _: Fault) -> bool {
        false
    }

    /// How target assignments are computed (rule A8).
    #[must_use]
    pub const fn strategy(&self) -> &'static dyn AssignmentStrategy {
        self.strategy
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::validated(Timing::default(), &Sticky)
            .expect("the defaults of protocol version 1 can work")
    }
}
