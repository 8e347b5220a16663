//! Random lives of a member: whatever the coordinator, the network, the workers and the clock do, the rules hold.

use std::collections::{BTreeMap, BTreeSet};

use member_client::machine::{
    Action, Event, FailureKind, GrantId, MachineSettings, MemberMachine, MonotonicMillis,
};
use proptest::prelude::*;
use protocol::{
    Assignment, HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, JOIN_EPOCH, RevokeState,
    ShardId, ShardProgress,
};

const SHARDS: u32 = 4;

/// One thing that happens.
#[derive(Debug, Clone)]
enum Move {
    Wait(u64),
    ToDeadline,
    Answer(HeartbeatStatus, BTreeSet<u32>),
    Fail(FailureKind),
    /// An answer to a request that is not under way (any more).
    Stray(BTreeSet<u32>),
    Hint(u64),
    Started(u32),
    InFlight(u32, u32),
    Stopped(u32),
    /// A report of a grant that is long gone.
    Late(u32),
    Shutdown,
}

fn moves() -> impl Strategy<Value = Move> {
    let set = || proptest::collection::btree_set(0..SHARDS, 0..=SHARDS as usize);
    let status = prop_oneof![
        10 => Just(HeartbeatStatus::Ok),
        3 => Just(HeartbeatStatus::SyncMetadata),
        3 => Just(HeartbeatStatus::RevokePending),
        2 => Just(HeartbeatStatus::Retry),
        1 => Just(HeartbeatStatus::UnknownMemberId),
        1 => Just(HeartbeatStatus::FencedMemberEpoch),
    ];
    prop_oneof![
        4 => (0..4_000_u64).prop_map(Move::Wait),
        6 => Just(Move::ToDeadline),
        12 => (status, set()).prop_map(|(status, set)| Move::Answer(status, set)),
        2 => Just(Move::Fail(FailureKind::Unavailable)),
        1 => Just(Move::Fail(FailureKind::Throttled { retry_after_ms: 400 })),
        1 => set().prop_map(Move::Stray),
        2 => (0..9_u64).prop_map(Move::Hint),
        4 => (0..SHARDS).prop_map(Move::Started),
        2 => (0..SHARDS, 0..5_u32).prop_map(|(shard, records)| Move::InFlight(shard, records)),
        6 => (0..SHARDS).prop_map(Move::Stopped),
        2 => (0..SHARDS).prop_map(Move::Late),
        1 => Just(Move::Shutdown),
    ]
}

