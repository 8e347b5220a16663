//! What a machine is configured with, and whether that can work. Where the values come from is not known here.

use super::planted::MachineFault;

/// Settings of one member.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MachineSettings {
    /// The member's id.
    pub member_id: String,
    /// A name for people.
    pub member_name: Option<String>,
    /// Names this incarnation of the process. A new one for every machine that starts from sequence 1.
    pub instance_id: String,
    /// Where the member runs.
    pub rack: Option<String>,
    /// How many workers the member may run at once; reported, not enforced.
    pub max_concurrency: u32,
    /// How often to send until an answer says otherwise, in milliseconds.
    pub heartbeat_interval_ms: u64,
    /// How long the member lease is until an answer says otherwise, in milliseconds.
    pub member_lease_ttl_ms: u64,
    /// By how much of it, in percent, the client's own lease is shorter (rule T2).
    pub lease_margin_percent: u32,
    /// How long leaving may take, in milliseconds.
    pub shutdown_timeout_ms: u64,
    /// The first wait after a refused membership, in milliseconds; it doubles with each further one.
    pub rejoin_backoff_ms: u64,
    /// The longest such wait, in milliseconds.
    pub rejoin_backoff_max_ms: u64,
    /// After how many failures in a row without a membership the health is failing.
    pub failing_after: u32,
    /// Where the jitter of all waits begins.
    pub jitter_seed: u64,
    /// The rule that is broken on purpose, to see whether that is noticed.
    #[cfg(feature = "planted")]
    pub planted: Option<MachineFault>,
}

/// A setting that can't work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct SettingsError {
    /// The setting by its name.
    pub setting: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

impl SettingsError {
    /// A setting and what is wrong with it.
    pub(crate) fn new(setting: &'static str, problem: impl Into<String>) -> Self {
        Self {
            setting,
            problem: problem.into(),
        }
    }
}

impl MachineSettings {
    /// The defaults of protocol version 1 for the given member and process.
    #[must_use]
    pub fn new(member_id: impl Into<String>, instance_id: impl Into<String>) -> Self {
        Self {
            member_id: member_id.into(),
            member_name: None,
            instance_id: instance_id.into(),
            rack: None,
            max_concurrency: 1,
            heartbeat_interval_ms: protocol::DEFAULT_HEARTBEAT_INTERVAL_MS,
            member_lease_ttl_ms: protocol::DEFAULT_MEMBER_LEASE_TTL_MS,
            lease_margin_percent: 10,
            shutdown_timeout_ms: 30_000,
            rejoin_backoff_ms: 200,
            rejoin_backoff_max_ms: 30_000,
            failing_after: 5,
            jitter_seed: 0,
            #[cfg(feature = "planted")]
            planted: None,
        }
    }

    /// Whether a rule is broken on purpose.
    #[cfg(feature = "planted")]
    pub(crate) fn plants(&self, fault: MachineFault) -> bool {
        self.planted == Some(fault)
    }

    /// Whether a rule is broken on purpose: never.
    #[cfg(not(feature = "planted"))]
    #[allow(clippy::unused_self)]
    pub(crate) const fn plants(&self, _: MachineFault) -> bool {
        false
    }

    /// Checks everything that can be checked without the coordinator.
    ///
    /// # Errors
    ///
    /// The first setting that can't work.
    pub fn check(&self) -> Result<(), SettingsError> {
        protocol::check_member_id(&self.member_id)
            .map_err(|error| SettingsError::new("member_id", error.problem.to_string()))?;
        if self.instance_id.is_empty() {
            return Err(SettingsError::new("instance_id", "must not be empty"));
        }
        let not_zero = [
            ("max_concurrency", u64::from(self.max_concurrency)),
            ("heartbeat_interval_ms", self.heartbeat_interval_ms),
            ("member_lease_ttl_ms", self.member_lease_ttl_ms),
            ("rejoin_backoff_ms", self.rejoin_backoff_ms),
            ("failing_after", u64::from(self.failing_after)),
        ];
        if let Some((setting, _)) = not_zero.into_iter().find(|(_, value)| *value == 0) {
            return Err(SettingsError::new(setting, "must not be 0"));
        }
        if !(1..=90).contains(&self.lease_margin_percent) {
            let problem = format!("is {}, must be from 1 to 90", self.lease_margin_percent);
            return Err(SettingsError::new("lease_margin_percent", problem));
        }
        if self.member_lease_ttl_ms < self.heartbeat_interval_ms.saturating_mul(2) {
            let problem = format!(
                "is {}, must be at least twice heartbeat_interval_ms ({})",
                self.member_lease_ttl_ms, self.heartbeat_interval_ms
            );
            return Err(SettingsError::new("member_lease_ttl_ms", problem));
        }
        if self.rejoin_backoff_max_ms < self.rejoin_backoff_ms {
            let problem = format!(
                "is {}, must not be below rejoin_backoff_ms ({})",
                self.rejoin_backoff_max_ms, self.rejoin_backoff_ms
            );
            return Err(SettingsError::new("rejoin_backoff_max_ms", problem));
        }
        Ok(())
    }
}
