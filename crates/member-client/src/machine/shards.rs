//! The shards of one member: what is owned, what is on its way out, what has been given up (rule O5b). It knows nothing of
//! time, messages or epochs.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{RevokeState, RevokingShard, ShardId, ShardProgress};

use super::GrantId;

/// Where a shard stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    /// Owned; nobody reads it, because no answer has let it start since its last worker ended.
    Waiting,
    /// Owned, with a worker.
    Running { started: bool },
    /// Its worker was told to stop. `again`: assigned anew meanwhile, so it is owned and will be started anew.
    Draining { read_ended: bool, again: bool },
    /// Given up; mentioned until an answer shows that the coordinator knows.
    Released,
    /// Its worker was told to drop everything.
    Abandoned,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Slot {
    state: State,
    /// The grant of its worker, while it has one.
    grant: Option<GrantId>,
    in_flight: u32,
    progress: Option<ShardProgress>,
}

impl Slot {
    fn is_owned(&self) -> bool {
        matches!(
            self.state,
            State::Waiting | State::Running { .. } | State::Draining { again: true, .. }
        )
    }

    fn has_worker(&self) -> bool {
        matches!(
            self.state,
            State::Running { .. } | State::Draining { .. } | State::Abandoned
        )
    }
}

/// What the end of a worker means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ended {
    /// Nothing: it was not the current worker of the shard (case C35).
    Stale,
    /// The shard is given up now.
    Released,
    /// The shard was assigned anew while it drained: it is owned and may start again.
    Reassigned,
    /// The worker ended by itself: the shard is owned and without a worker.
    Ownerless,
    /// The last trace of an abandoned shard is gone.
    Gone,
}

/// Shards by their index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shards {
    slots: BTreeMap<ShardId, Slot>,
}

impl Shards {
    /// Takes an assignment over: owned shards that are not in it begin to drain, and with `may_own`, new ones become owned.
    /// Returns the workers to stop. Those to start are found by [`Self::without_worker`].
    pub(crate) fn assign(
        &mut self,
        assigned: &BTreeSet<ShardId>,
        may_own: bool,
    ) -> Vec<(ShardId, GrantId)> {
        let mut to_stop = Vec::new();
        for (shard, slot) in &mut self.slots {
            let wanted = assigned.contains(shard);
            slot.state = match slot.state {
                State::Waiting if !wanted => State::Released,
                State::Running { .. } if !wanted => {
                    to_stop.extend(slot.grant.map(|grant| (*shard, grant)));
                    State::Draining {
                        read_ended: false,
                        again: false,
                    }
                }
                State::Draining { read_ended, again } => State::Draining {
                    read_ended,
                    again: wanted && (again || may_own),
                },
                State::Released if wanted && may_own => State::Waiting,
                unchanged => unchanged,
            };
        }
        if may_own {
            for shard in assigned {
                let fresh = Slot {
                    state: State::Waiting,
                    grant: None,
                    in_flight: 0,
                    progress: None,
                };
                self.slots.entry(*shard).or_insert(fresh);
            }
        }
        to_stop
    }

    /// Forgets the given-up shards that were reported as such and that the answer does not assign.
    pub(crate) fn confirm_released(
        &mut self,
        reported: &BTreeSet<ShardId>,
        assigned: &BTreeSet<ShardId>,
    ) {
        self.slots.retain(|shard, slot| {
            slot.state != State::Released || !reported.contains(shard) || assigned.contains(shard)
        });
    }

    /// Begins to drain everything. Returns the workers to stop.
    pub(crate) fn drain_all(&mut self) -> Vec<(ShardId, GrantId)> {
        self.assign(&BTreeSet::new(), false)
    }

    /// Forgets everything except the workers that have not ended yet. Whether there are any.
    pub(crate) fn abandon_all(&mut self) -> bool {
        self.slots.retain(|_, slot| slot.has_worker());
        for slot in self.slots.values_mut() {
            slot.state = State::Abandoned;
        }
        !self.slots.is_empty()
    }

