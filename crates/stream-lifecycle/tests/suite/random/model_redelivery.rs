//! What attempts, dead letters and counting do to a shard, as plain data. It knows no Redis.

use std::collections::BTreeMap;

use stream_lifecycle::{Identity, StreamId};

use super::model::{Answer, Life, Model, Stream, word};
use super::op::Who;

/// What is known of the entries of a generation that have to be handled again, and of those that were lost unread.
#[derive(Clone, Debug, Default)]
pub(super) struct Again {
    /// How often an entry of a group was attempted, and whether it is put off.
    pub(super) attempts: BTreeMap<(String, StreamId), (u64, bool)>,
    /// How many entries each group really lost unread.
    pub(super) truth: BTreeMap<String, u64>,
    /// How many entries each group was given since its reader counted.
    pub(super) given: BTreeMap<String, u64>,
    pub(super) noted: BTreeMap<String, Noted>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Noted {
    pub(super) lost: u64,
    /// The number of the stream, how many entries were behind, how many were given since.
    base: Option<(u64, Option<u64>, u64)>,
    position: Option<StreamId>,
}

/// A copy of an entry: where it came from, how often it was attempted, and its value.
pub(super) type Letter = (StreamId, u64, String);

impl Stream {
    /// Takes an entry away; answers the groups that had not been given it.
    pub(super) fn lose(&mut self, id: StreamId) -> Option<Vec<String>> {
        self.entries.remove(&id)?;
        let groups = self.groups.iter();
        let unread = groups.filter(|(_, group)| Some(id) > group.last);
        Some(unread.map(|(name, _)| name.clone()).collect())
    }

    fn is_needed(&self, id: StreamId, but: &str) -> bool {
        self.groups.iter().any(|(name, group)| {
            name != but && (Some(id) > group.last || group.pending.contains_key(&id))
        })
    }

    /// How many of all entries ever added the group has behind it, where that is clear without counting.
    fn behind(&self, last: Option<StreamId>) -> Option<u64> {
        let left = self.entries.keys().filter(|id| Some(**id) > last).count();
        let is_clear = left == 0 || left == self.entries.len();
        is_clear.then(|| self.added - left as u64)
    }
}

impl Again {
    /// A group that was made anew is counted from wherever it stands next.
    pub(super) fn made_anew(&mut self, name: &str) {
        if let Some(noted) = self.noted.get_mut(name) {
            noted.base = None;
        }
    }

    pub(super) fn forget(&mut self, name: &str, id: StreamId) {
        self.attempts.remove(&(name.to_owned(), id));
    }
}

impl Life {
    pub(super) fn lose(&mut self, id: StreamId) -> bool {
        let lost = self.stream.as_mut().and_then(|stream| stream.lose(id));
        for name in lost.iter().flatten() {
            *self.again.truth.entry(name.clone()).or_default() += 1;
        }
        lost.is_some()
    }

    fn consumer(&mut self, who: Who) -> Result<(), Answer> {
        if self.stream.is_none() {
            return Err(word("DataLost"));
        }
        if self.is_fenced(who) {
            return Err(word("ConsumerFenced"));
        }
        self.group(who.group).map(drop)
    }

    fn pending(&mut self, who: Who, id: StreamId) -> Result<(), Answer> {
        self.consumer(who)?;
        let is_pending = self.group(who.group)?.pending.contains_key(&id);
        is_pending.then_some(()).ok_or_else(|| word("NotPending"))
    }
}

impl Model {
    /// Trims the stream as a plain client does.
    pub(super) fn trim(&mut self, left: usize) {
        let Some(life) = &mut self.life else { return };
        let Some(stream) = &life.stream else { return };
        let count = stream.entries.len().saturating_sub(left);
        let gone: Vec<StreamId> = stream.entries.keys().copied().take(count).collect();
        for id in gone {
            life.lose(id);
        }
    }

    pub(super) fn attempt(
        &mut self,
        bound: &Identity,
        who: Who,
        id: StreamId,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        life.pending(who, id)?;
        let key = (who.group.to_owned(), id);
        if let Some((count, true)) = life.again.attempts.get(&key) {
            return Ok(format!("early {count}"));
        }
        let (count, _) = life.again.attempts.entry(key).or_default();
        *count += 1;
        Ok(format!("attempted {count}"))
    }

    pub(super) fn postpone(
        &mut self,
        bound: &Identity,
        (who, id): (Who, StreamId),
        is_long: bool,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        life.pending(who, id)?;
        let key = (who.group.to_owned(), id);
        life.again.attempts.entry(key).or_default().1 = is_long;
        Ok(word("postponed"))
    }

    pub(super) fn dead_letter(
        &mut self,
        bound: &Identity,
        who: Who,
        id: StreamId,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        life.consumer(who)?;
        let acked = Self::settle(life, who.group, id)?;
        let key = (who.group.to_owned(), id);
        let (count, _) = life.again.attempts.remove(&key).unwrap_or_default();
        let entries = life.stream.as_ref().map(|stream| &stream.entries);
        let value = entries.and_then(|entries| entries.get(&id)).cloned();
        Ok(word(match (acked, value) {
            (0, _) => "unknown",
            (_, None) => "gone",
            (_, Some(value)) => {
                let letters = self.letters.entry(who.group.to_owned()).or_default();
                letters.push((id, count, value));
                "moved"
            }
        }))
    }

    pub(super) fn ack_and_delete(
        &mut self,
        bound: &Identity,
        (who, id): (Who, StreamId),
        knows: bool,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        life.consumer(who)?;
        let acked = Self::settle(life, who.group, id)?;
        life.again.forget(who.group, id);
        if acked == 0 {
            return Ok(word("unknown"));
        }
        let stream = life.stream.as_mut().ok_or_else(|| word("DataLost"))?;
        let is_needed = if knows {
            stream.is_needed(id, who.group)
        } else {
            stream.groups.len() > 1
        };
        if is_needed && stream.entries.contains_key(&id) {
            return Ok(word("kept"));
        }
        life.lose(id);
        Ok(word("deleted"))
    }

    /// `given`: what the reader says, if it says something.
    pub(super) fn refresh_counting(
        &mut self,
        bound: &Identity,
        who: Who,
        given: Option<u64>,
    ) -> Result<Answer, Answer> {
        let life = self.guard(bound, false)?;
        life.consumer(who)?;
        let number = life.number;
        let last = life.group(who.group)?.last;
        let now = life.stream.as_ref().and_then(|stream| stream.behind(last));
        let position = Some(last.unwrap_or(StreamId::ZERO));
        life.again.given.remove(who.group);
        let noted = life.again.noted.entry(who.group.to_owned()).or_default();
        let more = given.or_else(|| (noted.position == position).then_some(0));
        noted.base = match (noted.base, more) {
            (Some((of, passed, before)), Some(more)) if of == number => {
                if let (Some(now), Some(passed)) = (now, passed) {
                    noted.lost += now.saturating_sub(passed + before + more);
                }
                match now {
                    Some(_) => Some((number, now, 0)),
                    None => Some((number, passed, before + more)),
                }
            }
            _ => Some((number, now, 0)),
        };
        noted.position = position;
        let lost = noted.lost;
        let truth = life.again.truth.get(who.group).copied();
        assert!(lost <= truth.unwrap_or_default(), "{lost} of {truth:?}");
        Ok(counted(lost))
    }
}

pub(super) fn counted(lost: u64) -> Answer {
    format!("{} {lost}", if lost > 0 { "missed" } else { "counted" })
}
