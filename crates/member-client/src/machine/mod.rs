//! The membership of one member, as a pure state machine: facts and time in, actions out. It has no clock, no randomness, no
//! task and no socket; the driver (or a simulator) has them.
//!
//! Call contract: `handle` is called with every fact, in order, with a `now` that never goes back; its actions are carried
//! out in order; and at the latest at [`MemberMachine::next_deadline`] it is called with [`Event::Tick`]. Late or needless
//! ticks are harmless.

mod action;
mod answer;
mod backoff;
mod event;
mod grant;
mod membership;
mod phase;
mod planted;
mod request;
mod settings;
mod shards;
mod time;

use protocol::ShardId;

pub use action::{Action, Health, StopReason};
pub use event::{Event, FailureKind};
pub use grant::GrantId;
#[cfg(feature = "planted")]
pub use planted::MachineFault;
pub use settings::{MachineSettings, SettingsError};
pub use time::MonotonicMillis;

use backoff::Jitter;
use phase::{Next, Outstanding, Phase, Timing};
use planted::MachineFault as Fault;
use shards::{Ended, Shards};

/// One logical member.
///
/// ```
/// use member_client::machine::{Action, Event, MachineSettings, MemberMachine, MonotonicMillis};
///
/// let mut machine = MemberMachine::new(MachineSettings::new("m-1", "1f0c")).expect("settings that work");
/// let actions = machine.handle(MonotonicMillis::new(0), Event::Started);
/// let [Action::SendHeartbeat(join)] = &actions[..] else { panic!("it joins first") };
/// assert_eq!((join.member_epoch, join.sequence), (0, Some(1)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemberMachine {
    settings: MachineSettings,
    phase: Phase,
    epoch: i64,
    metadata_version: u64,
    sequence: u64,
    grants: u64,
    shards: Shards,
    /// Whether the last accepted answer was OK: only then shards may start.
    may_start: bool,
    outstanding: Option<Outstanding>,
    /// Rule T2: the end of the client's own lease. Set while a member or leaving as one.
    lease_until: Option<MonotonicMillis>,
    timing: Timing,
    /// The next regular heartbeat.
    send_at: MonotonicMillis,
    /// No heartbeat before this, however urgent.
    not_before: MonotonicMillis,
    urgent: bool,
    /// A version somebody spoke of and no answer has shown yet.
    hint: Option<u64>,
    /// Failures in a row since the last accepted answer.
    failures: u32,
    /// Refusals among them.
    rejections: u32,
    /// When the present membership began.
    joined_at: MonotonicMillis,
    /// Since when something has been draining.
    draining_since: Option<MonotonicMillis>,
    /// How often in a row the member was thrown out, soon after it had joined, without having done anything wrong.
    takeovers: u32,
    shutdown_until: Option<MonotonicMillis>,
    /// How long that is from when it was told to end.
    shutdown_limit_ms: u64,
    health: Health,
    jitter: Jitter,
}

