//! What a shard is, as plain data: what each operation has to answer, and which keys there have to be. It knows no Redis.

use std::collections::{BTreeMap, BTreeSet};

use stream_lifecycle::{Identity, StreamId};

use super::op::Who;
use crate::support::BASE;

/// The first words of all answers.
pub(super) const ANSWERS: &[&str] = &[
    "ok",
    "added",
    "duplicate",
    "conflict",
    "entries",
    "acked",
    "removed",
    "existing",
    "restored",
    "lost",
    "destroyed",
    "already",
    "NotFound",
    "GenerationMismatch",
    "Regressed",
    "Destroyed",
    "Sealed",
    "AlreadyExists",
    "StillAlive",
    "DataLost",
    "NotDrained",
    "NoGroup",
    "ConsumerFenced",
    "StillPending",
    "LeaseHeld",
    "LeaseLost",
    "leased",
    "claimed",
    "cleaned",
];

#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) last: Option<StreamId>,
    pub(super) pending: BTreeMap<StreamId, String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub(super) entries: BTreeMap<StreamId, String>,
    pub(super) last: Option<StreamId>,
    pub(super) groups: BTreeMap<String, Group>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Active,
    Sealed,
    Destroyed,
}

#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) identity: Identity,
    pub(super) state: State,
    pub(super) stream: Option<Stream>,
    once: BTreeMap<u64, (u64, StreamId)>,
    registered: BTreeMap<(String, String), (u64, u64)>,
    sole: BTreeMap<String, (String, u64)>,
    leases: BTreeMap<String, (String, u64, bool)>,
    cursors: BTreeMap<String, (u64, StreamId)>,
    number: u64,
}

/// The shard, and what was set aside of its earlier lives.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) life: Option<Life>,
    pub(super) retired: BTreeSet<String>,
}

type Answer = String;

fn word(text: &str) -> Answer {
    text.to_owned()
}

fn before(id: StreamId) -> StreamId {
    match (id.ms, id.seq) {
        (0, 0) => id,
        (ms, 0) => StreamId {
            ms: ms - 1,
            seq: u64::MAX,
        },
        (ms, seq) => StreamId { ms, seq: seq - 1 },
    }
}

impl Life {
    pub(super) fn new(identity: Identity) -> Self {
        let mut stream = Stream::default();
        stream.groups.insert("g".to_owned(), Group::default());
        Self {
            identity,
            state: State::Active,
            stream: Some(stream),
            once: BTreeMap::new(),
            registered: BTreeMap::new(),
            sole: BTreeMap::new(),
            leases: BTreeMap::new(),
            cursors: BTreeMap::from([("g".to_owned(), (1, StreamId::ZERO))]),
            number: 1,
        }
    }

    /// Whether the registration holds: the token, no earlier epoch, and nobody else alone.
    fn is_fenced(&self, who: Who) -> bool {
        let key = (who.group.to_owned(), who.consumer.to_owned());
        let Some((token, epoch)) = self.registered.get(&key) else {
            return true;
        };
        let is_given_away = self
            .sole
            .get(who.group)
            .is_some_and(|(consumer, _)| consumer != who.consumer);
        *token != who.token || who.epoch < *epoch || is_given_away
    }

    fn group(&mut self, name: &str) -> Result<&mut Group, Answer> {
        let stream = self.stream.as_mut().ok_or_else(|| word("DataLost"))?;
        stream.groups.get_mut(name).ok_or_else(|| word("NoGroup"))
    }
}

impl Model {
    /// The guard: the life, if this identity may do this.
    pub(super) fn guard(&mut self, bound: &Identity, publishes: bool) -> Result<&mut Life, Answer> {
        let life = self.life.as_mut().ok_or_else(|| word("NotFound"))?;
        if life.identity != *bound {
            let is_back = life.identity.generation < bound.generation;
            return Err(word(if is_back {
                "Regressed"
            } else {
                "GenerationMismatch"
            }));
        }
        match life.state {
            State::Destroyed => Err(word("Destroyed")),
            State::Sealed if publishes => Err(word("Sealed")),
            _ => Ok(life),
        }
    }

