//! One world of the random test: performs an operation on Redis and on the model, and compares.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stream_lifecycle::{
    Claiming, DrainProof, Draining, Handle, Identity, Lease, LifecycleError, MemberEpoch, Naming,
    Published, Reading, Registration, Removal, ShardAdmin, ShardConsumer, ShardInspect,
    ShardProducer, ShardRecovery, StreamId, Token,
};

use super::model::{Model, State};
use super::op::{self, Op, SLOTS, Slot, Who};
use crate::support::{
    BASE, Link, Random, World, consumer, creation, fields, generation, group, id, once, owner,
};

pub(super) struct Play {
    pub(super) world: World,
    pub(super) model: Model,
    pub(super) random: Random,
    pub(super) handles: Vec<Option<Handle<Link>>>,
    leases: Vec<Option<Lease>>,
    answers: BTreeMap<String, usize>,
    history: Vec<String>,
}

pub(super) type Said = Result<String, LifecycleError>;

/// What was answered, in the model's words.
pub(super) fn said(outcome: Said) -> String {
    match outcome {
        Ok(text) => text,
        Err(LifecycleError::IdempotencyConflict { original }) => format!("conflict {original}"),
        Err(error) => {
            let text = format!("{error:?}");
            let end = text.find([' ', '(', '{']).unwrap_or(text.len());
            text[..end].to_owned()
        }
    }
}

/// The id or number after the first word.
fn given<T: std::str::FromStr>(said: &str) -> Option<T> {
    said.split_once(' ')?.1.parse().ok()
}

pub(super) fn registration(who: Who) -> Registration {
    let (token, epoch) = (
        Token::new(who.token).unwrap(),
        MemberEpoch::new(who.epoch).unwrap(),
    );
    Registration::new(group(who.group), consumer(who.consumer), token, epoch)
}

fn lease_parts(lease: &Lease) -> (&str, &str, u64) {
    (
        lease.group.as_str(),
        lease.owner.as_str(),
        lease.fence.get(),
    )
}

pub(super) fn either(answer: Result<String, String>) -> String {
    answer.unwrap_or_else(|answer| answer)
}

impl Play {
    pub(super) async fn new(seed: u64) -> Self {
        let slots = usize::try_from(SLOTS).unwrap();
        Self {
            world: World::new().await,
            model: Model::default(),
            random: Random::new(seed),
            handles: vec![None; slots],
            leases: vec![None; slots],
            answers: BTreeMap::new(),
            history: Vec::new(),
        }
    }

    pub(super) fn answers(self) -> BTreeMap<String, usize> {
        self.answers
    }

    pub(super) async fn step(&mut self) {
        let current = self
            .model
            .life
            .as_ref()
            .map_or(0, |life| life.identity.generation.get());
        let op = op::choose(&mut self.random, current);
        self.history.push(format!("{op:?}"));
        let outcome = self.perform(op).await;
        let recent = &self.history[self.history.len().saturating_sub(40)..];
        if let Some((said, expected)) = outcome {
            assert_eq!(said, expected, "{recent:#?}\n{:#?}", self.model);
            let word = said.split(' ').next().unwrap_or_default().to_owned();
            *self.answers.entry(word).or_default() += 1;
        }
        let keys: BTreeSet<String> = self.world.keys().await.into_iter().collect();
        assert_eq!(keys, self.model.keys(), "{recent:#?}");
        if self.history.len().is_multiple_of(50) {
            self.compare_groups().await;
        }
    }

    /// Positions and pending entries of every group are the model's.
    async fn compare_groups(&self) {
        let Some(stream) = self
            .model
            .life
            .as_ref()
            .and_then(|life| life.stream.as_ref())
        else {
            return;
        };
        let handle = self.world.shard().open().await.unwrap();
        let status = handle.status().await.unwrap().stream.unwrap();
        assert_eq!(status.groups.len(), stream.groups.len());
        for found in status.groups {
            let group = &stream.groups[&found.name];
            assert_eq!(found.last_delivered, group.last.unwrap_or(StreamId::ZERO));
            let key = &*handle.keys().stream;
            let words = ["XPENDING", key, &found.name, "-", "+", "10000"];
            let rows: Vec<(String, String, u64, u64)> = self.world.query(&words).await;
            let pending: BTreeMap<StreamId, String> =
                rows.into_iter().map(|row| (id(&row.0), row.1)).collect();
            assert_eq!(pending, group.pending);
            self.compare_again(&handle, &found).await;
        }
    }

