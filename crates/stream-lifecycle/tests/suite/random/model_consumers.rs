//! What consumers and recovery do to a shard, as plain data. It knows no Redis.

use std::collections::{BTreeMap, BTreeSet};

use stream_lifecycle::{Identity, StreamId};

use super::model::{Answer, Group, Life, Model, Stream, word};
use super::op::Who;

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

impl Model {
    pub(super) fn ensure(&mut self, bound: &Identity, name: &str) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        let saved = life.cursors.get(name).copied();
        let Some(stream) = life.stream.as_mut() else {
            life.number += 1;
            life.bereft.insert(name.to_owned());
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
            let said = if life.bereft.contains(name) {
                "lost"
            } else {
                "existing"
            };
            return Ok(format!("{said} {}", group.last.unwrap_or(StreamId::ZERO)));
        }
        let end = stream.last.unwrap_or(StreamId::ZERO);
        let (said, at) = match saved {
            Some((number, at)) if number == life.number && at <= end => {
                let is_bereft = life.bereft.contains(name);
                (if is_bereft { "lost" } else { "restored" }, at)
            }
            Some(_) => ("lost", StreamId::ZERO),
            None => ("restored", StreamId::ZERO),
        };
        let group = Group {
            last: Some(at),
            ..Group::default()
        };
        stream.groups.insert(name.to_owned(), group);
        life.again.made_anew(name);
        if said == "lost" {
            life.bereft.insert(name.to_owned());
        }
        life.cursors.insert(name.to_owned(), (life.number, at));
        Ok(format!("{said} {at}"))
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
        let is_given_away = life.sole.get(who.group).is_some_and(|(consumer, epoch)| {
            let is_others = !consumer.is_empty() && consumer != who.consumer;
            who.epoch < *epoch || is_others && who.epoch == *epoch
        });
        if is_older || is_given_away {
            return Err(word("ConsumerFenced"));
        }
        life.registered.insert(key, (who.token, who.epoch));
        if sole {
            life.sole
                .insert(who.group.to_owned(), (who.consumer.to_owned(), who.epoch));
        } else if let Some((consumer, _)) = life.sole.get_mut(who.group) {
            consumer.clear();
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
        if let Some((consumer, _)) = life.sole.get_mut(who.group)
            && consumer == who.consumer
        {
            consumer.clear();
        }
        Ok(word("ok"))
    }

    /// Reading is not guarded: whoever knows the key reads what is there. Who finds no group is told what the guard says.
    pub(super) fn read(
        &mut self,
        bound: &Identity,
        name: &str,
        consumer: &str,
        count: usize,
    ) -> Result<Answer, Answer> {
        let has_group = self.life.as_ref().is_some_and(|life| {
            let stream = life.stream.as_ref();
            life.identity.physical_key == bound.physical_key
                && stream.is_some_and(|stream| stream.groups.contains_key(name))
        });
        if !has_group {
            self.guard(bound, false)?.group(name)?;
        }
        let life = self.life.as_mut().ok_or_else(|| word("NotFound"))?;
        let stream = life.stream.as_mut().ok_or_else(|| word("DataLost"))?;
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
        *life.again.given.entry(name.to_owned()).or_default() += new.len() as u64;
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
        let count = Self::settle(life, name, id)?;
        life.again.forget(name, id);
        Ok(format!("acked {count}"))
    }

    /// Acknowledges an entry and moves the position on.
    pub(super) fn settle(life: &mut Life, name: &str, id: StreamId) -> Result<u64, Answer> {
        let number = life.number;
        let group = life.group(name)?;
        let count = u64::from(group.pending.remove(&id).is_some());
        if count > 0 {
            let first = group.pending.keys().next().copied();
            let at = first.map_or(group.last.unwrap_or(StreamId::ZERO), before);
            life.cursors.insert(name.to_owned(), (number, at));
            life.bereft.remove(name);
        }
        Ok(count)
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
        for id in &deleted {
            life.again.forget(name, *id);
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