    pub(super) fn keys(&self) -> BTreeSet<String> {
        let mut keys = self.retired.clone();
        let Some(life) = &self.life else {
            return keys;
        };
        keys.insert(format!("{{{BASE}}}:lc"));
        if life.state != State::Destroyed {
            let own = format!(
                "{{{BASE}}}:{}.{}",
                life.identity.generation, life.identity.incarnation
            );
            keys.extend(["md", "o0", "o1"].map(|suffix| format!("{own}:{suffix}")));
            if life.stream.is_some() {
                keys.insert(life.identity.physical_key.to_string());
            }
        }
        keys
    }

    pub(super) fn create(&mut self, wanted: Identity) -> Answer {
        match &self.life {
            None => {
                self.life = Some(Life::new(wanted));
                word("ok")
            }
            Some(life) if life.state == State::Destroyed => word("Destroyed"),
            Some(life) if life.identity == wanted => word("ok"),
            Some(_) => word("AlreadyExists"),
        }
    }

    pub(super) fn recreate(&mut self, expected: u64, wanted: Identity) -> Answer {
        let Some(life) = &self.life else {
            return word("NotFound");
        };
        let generation = life.identity.generation.get();
        if life.identity == wanted {
            return word(if life.state == State::Destroyed {
                "Destroyed"
            } else {
                "ok"
            });
        }
        if generation != expected {
            return word(if generation < expected {
                "Regressed"
            } else {
                "GenerationMismatch"
            });
        }
        if life.state != State::Destroyed {
            return word("StillAlive");
        }
        self.life = Some(Life::new(wanted));
        word("ok")
    }

    pub(super) fn seal(&mut self, bound: &Identity, to: State) -> Result<Answer, Answer> {
        self.guard(bound, false)?.state = to;
        Ok(word("ok"))
    }

    pub(super) fn destroy(&mut self, bound: &Identity) -> Result<Answer, Answer> {
        match self.guard(bound, false) {
            Ok(life) => {
                life.state = State::Destroyed;
                life.stream = None;
                Ok(word("destroyed"))
            }
            Err(answer) if answer == "Destroyed" => Ok(word("already")),
            Err(answer) => Err(answer),
        }
    }

    pub(super) fn drain(&mut self, bound: &Identity, keep: bool) -> Result<Answer, Answer> {
        let mut kept = None;
        if let Ok(life) = self.guard(bound, false)
            && let Some(stream) = &life.stream
        {
            for group in stream.groups.values() {
                let is_read = stream.entries.keys().all(|id| Some(*id) <= group.last);
                if !group.pending.is_empty() || !is_read {
                    return Err(word("NotDrained"));
                }
            }
            if stream.groups.is_empty() && !stream.entries.is_empty() {
                return Err(word("NotDrained"));
            }
            kept = keep.then(|| format!("{{{BASE}}}:retired:{}", bound.generation));
        }
        let answer = self.destroy(bound)?;
        self.retired.extend(kept);
        Ok(answer)
    }

    /// `given`: the id that Redis gave, if it gave one.
    fn add(life: &mut Life, value: u64, given: Option<StreamId>) -> Result<StreamId, Answer> {
        let stream = life.stream.as_mut().ok_or_else(|| word("DataLost"))?;
        let id = given.ok_or_else(|| word("an id"))?;
        assert!(Some(id) > stream.last, "{id} after {:?}", stream.last);
        stream.last = Some(id);
        stream.entries.insert(id, value.to_string());
        Ok(id)
    }

    pub(super) fn publish(
        &mut self,
        bound: &Identity,
        value: u64,
        given: Option<StreamId>,
    ) -> Result<Answer, Answer> {
        let id = Self::add(self.guard(bound, true)?, value, given)?;
        Ok(format!("added {id}"))
    }