    /// An entry that is likely to be there, or to have been there.
    pub(super) fn entry(&self, name: Option<&str>, nth: u64) -> StreamId {
        let nth = usize::try_from(nth).unwrap();
        let stream = self
            .model
            .life
            .as_ref()
            .and_then(|life| life.stream.as_ref());
        let found = stream.and_then(|stream| match name {
            Some(name) => stream.groups.get(name)?.pending.keys().nth(nth).copied(),
            None => stream.entries.keys().nth(nth).copied(),
        });
        found.unwrap_or(StreamId { ms: 1, seq: 1 })
    }

    fn identity(number: u64, incarnation: u128, naming: Naming) -> Identity {
        let is_flat = naming == Naming::Flat || naming == Naming::FirstFlat && number == 1;
        let physical = if is_flat {
            BASE.to_owned()
        } else {
            format!("{{{BASE}}}:s:{number}.{incarnation:032x}")
        };
        Identity {
            generation: generation(number),
            physical_key: physical.into(),
            incarnation: incarnation.into(),
        }
    }

    /// Performs an operation on both; nothing if there is no handle for it.
    async fn perform(&mut self, op: Op) -> Option<(String, String)> {
        match op {
            Op::Create {
                slot,
                incarnation,
                naming,
            } => {
                let made = self
                    .world
                    .shard()
                    .create(&creation(incarnation).naming(naming))
                    .await;
                let said = self.keep(slot, made);
                Some((
                    said,
                    self.model.create(Self::identity(1, incarnation, naming)),
                ))
            }
            Op::Recreate {
                slot,
                expected,
                incarnation,
                naming,
            } => {
                let next = creation(incarnation).naming(naming);
                let made = self
                    .world
                    .shard()
                    .recreate(generation(expected), &next)
                    .await;
                let said = self.keep(slot, made);
                let wanted = Self::identity(expected + 1, incarnation, naming);
                Some((said, self.model.recreate(expected, wanted)))
            }
            Op::Open { slot } => {
                let opened = self.world.shard().open().await;
                let said = self.keep(slot, opened);
                let expected = match &self.model.life {
                    None => "NotFound",
                    Some(life) if life.state == State::Destroyed => "Destroyed",
                    Some(_) => "ok",
                };
                Some((said, expected.to_owned()))
            }
            Op::LoseStream => {
                let life = self.model.life.as_mut()?;
                life.stream = None;
                let key = life.identity.physical_key.clone();
                let () = self.world.query(&["DEL", &key]).await;
                None
            }
            Op::Trim(left) => {
                let life = self.model.life.as_ref()?;
                life.stream.as_ref()?;
                let (key, left_text) = (life.identity.physical_key.clone(), left.to_string());
                let words = ["XTRIM", &key, "MAXLEN", &left_text];
                let () = self.world.query(&words).await;
                self.model.trim(left);
                None
            }
            Op::Again {
                slot,
                who,
                nth,
                what,
            } => self.perform_again((slot, who), nth, what).await,
            Op::LoseGroup(name) => {
                let life = self.model.life.as_mut()?;
                life.stream.as_mut()?.groups.remove(name);
                let key = life.identity.physical_key.clone();
                let () = self.world.query(&["XGROUP", "DESTROY", &key, name]).await;
                None
            }
            Op::Flush => {
                self.model = Model::default();
                let () = self.world.query(&["FLUSHALL"]).await;
                None
            }
            other => self.perform_bound(other).await,
        }
    }

    fn keep(&mut self, slot: Slot, made: Result<Handle<Link>, LifecycleError>) -> String {
        said(made.map(|handle| {
            self.handles[slot] = Some(handle);
            "ok".to_owned()
        }))
    }

