//! What coordinators do: serve requests the short and the long way, tick, commit. What they have in memory is a copy of the store's record or of no
//! use, so none is kept here: whether there is one is the choice between the two ways.

use std::sync::Arc;

use coordinator_core::Group;
use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::invariants::Violation;
use coordinator_core::step::{Effect, HeartbeatReply, HeartbeatStatus, Reply};
use coordinator_core::write::Write;

use super::World;
use super::action::Way;
use super::bounds::spend;
use super::configuration::{LEASE_STEPS, STEP_MS};
use super::record_store::{self, Conflict, Pending};
use super::seen::Reached;
use super::state::State;

/// How many earlier records the store may go back to.
const HISTORY: usize = 2;

impl World {
    /// A request is taken up.
    pub(super) fn serve(
        &self,
        state: &mut State,
        request: u8,
        way: Way,
        again: bool,
    ) -> Option<()> {
        let sent = if again {
            spend(&mut state.left.repeated)?;
            state.requests[usize::from(request)].clone()
        } else {
            state.requests.remove(usize::from(request))
        };
        match way {
            Way::Short => self.serve_at_once(state, sent.process, &sent.heartbeat),
            Way::Long => {
                let input = Input::HeartbeatReceived((*sent.heartbeat).clone());
                let pending = self.decide(state, &input, Some((sent.process, sent.heartbeat)))?;
                if pending.writes.is_empty() {
                    self.answer(state, &pending.heartbeat, &pending.reply);
                    return Some(());
                }
                if is_about_leases_alone(&pending.writes) {
                    // A coordinator goes back to the short way then, which is another choice.
                    return None;
                }
                self.put(state, pending)
            }
        }
    }

    /// The short way: the record is confirmed in the step that renews the lease.
    fn serve_at_once(
        &self,
        state: &mut State,
        process: u8,
        heartbeat: &Arc<Heartbeat>,
    ) -> Option<()> {
        let clock = state.clock(STEP_MS);
        let step = state
            .store
            .group
            .decide_steady(heartbeat, clock.doubted_at)?;
        if step.renews_lease {
            let deadline = clock.now.plus(self.settings.member_lease_ttl());
            state.store = Arc::new(record_store::renew(
                &state.store,
                &heartbeat.member,
                deadline,
            ));
        }
        self.seen.note(Reached::ShortWay);
        let to = Some((process, Arc::clone(heartbeat)));
        self.answer(state, &to, &Reply::Heartbeat(step.reply));
        Some(())
    }

    /// What time alone brings about, if anything.
    pub(super) fn tick(&self, state: &mut State) -> Option<()> {
        let pending = self.decide(state, &Input::TickDue, None)?;
        if pending.writes.is_empty() {
            return None;
        }
        self.put(state, pending)
    }

    /// Decides about what the store has now.
    pub(super) fn decide(
        &self,
        state: &State,
        input: &Input,
        heartbeat: Option<(u8, Arc<Heartbeat>)>,
    ) -> Option<Pending> {
        let clock = state.clock(STEP_MS);
        let base = Arc::clone(&state.store);
        let step = base.group.decide(clock, input).ok()?;
        let mut after = base.group.clone();
        after.apply(&step.writes);
        let doubts = step.effects.iter().find_map(|effect| match effect {
            Effect::DoubtWrites { at } => Some(*at),
            _ => None,
        });
        Some(Pending {
            doubts,
            base,
            now: clock.now,
            writes: step.writes,
            after,
            reply: step.reply,
            heartbeat,
        })
    }

    /// A decision waits for its commit, or is committed at once where nothing may come between.
    pub(super) fn put(&self, state: &mut State, pending: Pending) -> Option<()> {
        if !self.configuration.splits_commits {
            return self.commit_now(state, &pending).ok();
        }
        let free = state.pending.iter_mut().find(|slot| slot.is_none())?;
        *free = Some(Arc::new(pending));
        Some(())
    }

    /// A decision is committed and answered. If it is refused, its request waits to be taken up again.
    pub(super) fn commit(&self, state: &mut State, slot: u8) -> Option<()> {
        let pending = state.pending[usize::from(slot)].take()?;
        if let Err(conflict) = self.commit_now(state, &pending) {
            self.seen.note(match conflict {
                Conflict::Stale => Reached::StaleCommit,
                Conflict::LeaseRenewed => Reached::LeaseRenewed,
            });
            put_back(state, &pending);
        }
        Some(())
    }

    /// A coordinator ends: the request is lost with it.
    pub(super) fn abort(&self, state: &mut State, slot: u8) -> Option<()> {
        spend(&mut state.left.aborts)?;
        state.pending[usize::from(slot)].take().map(drop)
    }