    /// Owned shards that have no worker.
    pub(crate) fn without_worker(&self) -> Vec<ShardId> {
        let waiting = self
            .slots
            .iter()
            .filter(|(_, slot)| slot.state == State::Waiting);
        waiting.map(|(shard, _)| *shard).collect()
    }

    /// An owned shard without a worker gets one.
    pub(crate) fn begin(&mut self, shard: ShardId, grant: GrantId) {
        let state = State::Running { started: false };
        self.slots.insert(
            shard,
            Slot {
                state,
                grant: Some(grant),
                in_flight: 0,
                progress: None,
            },
        );
    }

    /// The worker of `grant` runs.
    pub(crate) fn worker_started(&mut self, shard: ShardId, grant: GrantId) {
        if let Some(slot) = self.current(shard, grant)
            && let State::Running { started } = &mut slot.state
        {
            *started = true;
        }
    }

    /// The worker of `grant` has ended.
    pub(crate) fn worker_stopped(&mut self, shard: ShardId, grant: GrantId) -> Ended {
        let Some(slot) = self.current(shard, grant) else {
            return Ended::Stale;
        };
        (slot.grant, slot.in_flight) = (None, 0);
        match slot.state {
            State::Draining { again: false, .. } => {
                slot.state = State::Released;
                Ended::Released
            }
            State::Abandoned => {
                self.slots.remove(&shard);
                Ended::Gone
            }
            State::Draining { again: true, .. } => {
                slot.state = State::Waiting;
                Ended::Reassigned
            }
            State::Running { .. } | State::Waiting | State::Released => {
                slot.state = State::Waiting;
                Ended::Ownerless
            }
        }
    }

    /// What the worker of `grant` still has in hand.
    pub(crate) fn in_flight(&mut self, shard: ShardId, grant: GrantId, records: u32) {
        if let Some(slot) = self.current(shard, grant) {
            slot.in_flight = records;
            if let State::Draining { read_ended, .. } = &mut slot.state {
                *read_ended = true;
            }
        }
    }

    /// How far the worker of `grant` has come.
    pub(crate) fn progress(&mut self, grant: GrantId, row: ShardProgress) {
        if let Some(slot) = self.current(row.shard, grant) {
            slot.progress = Some(row);
        }
    }

    fn current(&mut self, shard: ShardId, grant: GrantId) -> Option<&mut Slot> {
        self.slots
            .get_mut(&shard)
            .filter(|slot| slot.grant == Some(grant))
    }

    /// Whether there is nothing left, not even to be confirmed.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether something is draining.
    pub(crate) fn is_draining(&self) -> bool {
        self.slots
            .values()
            .any(|slot| matches!(slot.state, State::Draining { .. }))
    }

    /// Rule O5b: everything owned, sorted.
    pub(crate) fn owned(&self) -> Vec<ShardId> {
        self.slots
            .iter()
            .filter(|(_, slot)| slot.is_owned())
            .map(|(shard, _)| *shard)
            .collect()
    }

    /// Everything on its way out, sorted.
    pub(crate) fn revoking(&self) -> Vec<RevokingShard> {
        let rows = self.slots.iter().filter_map(|(shard, slot)| {
            let state = match slot.state {
                State::Draining {
                    again: false,
                    read_ended: false,
                } => RevokeState::Revoking,
                State::Draining {
                    again: false,
                    read_ended: true,
                } => RevokeState::Draining,
                State::Released => RevokeState::Revoked,
                _ => return None,
            };
            Some(RevokingShard {
                shard: *shard,
                state,
                in_flight: slot.in_flight,
                acked_at: None,
            })
        });
        rows.collect()
    }

    /// How far the workers have come, sorted by shard.
    pub(crate) fn progress_rows(&self) -> Vec<ShardProgress> {
        let held = self
            .slots
            .values()
            .filter(|slot| matches!(slot.state, State::Running { .. } | State::Draining { .. }));
        held.filter_map(|slot| slot.progress.clone()).collect()
    }

    /// How many workers run.
    pub(crate) fn running(&self) -> usize {
        self.slots
            .values()
            .filter(|slot| slot.state == (State::Running { started: true }))
            .count()
    }
}