    async fn perform_bound(&mut self, op: Op) -> Option<(String, String)> {
        let (Op::Seal(slot)
        | Op::Unseal(slot)
        | Op::Destroy(slot)
        | Op::Drain { slot, .. }
        | Op::Publish(slot, _)
        | Op::Once { slot, .. }
        | Op::Remove { slot, .. }
        | Op::Snapshot(slot)) = op
        else {
            return self.perform_consumer(op).await;
        };
        let handle = self.handles[slot].clone()?;
        let bound = handle.identity().clone();
        let ok = |_| "ok".to_owned();
        let pair = match op {
            Op::Seal(_) => {
                let said = said(handle.seal().await.map(ok));
                (said, either(self.model.seal(&bound, State::Sealed)))
            }
            Op::Unseal(_) => {
                let said = said(handle.unseal().await.map(ok));
                (said, either(self.model.seal(&bound, State::Active)))
            }
            Op::Destroy(_) => (
                removal(handle.destroy().await),
                either(self.model.destroy(&bound)),
            ),
            Op::Drain { keep, .. } => {
                let mut draining = Draining::new().proof(DrainProof::Entries);
                if keep {
                    draining = draining.keep(Duration::from_secs(3_600));
                }
                let said = removal(handle.destroy_if_drained(&draining).await);
                (said, either(self.model.drain(&bound, keep)))
            }
            Op::Publish(_, value) => {
                let added = handle.publish(&fields(&value.to_string())).await;
                let said = said(added.map(|id| format!("added {id}")));
                let expected = self.model.publish(&bound, value, given(&said));
                (said, either(expected))
            }
            Op::Once { key, value, .. } => {
                let content = fields(&value.to_string());
                let added = handle.add_once(&once(&key.to_string()), &content).await;
                let said = said(added.map(|published| match published {
                    Published::Added(id) => format!("added {id}"),
                    Published::Duplicate(id) => format!("duplicate {id}"),
                }));
                let expected = self.model.add_once(&bound, (key, value), given(&said));
                (said, either(expected))
            }
            Op::Remove { nth, .. } => {
                let id = self.entry(None, nth);
                let said = said(
                    handle
                        .remove(&[id])
                        .await
                        .map(|count| format!("removed {count}")),
                );
                (said, either(self.model.remove(&bound, id)))
            }
            _ => {
                let said = said(handle.snapshot(10_000).await.map(|entries| {
                    let entries = entries.iter().map(|entry| {
                        let value = entry.fields.get("v").unwrap_or_default();
                        format!("{}={}", entry.id, String::from_utf8_lossy(value))
                    });
                    format!("entries {}", entries.collect::<Vec<_>>().join(","))
                }));
                (said, either(self.model.snapshot(&bound)))
            }
        };
        Some(pair)
    }

    async fn perform_consumer(&mut self, op: Op) -> Option<(String, String)> {
        let (Op::Ensure(slot, _)
        | Op::Register { slot, .. }
        | Op::Refresh(slot, _)
        | Op::Deregister(slot, _)
        | Op::Read { slot, .. }
        | Op::Ack { slot, .. }
        | Op::AckAs { slot, .. }) = op
        else {
            return self.perform_recovery(op).await;
        };
        let handle = self.handles[slot].clone()?;
        let bound = handle.identity().clone();
        let ok = |()| "ok".to_owned();
        let pair = match op {
            Op::Ensure(_, name) => {
                let ensured = handle.ensure_group(&group(name)).await;
                let said = said(ensured.map(|ensured| {
                    let word = match (ensured.was_created, ensured.data_lost) {
                        (_, true) => "lost",
                        (true, false) => "restored",
                        (false, false) => "existing",
                    };
                    format!("{word} {}", ensured.position)
                }));
                (said, either(self.model.ensure(&bound, name)))
            }
            Op::Register { who, sole, .. } => {
                let wanted = registration(who);
                let wanted = if sole { wanted.sole() } else { wanted };
                let said = said(handle.register(&wanted).await.map(ok));
                (said, either(self.model.register(&bound, who, sole)))
            }
            Op::Refresh(_, who) => {
                let said = said(handle.refresh(&registration(who)).await.map(ok));
                (said, either(self.model.refresh(&bound, who)))
            }
            Op::Deregister(_, who) => {
                let who = self.registered(who, who.epoch);
                let said = said(handle.deregister(&registration(who)).await.map(ok));
                (said, either(self.model.deregister(&bound, who)))
            }
            Op::Read {
                group: name,
                consumer: who,
                count,
                ..
            } => {
                let reading = Reading::new(count);
                let batch = handle.read(&group(name), &consumer(who), &reading).await;
                let said = said(batch.map(|batch| {
                    let ids: Vec<StreamId> = batch
                        .records
                        .iter()
                        .map(|record| record.entry().id)
                        .collect();
                    format!("entries {ids:?}")
                }));
                (said, either(self.model.read(&bound, name, who, count)))
            }
            Op::Ack {
                group: name, nth, ..
            } => {
                let id = self.entry(Some(name), nth);
                let acked = handle.ack(&group(name), &[id]).await;
                let said = said(acked.map(|acked| format!("acked {}", acked.count)));
                (said, either(self.model.ack(&bound, None, name, id)))
            }
            Op::AckAs { who, nth, .. } => {
                let who = self.registered(who, nth);
                let id = self.entry(Some(who.group), nth);
                let acked = handle.ack_as(&registration(who), &[id]).await;
                let said = said(acked.map(|acked| format!("acked {}", acked.count)));
                (
                    said,
                    either(self.model.ack(&bound, Some(who), who.group, id)),
                )
            }
            other => panic!("{other:?} is no operation of consumers"),
        };
        Some(pair)
    }