    pub(super) fn commit_now(&self, state: &mut State, pending: &Pending) -> Result<(), Conflict> {
        let faults = self.configuration.store_faults;
        let stored = record_store::commit(&state.store, pending, state.editions, faults)?;
        self.check(state, &pending.base.group, &pending.after, &stored.group);
        Self::look_at_expiries(state, pending);
        Self::look_at_rounds(state, pending);
        self.seen.note_writes(&pending.writes);
        state.editions += 1;
        if state.left.losses > 0 {
            state.earlier.insert(0, Arc::clone(&state.store));
            state.earlier.truncate(HISTORY);
        }
        state.store = Arc::new(stored);
        state.doubted_at = state.doubted_at.max(pending.doubts);
        self.answer(state, &pending.heartbeat, &pending.reply);
        Ok(())
    }

    /// Invariants 1, 3, 4, 5 and 7 of what was committed.
    fn check(&self, state: &mut State, before: &Group, decided: &Group, stored: &Group) {
        let mut violations = decided.check_invariants();
        violations.extend(stored.check_invariants());
        violations.extend(decided.check_succession(before));
        for violation in violations {
            state.accuse(invariant_of(&violation), violation.to_string());
        }
    }

    /// Rule C4, from outside: at the moment at which a round ends, nobody waits for a shard.
    fn look_at_rounds(state: &mut State, pending: &Pending) {
        let is_end = |write: &Write| matches!(write, Write::CorrectionClosed);
        let Some(end) = pending.writes.iter().position(is_end) else {
            return;
        };
        let mut group = pending.base.group.clone();
        group.apply(&pending.writes[..=end]);
        if group
            .live_members()
            .any(|(id, _)| group.pending(id).next().is_some())
        {
            state.accuse("C4", "a round ends while a member waits for a shard");
        }
    }

    /// Rule M6, from outside: nobody's lease is over sooner than a lease after coordinators were away.
    fn look_at_expiries(state: &mut State, pending: &Pending) {
        let mut writes = pending.writes.iter();
        let expires = writes.any(|write| matches!(write, Write::MemberExpired { .. }));
        if expires && state.now < state.watched_since + LEASE_STEPS {
            state.accuse("M6", "a member is expired because no coordinator was there");
        }
    }

    /// An answer is given, and is on its way if its process still waits for it.
    fn answer(&self, state: &mut State, to: &Option<(u8, Arc<Heartbeat>)>, reply: &Reply) {
        let (Some((process, heartbeat)), Reply::Heartbeat(reply)) = (to, reply) else {
            return;
        };
        let now_ms = state.now_ms(STEP_MS);
        let Some(waiting) = state.process_mut(*process) else {
            return;
        };
        if waiting.waits_for.as_deref() != Some(heartbeat.request.as_str()) {
            return;
        }
        let is_peaceful = self.configuration.promises_peace && heartbeat.epoch > 0;
        let is_wrong = is_peaceful && is_refusal(reply) && waiting.has_lease(now_ms);
        if !waiting.answers.iter().any(|known| **known == *reply) {
            waiting.answers.push(Arc::new(reply.clone()));
        }
        if is_wrong {
            let what = format!(
                "{} obeyed and is answered {:?}",
                heartbeat.member, reply.status
            );
            state.accuse("9", what);
        }
        if heartbeat.epoch == 0 {
            epochs_are_told_once(state, *process, reply);
        }
        if self.configuration.hears_at_once {
            self.hear(state, *process, 0);
        }
    }
}

/// Rule C7, from outside: who joins is told no epoch that a living process of the same member has.
fn epochs_are_told_once(state: &mut State, process: u8, reply: &HeartbeatReply) {
    let told = i64::try_from(reply.member_epoch).unwrap_or(i64::MAX);
    if told == 0 {
        return;
    }
    let member = state.processes[usize::from(process)]
        .as_ref()
        .map(|process| process.member.clone());
    let twin = state.living().any(|(index, other)| {
        index != process && Some(&other.member) == member.as_ref() && other.knows().0 == told
    });
    if twin {
        state.accuse(
            "C7",
            format!("two processes of one member have epoch {told}"),
        );
    }
}

/// A request that lost a race is taken up again.
fn put_back(state: &mut State, pending: &Pending) {
    let Some((process, heartbeat)) = &pending.heartbeat else {
        return;
    };
    let is_there = state
        .requests
        .iter()
        .any(|sent| sent.heartbeat.request == heartbeat.request);
    if !is_there {
        state.send(*process, (**heartbeat).clone());
    }
}

fn is_refusal(reply: &HeartbeatReply) -> bool {
    matches!(
        reply.status,
        HeartbeatStatus::Fenced | HeartbeatStatus::UnknownMember
    )
}

fn is_about_leases_alone(writes: &[Write]) -> bool {
    writes
        .iter()
        .all(|write| matches!(write, Write::LeaseSet { .. }))
}

const fn invariant_of(violation: &Violation) -> &'static str {
    match violation {
        Violation::HeldTwice { .. } | Violation::HoldersMiscounted { .. } => "1",
        Violation::Unowned { .. } => "3",
        Violation::EpochAhead { .. } | Violation::WentDown { .. } => "4",
        Violation::TargetWithoutMember { .. }
        | Violation::TargetWithoutShard { .. }
        | Violation::Unbalanced { .. } => "5",
        Violation::NotReproducible => "7",
    }
}