impl MemberMachine {
    /// A member that does not exist yet: send it [`Event::Started`].
    ///
    /// # Errors
    ///
    /// The first setting that can't work.
    pub fn new(settings: MachineSettings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            phase: Phase::New,
            epoch: protocol::JOIN_EPOCH,
            metadata_version: 0,
            sequence: 0,
            grants: 0,
            shards: Shards::default(),
            may_start: false,
            outstanding: None,
            lease_until: None,
            timing: Timing {
                heartbeat_interval_ms: settings.heartbeat_interval_ms,
                member_lease_ttl_ms: settings.member_lease_ttl_ms,
                rebalance_timeout_ms: protocol::DEFAULT_REBALANCE_TIMEOUT_MS,
            },
            send_at: MonotonicMillis::default(),
            not_before: MonotonicMillis::default(),
            urgent: false,
            hint: None,
            failures: 0,
            rejections: 0,
            joined_at: MonotonicMillis::default(),
            draining_since: None,
            takeovers: 0,
            shutdown_until: None,
            shutdown_limit_ms: settings.shutdown_timeout_ms,
            health: Health::Starting,
            jitter: Jitter::new(settings.jitter_seed),
            settings,
        })
    }

    /// Takes a fact in and returns what is to be done about it.
    pub fn handle(&mut self, now: MonotonicMillis, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        // An answer that comes after the lease is over must not find the member still in.
        self.end_lease_if_over(now, &mut actions);
        self.take_in(now, event, &mut actions);
        self.end_lease_if_over(now, &mut actions);
        self.go_on(now, &mut actions);
        self.note_draining(now);
        self.note_health(&mut actions);
        actions
    }

    /// When [`Event::Tick`] is due at the latest. `None`: not before something else happens.
    #[must_use]
    pub fn next_deadline(&self) -> Option<MonotonicMillis> {
        if self.phase == Phase::Stopped {
            return None;
        }
        let deadlines = [self.lease_until, self.shutdown_until, self.send_due()];
        deadlines.into_iter().flatten().min()
    }

    /// Rule T2: until when workers may read and acknowledge. `None`: not at all.
    #[must_use]
    pub fn lease_until(&self) -> Option<MonotonicMillis> {
        if self.settings.plants(Fault::ReadsOnAfterLease) {
            return self.lease_until.map(|until| until.plus(u64::MAX));
        }
        self.lease_until
    }

    /// The epoch last given by the coordinator; 0 while not a member.
    #[must_use]
    pub fn member_epoch(&self) -> i64 {
        self.epoch
    }

    /// The version of the group's metadata that the member acts on.
    #[must_use]
    pub fn metadata_version(&self) -> u64 {
        self.metadata_version
    }

    /// Everything the member owns (rule O5b), sorted.
    #[must_use]
    pub fn owned_shards(&self) -> Vec<ShardId> {
        self.shards.owned()
    }

    /// How it is doing.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health
    }

    fn take_in(&mut self, now: MonotonicMillis, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Started if self.phase == Phase::New => self.phase = Phase::Joining,
            Event::Started | Event::Tick => {}
            Event::AnswerReceived {
                request_id,
                response,
            } => {
                if let Some(request) = self.take_outstanding(&request_id) {
                    self.take_answer(now, &request, &response, actions);
                }
            }
            Event::RequestFailed { request_id, kind } => {
                if self.take_outstanding(&request_id).is_some() {
                    self.take_failure(now, kind, actions);
                }
            }
            Event::VersionChanged { metadata_version } => {
                let news = matches!(self.phase, Phase::Joining | Phase::Member)
                    && metadata_version > self.metadata_version;
                self.hint = if news {
                    Some(metadata_version)
                } else {
                    self.hint
                };
            }
            Event::WorkerStarted { shard, grant } => self.shards.worker_started(shard, grant),
            Event::WorkerStopped { shard, grant } => self.take_worker_end(shard, grant, actions),
            Event::InFlight {
                shard,
                grant,
                records,
            } => self.shards.in_flight(shard, grant, records),
            Event::Progress { grant, row } => self.shards.progress(grant, row),
            Event::Shutdown => self.begin_shutdown(now, actions),
        }
    }

    fn take_worker_end(&mut self, shard: ShardId, grant: GrantId, actions: &mut Vec<Action>) {
        match self.shards.worker_stopped(shard, grant) {
            // What is free now is waited for: the coordinator learns it at once.
            Ended::Released => self.urgent = true,
            // A shard that was assigned again while it drained starts anew; one whose worker ended by itself only after
            // the next answer, so that a worker that can't run does not spin.
            Ended::Reassigned => self.start_waiting(actions),
            Ended::Ownerless | Ended::Stale | Ended::Gone => {}
        }
    }

    /// Starts what is owned and has no worker. Only after an OK.
    fn start_waiting(&mut self, actions: &mut Vec<Action>) {
        if self.phase != Phase::Member || !self.may_start {
            return;
        }
        for shard in self.shards.without_worker() {
            self.grants += 1;
            let grant = GrantId {
                epoch: self.epoch,
                counter: self.grants,
            };
            self.shards.begin(shard, grant);
            actions.push(Action::StartShard { shard, grant });
        }
    }

    fn take_outstanding(&mut self, request_id: &str) -> Option<Outstanding> {
        self.outstanding
            .take_if(|request| request.request_id == request_id)
    }

    fn note_draining(&mut self, now: MonotonicMillis) {
        self.draining_since = self
            .shards
            .is_draining()
            .then(|| self.draining_since.unwrap_or(now));
    }

    fn note_health(&mut self, actions: &mut Vec<Action>) {
        let is_member = matches!(self.phase, Phase::Member | Phase::Leaving);
        let is_failing = !is_member
            && (self.failures >= self.settings.failing_after
                || self.takeovers >= answer::TAKEOVERS);
        let health = match (&self.phase, self.failures) {
            (Phase::Stopped, _) => Health::Stopped,
            (Phase::Member | Phase::Leaving, 0) => Health::Healthy,
            _ if is_failing => Health::Failing,
            (_, 0) => Health::Starting,
            _ => Health::Degraded,
        };
        if health != self.health {
            self.health = health;
            actions.push(Action::Health(health));
        }
    }
}