    async fn perform_recovery(&mut self, op: Op) -> Option<(String, String)> {
        let (Op::Acquire { slot, .. }
        | Op::Release(slot)
        | Op::Claim { slot, .. }
        | Op::Cleanup(slot)) = op
        else {
            panic!("{op:?} is no operation of a handle");
        };
        let handle = self.handles[slot].clone()?;
        let bound = handle.identity().clone();
        if let Op::Acquire {
            group: name,
            owner: who,
            ..
        } = op
        {
            let length = Duration::from_secs(3_600);
            let lease = handle
                .lease_acquire(&group(name), &owner(who), length)
                .await;
            if let Ok(lease) = &lease {
                // Any handle may use it, also one of another generation.
                let other = usize::try_from(self.random.below(SLOTS)).unwrap();
                self.leases[other] = Some(lease.clone());
            }
            let said = said(lease.map(|lease| format!("leased {}", lease.fence)));
            let expected = self.model.acquire(&bound, (name, who), given(&said));
            return Some((said, either(expected)));
        }
        let lease = self.leases[slot].clone()?;
        let pair = match op {
            Op::Release(_) => {
                let said = said(handle.lease_release(&lease).await.map(|()| "ok".to_owned()));
                (
                    said,
                    either(self.model.release(&bound, lease_parts(&lease))),
                )
            }
            Op::Claim { consumer: who, .. } => {
                let claiming = Claiming::new(consumer(who)).count(1_000);
                let page = handle.claim(&lease, &claiming, StreamId::ZERO).await;
                let said = said(page.map(|page| {
                    assert_eq!(page.next, None);
                    let ids: Vec<StreamId> = page
                        .batch
                        .records
                        .iter()
                        .map(|record| record.entry().id)
                        .collect();
                    format!("claimed {ids:?} {:?}", page.batch.deleted)
                }));
                (
                    said,
                    either(self.model.claim(&bound, lease_parts(&lease), who)),
                )
            }
            _ => {
                let cleaned = handle.cleanup(&lease, Duration::ZERO, &[]).await;
                let gone = cleaned.as_ref().map_or_else(|_| Vec::new(), Clone::clone);
                let said = said(cleaned.map(|_| "cleaned".to_owned()));
                (
                    said,
                    either(self.model.cleanup(&bound, lease_parts(&lease), &gone)),
                )
            }
        };
        Some(pair)
    }
}

fn removal(outcome: Result<Removal, LifecycleError>) -> String {
    said(outcome.map(|removal| match removal {
        Removal::Destroyed => "destroyed".to_owned(),
        Removal::Already => "already".to_owned(),
        Removal::Lost => "vanished".to_owned(),
    }))
}
