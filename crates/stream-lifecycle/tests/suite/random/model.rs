//! What a shard is, as plain data: what each operation has to answer, and which keys there have to be. It knows no Redis.

use std::collections::{BTreeMap, BTreeSet};

use stream_lifecycle::{Identity, StreamId};

use super::model_redelivery::{Again, Letter};
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
    "vanished",
    "NotFound",
    "GenerationMismatch",
    "Regressed",
    "UnexpectedGeneration",
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
    "attempted",
    "early",
    "postponed",
    "moved",
    "gone",
    "unknown",
    "deleted",
    "kept",
    "counted",
    "missed",
    "NotPending",
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
    pub(super) added: u64,
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
    pub(super) once: BTreeMap<u64, (u64, StreamId)>,
    pub(super) registered: BTreeMap<(String, String), (u64, u64)>,
    pub(super) sole: BTreeMap<String, (String, u64)>,
    pub(super) leases: BTreeMap<String, (String, u64, bool)>,
    pub(super) cursors: BTreeMap<String, (u64, StreamId)>,
    pub(super) number: u64,
    pub(super) again: Again,
    /// Groups that lost what was in the stream, and have not acknowledged anything since.
    pub(super) bereft: BTreeSet<String>,
    /// Whether it was removed without its stream.
    pub(super) vanished: bool,
}

/// The shard, and what was set aside of its earlier lives.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) life: Option<Life>,
    pub(super) retired: BTreeSet<String>,
    pub(super) letters: BTreeMap<String, Vec<Letter>>,
}

pub(super) type Answer = String;

pub(super) fn word(text: &str) -> Answer {
    text.to_owned()
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
            again: Again::default(),
            bereft: BTreeSet::new(),
            vanished: false,
        }
    }

    /// Whether the registration holds: the token, no earlier epoch, and nobody else alone.
    pub(super) fn is_fenced(&self, who: Who) -> bool {
        let key = (who.group.to_owned(), who.consumer.to_owned());
        let Some((token, epoch)) = self.registered.get(&key) else {
            return true;
        };
        let is_given_away = self.sole.get(who.group).is_some_and(|(consumer, at)| {
            consumer != who.consumer && (!consumer.is_empty() || epoch < at)
        });
        *token != who.token || who.epoch < *epoch || is_given_away
    }

    pub(super) fn group(&mut self, name: &str) -> Result<&mut Group, Answer> {
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
        let groups = self.letters.keys();
        keys.extend(groups.map(|group| format!("{{{BASE}}}:dlq:{group}")));
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
            return word("UnexpectedGeneration");
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
            Err(answer) if answer == "Destroyed" => {
                let vanished = self.life.as_ref().is_some_and(|life| life.vanished);
                Ok(word(if vanished { "vanished" } else { "already" }))
            }
            Err(answer) => Err(answer),
        }
    }

    pub(super) fn drain(&mut self, bound: &Identity, keep: bool) -> Result<Answer, Answer> {
        let mut kept = None;
        if let Ok(life) = self.guard(bound, false)
            && life.stream.is_none()
        {
            life.vanished = true;
            life.state = State::Destroyed;
        }
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
        stream.added += 1;
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
        let life = self.guard(bound, false)?;
        if life.stream.is_none() {
            return Err(word("DataLost"));
        }
        Ok(format!("removed {}", u64::from(life.lose(id))))
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
}