    pub(super) fn add_once(
        &mut self,
        bound: &Identity,
        (key, value): (u64, u64),
        given: Option<StreamId>,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, true)?;
        match life.once.get(&key) {
            Some((known, id)) if *known == value => return Ok(format!("duplicate {id}")),
            Some((_, id)) => return Ok(format!("conflict {id}")),
            None => {}
        }
        let id = Self::add(life, value, given)?;
        life.once.insert(key, (value, id));
        Ok(format!("added {id}"))
    }

    pub(super) fn remove(&mut self, bound: &Identity, id: StreamId) -> Result<Answer, Answer> {
        let stream = self
            .guard(bound, false)?
            .stream
            .as_mut()
            .ok_or_else(|| word("DataLost"))?;
        Ok(format!(
            "removed {}",
            u64::from(stream.entries.remove(&id).is_some())
        ))
    }

    pub(super) fn snapshot(&mut self, bound: &Identity) -> Result<Answer, Answer> {
        let stream = self
            .guard(bound, false)?
            .stream
            .as_ref()
            .ok_or_else(|| word("DataLost"))?;
        let entries: Vec<String> = stream
            .entries
            .iter()
            .map(|(id, value)| format!("{id}={value}"))
            .collect();
        Ok(format!("entries {}", entries.join(",")))
    }

    pub(super) fn ensure(&mut self, bound: &Identity, name: &str) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        let saved = life.cursors.get(name).copied();
        let Some(stream) = life.stream.as_mut() else {
            life.number += 1;
            life.cursors
                .insert(name.to_owned(), (life.number, StreamId::ZERO));
            let groups = BTreeMap::from([(name.to_owned(), Group::default())]);
            life.stream = Some(Stream {
                groups,
                ..Stream::default()
            });
            return Ok(word("lost 0-0"));
        };
        if let Some(group) = stream.groups.get(name) {
            life.cursors
                .entry(name.to_owned())
                .or_insert((life.number, StreamId::ZERO));
            return Ok(format!("existing {}", group.last.unwrap_or(StreamId::ZERO)));
        }
        let end = stream.last.unwrap_or(StreamId::ZERO);
        let at = match saved {
            Some((number, at)) if number == life.number && at <= end => at,
            _ => StreamId::ZERO,
        };
        let group = Group {
            last: Some(at),
            ..Group::default()
        };
        stream.groups.insert(name.to_owned(), group);
        life.cursors.insert(name.to_owned(), (life.number, at));
        Ok(format!("restored {at}"))
    }

    pub(super) fn register(
        &mut self,
        bound: &Identity,
        who: Who,
        sole: bool,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        life.group(who.group)?;
        let key = (who.group.to_owned(), who.consumer.to_owned());
        let is_older = life
            .registered
            .get(&key)
            .is_some_and(|(token, epoch)| who.token < *token || who.epoch < *epoch);
        let is_given_away = life
            .sole
            .get(who.group)
            .is_some_and(|(consumer, epoch)| consumer != who.consumer && who.epoch <= *epoch);
        if is_older || is_given_away {
            return Err(word("ConsumerFenced"));
        }
        life.registered.insert(key, (who.token, who.epoch));
        life.sole.remove(who.group);
        if sole {
            life.sole
                .insert(who.group.to_owned(), (who.consumer.to_owned(), who.epoch));
        }
        Ok(word("ok"))
    }

    pub(super) fn refresh(&mut self, bound: &Identity, who: Who) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        if life.is_fenced(who) {
            return Err(word("ConsumerFenced"));
        }
        Ok(word("ok"))
    }

    pub(super) fn deregister(&mut self, bound: &Identity, who: Who) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        if life.stream.is_none() {
            return Err(word("DataLost"));
        }
        if life.is_fenced(who) {
            return Err(word("ConsumerFenced"));
        }
        if let Ok(group) = life.group(who.group)
            && group
                .pending
                .values()
                .any(|consumer| consumer == who.consumer)
        {
            return Err(word("StillPending"));
        }
        life.registered
            .remove(&(who.group.to_owned(), who.consumer.to_owned()));
        if life
            .sole
            .get(who.group)
            .is_some_and(|(consumer, _)| consumer == who.consumer)
        {
            life.sole.remove(who.group);
        }
        Ok(word("ok"))
    }

    /// Reading is not guarded: whoever knows the key reads what is there.
    pub(super) fn read(
        &mut self,
        bound: &Identity,
        name: &str,
        consumer: &str,
        count: usize,
    ) -> Result<Answer, Answer> {
        let life = self.life.as_mut().ok_or_else(|| word("NoGroup"))?;
        if life.identity.physical_key != bound.physical_key {
            return Err(word("NoGroup"));
        }
        let stream = life.stream.as_mut().ok_or_else(|| word("NoGroup"))?;
        let group = stream.groups.get_mut(name).ok_or_else(|| word("NoGroup"))?;
        let new: Vec<StreamId> = stream
            .entries
            .keys()
            .copied()
            .filter(|id| Some(*id) > group.last)
            .take(count)
            .collect();
        for id in &new {
            group.last = Some(*id);
            group.pending.insert(*id, consumer.to_owned());
        }
        Ok(format!("entries {new:?}"))
    }

    pub(super) fn ack(
        &mut self,
        bound: &Identity,
        who: Option<Who>,
        name: &str,
        id: StreamId,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        if who.is_some_and(|who| life.is_fenced(who)) {
            return Err(word("ConsumerFenced"));
        }
        let number = life.number;
        let group = life.group(name)?;
        let count = u64::from(group.pending.remove(&id).is_some());
        if count > 0 {
            let first = group.pending.keys().next().copied();
            let at = first.map_or(group.last.unwrap_or(StreamId::ZERO), before);
            life.cursors.insert(name.to_owned(), (number, at));
        }
        Ok(format!("acked {count}"))
    }

    /// `given`: the fence that the script chose, if it chose one.
    pub(super) fn acquire(
        &mut self,
        bound: &Identity,
        (name, owner): (&str, &str),
        given: Option<u64>,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        let lease = life.leases.get(name);
        if lease.is_some_and(|(holder, _, is_held)| *is_held && holder != owner) {
            return Err(word("LeaseHeld"));
        }
        let fence = given.ok_or_else(|| word("a fence"))?;
        assert!(lease.is_none_or(|(_, earlier, _)| fence > *earlier));
        life.leases
            .insert(name.to_owned(), (owner.to_owned(), fence, true));
        Ok(format!("leased {fence}"))
    }

    fn check_lease(life: &Life, name: &str, owner: &str, fence: u64) -> Result<(), Answer> {
        match life.leases.get(name) {
            Some((holder, latest, true)) if holder == owner && *latest == fence => Ok(()),
            _ => Err(word("LeaseLost")),
        }
    }

    pub(super) fn release(
        &mut self,
        bound: &Identity,
        (name, owner, fence): (&str, &str, u64),
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        Self::check_lease(life, name, owner, fence)?;
        life.leases
            .insert(name.to_owned(), (owner.to_owned(), fence, false));
        Ok(word("ok"))
    }

    pub(super) fn claim(
        &mut self,
        bound: &Identity,
        (name, owner, fence): (&str, &str, u64),
        consumer: &str,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        if life.stream.is_none() {
            return Err(word("DataLost"));
        }
        Self::check_lease(life, name, owner, fence)?;
        let entries = life
            .stream
            .as_ref()
            .map(|stream| stream.entries.clone())
            .unwrap_or_default();
        let group = life.group(name)?;
        let (mut live, mut deleted) = (Vec::new(), Vec::new());
        for (id, holder) in &mut group.pending {
            if entries.contains_key(id) {
                live.push(*id);
                consumer.clone_into(holder);
            } else {
                deleted.push(*id);
            }
        }
        for id in &deleted {
            group.pending.remove(id);
        }
        Ok(format!("claimed {live:?} {deleted:?}"))
    }

    /// `gone`: the consumers that Redis removed; which ones it knew, the model does not.
    pub(super) fn cleanup(
        &mut self,
        bound: &Identity,
        (name, owner, fence): (&str, &str, u64),
        gone: &[String],
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        if life.stream.is_none() {
            return Err(word("DataLost"));
        }
        Self::check_lease(life, name, owner, fence)?;
        let group = life.group(name)?;
        for consumer in gone {
            assert!(
                group.pending.values().all(|holder| holder != consumer),
                "{consumer}"
            );
        }
        for consumer in gone {
            life.registered.remove(&(name.to_owned(), consumer.clone()));
        }
        let group = life.group(name)?;
        let held: BTreeSet<String> = group.pending.values().cloned().collect();
        let left = life
            .registered
            .keys()
            .filter(|(of, consumer)| of == name && !held.contains(consumer));
        assert_eq!(left.count(), 0, "quiet consumers are left");
        Ok(word("cleaned"))
    }
}