/// What the world knows: who works, what was promised, what was said.
struct World {
    machine: MemberMachine,
    now: u64,
    /// Workers not reported stopped, and whether they were told to drop everything.
    workers: BTreeMap<u32, (GrantId, bool)>,
    gone: Vec<(u32, GrantId)>,
    request: Option<(HeartbeatRequest, u64)>,
    last_accepted: Option<(HeartbeatStatus, BTreeSet<u32>)>,
    lease_until: u64,
    sequence: u64,
    grants: BTreeSet<GrantId>,
    finished: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let settings = MachineSettings {
            jitter_seed: seed,
            ..MachineSettings::new("m", "i")
        };
        let mut world = Self {
            machine: MemberMachine::new(settings).unwrap(),
            now: 0,
            workers: BTreeMap::new(),
            gone: Vec::new(),
            request: None,
            last_accepted: None,
            lease_until: 0,
            sequence: 0,
            grants: BTreeSet::new(),
            finished: false,
        };
        world.handle(Event::Started);
        world
    }

    fn handle(&mut self, event: Event) {
        let actions = self.machine.handle(MonotonicMillis::new(self.now), event);
        for action in actions {
            assert!(
                !self.finished || matches!(action, Action::Health(_)),
                "{action:?} after the end"
            );
            self.check(action);
        }
        // Rule T2: with the lease over, nobody works who was not told to drop everything.
        if self.now >= self.lease_until {
            assert!(
                self.workers.values().all(|(_, abandoned)| *abandoned),
                "work goes on without a lease"
            );
        }
        let owned: BTreeSet<u32> = self
            .machine
            .owned_shards()
            .iter()
            .map(|shard| shard.shard_index)
            .collect();
        if !owned.is_empty() {
            let (_, assigned) = self
                .last_accepted
                .as_ref()
                .expect("nothing is owned before an answer");
            assert!(
                owned.is_subset(assigned),
                "rule O5b: owned is part of the last assignment"
            );
        }
        if let Some(deadline) = self.machine.next_deadline() {
            assert!(self.finished || deadline.as_millis() > self.now || self.request.is_none());
        }
    }

    fn check(&mut self, action: Action) {
        match action {
            Action::StartShard { shard, grant } => {
                let (status, assigned) = self
                    .last_accepted
                    .as_ref()
                    .expect("a start needs an answer");
                assert_eq!(*status, HeartbeatStatus::Ok);
                assert!(assigned.contains(&shard.shard_index));
                assert!(self.now < self.lease_until);
                assert!(self.grants.insert(grant), "a grant is used twice");
                let before = self.workers.insert(shard.shard_index, (grant, false));
                assert_eq!(before, None, "two workers of shard {shard}");
            }
            Action::StopShard { shard, grant } => {
                assert_eq!(self.workers.get(&shard.shard_index), Some(&(grant, false)));
            }
            Action::AbandonShards => self
                .workers
                .values_mut()
                .for_each(|(_, abandoned)| *abandoned = true),
            Action::SendHeartbeat(request) => self.check_request(*request),
            Action::StopForGood(_) => self.finished = true,
            Action::Health(_) => {}
        }
    }

    fn check_request(&mut self, request: HeartbeatRequest) {
        let sequence = request.sequence.unwrap();
        assert_eq!(sequence, self.sequence + 1);
        self.sequence = sequence;
        if request.member_epoch == JOIN_EPOCH {
            assert!(
                self.workers.is_empty(),
                "a join says that everything has stopped"
            );
            assert!(request.owned_shards.is_empty() && request.revoking_shards.is_empty());
        }
        // Whoever works is owned or reported as draining; what is reported as given up has no worker.
        let draining = |state: RevokeState| state != RevokeState::Revoked;
        for shard in self.workers.keys().map(|index| ShardId::new(*index)) {
            let revoking = request
                .revoking_shards
                .iter()
                .find(|row| row.shard == shard);
            let owned = request.owned_shards.contains(&shard);
            assert!(
                owned != revoking.is_some_and(|row| draining(row.state)),
                "{shard} is neither or both"
            );
        }
        for row in request
            .revoking_shards
            .iter()
            .filter(|row| !draining(row.state))
        {
            assert!(!self.workers.contains_key(&row.shard.shard_index) && row.in_flight == 0);
        }
        self.request = Some((request, self.now));
    }

    fn response(
        &self,
        response_to: String,
        status: HeartbeatStatus,
        assigned: &BTreeSet<u32>,
    ) -> HeartbeatResponse {
        HeartbeatResponse {
            response_to,
            status,
            member_id: "m".into(),
            member_epoch: 3,
            heartbeat_interval_ms: 3_000,
            rebalance_timeout_ms: 60_000,
            group_epoch: 3,
            assignment_epoch: 3,
            metadata_version: 5,
            assignment: Assignment {
                assigned_shards: assigned.iter().copied().map(ShardId::new).collect(),
                pending_shards: vec![],
                metadata_version: 5,
                shard_streams: Vec::new(),
            },
            member_lease_ttl_ms: Some(15_000),
        }
    }

    fn step(&mut self, step: Move) {
        match step {
            Move::Wait(millis) => {
                self.now += millis;
                self.handle(Event::Tick);
            }
            Move::ToDeadline => {
                if let Some(deadline) = self.machine.next_deadline() {
                    self.now = self.now.max(deadline.as_millis());
                    self.handle(Event::Tick);
                }
            }
            Move::Answer(status, assigned) => self.answer(status, assigned),
            Move::Fail(kind) => {
                if let Some((request, _)) = self.request.take() {
                    self.handle(Event::RequestFailed {
                        request_id: request.request_id,
                        kind,
                    });
                }
            }
            Move::Stray(assigned) => {
                let response = self.response("gone".into(), HeartbeatStatus::Ok, &assigned);
                self.handle(Event::AnswerReceived {
                    request_id: "gone".into(),
                    response: Box::new(response),
                });
            }
            Move::Hint(metadata_version) => self.handle(Event::VersionChanged { metadata_version }),
            Move::Started(index) => {
                if let Some((grant, _)) = self.workers.get(&index).copied() {
                    self.handle(Event::WorkerStarted {
                        shard: ShardId::new(index),
                        grant,
                    });
                }
            }
            Move::InFlight(index, records) => {
                if let Some((grant, _)) = self.workers.get(&index).copied() {
                    self.handle(Event::InFlight {
                        shard: ShardId::new(index),
                        grant,
                        records,
                    });
                }
            }
            Move::Stopped(index) => {
                if let Some((grant, _)) = self.workers.remove(&index) {
                    self.gone.push((index, grant));
                    self.handle(Event::WorkerStopped {
                        shard: ShardId::new(index),
                        grant,
                    });
                }
            }
            Move::Late(index) => self.late(index),
            Move::Shutdown => self.handle(Event::Shutdown),
        }
    }

    fn answer(&mut self, status: HeartbeatStatus, assigned: BTreeSet<u32>) {
        let Some((request, sent_at)) = self.request.take() else {
            return;
        };
        let response = self.response(request.request_id.clone(), status, &assigned);
        // What the machine should make of it: nothing, if its lease ended before, because it gave the request up then.
        let was_in = self.machine.lease_until();
        let given_up = was_in.is_some_and(|until| until.as_millis() <= self.now);
        if status.renews_lease() && !given_up && self.takes_answers(&request) {
            self.lease_until = sent_at + 13_500;
            self.last_accepted = Some((status, assigned));
        }
        self.handle(Event::AnswerReceived {
            request_id: request.request_id,
            response: Box::new(response),
        });
    }

    /// After it was thrown out or ran out of its lease a member expects no answer until it has asked again.
    fn takes_answers(&self, request: &HeartbeatRequest) -> bool {
        request.member_epoch == JOIN_EPOCH || self.machine.lease_until().is_some()
    }

    fn late(&mut self, index: u32) {
        let Some((_, grant)) = self
            .gone
            .iter()
            .rev()
            .find(|(gone, _)| *gone == index)
            .copied()
        else {
            return;
        };
        let shard = ShardId::new(index);
        let row = ShardProgress {
            shard,
            stream_key: "s".into(),
            last_delivered_id: None,
            last_acked_id: None,
            pending_count: 0,
            updated_at: None,
        };
        let before = self.machine.owned_shards();
        for event in [
            Event::WorkerStopped { shard, grant },
            Event::InFlight {
                shard,
                grant,
                records: 1,
            },
            Event::Progress { grant, row },
        ] {
            self.handle(event);
        }
        if self.now < self.lease_until {
            assert_eq!(
                self.machine.owned_shards(),
                before,
                "a late report changed what is owned"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Rules T2 and O5b, cases C35 and C37, under every order of events.
    #[test]
    fn the_rules_hold_whatever_happens(seed in any::<u64>(), steps in proptest::collection::vec(moves(), 1..120)) {
        let mut world = World::new(seed);
        for step in steps {
            world.step(step);
        }
    }

    /// Once answers arrive and workers end when told, a member settles on what it is assigned.
    #[test]
    fn a_member_settles_once_faults_stop(seed in any::<u64>(), steps in proptest::collection::vec(moves(), 1..60), target in proptest::collection::btree_set(0..SHARDS, 0..=SHARDS as usize)) {
        let mut world = World::new(seed);
        for step in steps.into_iter().filter(|step| !matches!(step, Move::Shutdown)) {
            world.step(step);
        }
        for _ in 0..60 {
            while world.request.is_some() {
                world.step(Move::Answer(HeartbeatStatus::Ok, target.clone()));
            }
            let owned = world.machine.owned_shards();
            for index in 0..SHARDS {
                if !owned.contains(&ShardId::new(index)) || world.workers.get(&index).is_some_and(|(_, abandoned)| *abandoned) {
                    world.step(Move::Stopped(index));
                }
            }
            world.step(Move::ToDeadline);
        }
        if !world.finished {
            prop_assert_eq!(world.workers.keys().copied().collect::<BTreeSet<_>>(), target);
        }
    }
}
