//! Members that do as they are told, and a network that does not.

use std::collections::BTreeSet;

use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::numbers::{Sequence, ShardIndex};
use coordinator_core::step::{HeartbeatReply, HeartbeatStatus};
use coordinator_core::time::{Millis, Timestamp};

use super::{Beat, World, join, reply, report};

/// A client's own lease: the member's lease less a tenth (rule T2).
const CLIENT_LEASE: Millis = Millis::new(13_500);

/// A source of choices that is the same for the same seed.
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`. Source: the splitmix64 generator.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % limit as u64).expect("below the limit")
    }
}

/// A client that obeys (rules T2, T3, O5b).
pub struct Client {
    name: String,
    sequence: u64,
    epoch: u64,
    version: u64,
    owned: BTreeSet<u32>,
    draining: BTreeSet<u32>,
    lease_until: Option<Timestamp>,
    /// The message whose answer it waits for, and when it was sent.
    waiting: Option<(u64, Timestamp)>,
}

impl Client {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            sequence: 0,
            epoch: 0,
            version: 0,
            owned: BTreeSet::new(),
            draining: BTreeSet::new(),
            lease_until: None,
            waiting: None,
        }
    }

    fn is_reading(&self, shard: u32, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|until| now < until)
            && (self.owned.contains(&shard) || self.draining.contains(&shard))
    }

    fn forget(&mut self) {
        self.epoch = 0;
        self.owned.clear();
        self.draining.clear();
        self.lease_until = None;
        self.waiting = None;
    }

    fn send(&mut self, now: Timestamp) -> Heartbeat {
        if self.lease_until.is_none_or(|until| now >= until) {
            self.forget();
        }
        self.sequence += 1;
        self.waiting = Some((self.sequence, now));
        let shards = |set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<_>>();
        let beat: Beat = match self.epoch {
            0 => join(&self.name),
            epoch => report(&self.name, epoch, self.version)
                .owns(&shards(&self.owned))
                .drains(&shards(&self.draining)),
        };
        let request = format!("{} {}", self.name, self.sequence);
        beat.instance(&self.name)
            .sequence(self.sequence)
            .request(&request)
            .build()
    }

    /// Takes an answer over, if it waits for it. Says whether it was fenced although its lease ran.
    fn hear(&mut self, sequence: u64, answer: &HeartbeatReply, now: Timestamp) -> bool {
        let Some((_, sent)) = self.waiting.filter(|(waiting, _)| *waiting == sequence) else {
            return false;
        };
        self.waiting = None;
        if answer.status != HeartbeatStatus::Ok {
            let was_good = self.lease_until.is_some_and(|until| now < until);
            self.forget();
            return was_good;
        }
        let until = sent.plus(CLIENT_LEASE);
        if now >= until {
            return false;
        }
        self.lease_until = Some(until);
        self.epoch = answer.member_epoch;
        self.version = answer.metadata_version.get();
        let assigned: BTreeSet<u32> = answer.assigned.iter().map(ShardIndex::get).collect();
        self.draining
            .extend(self.owned.difference(&assigned).copied());
        self.draining.retain(|shard| !assigned.contains(shard));
        self.owned = assigned;
        false
    }
}

/// Clients, a coordinator, and the messages between them.
pub struct Bench {
    pub world: World,
    clients: Vec<Client>,
    requests: Vec<(usize, Heartbeat)>,
    answers: Vec<(usize, u64, HeartbeatReply)>,
    shards: u32,
    /// What happened, for the message of a failure.
    log: Vec<String>,
}

impl Bench {
    pub fn new(mut world: World, clients: usize, shards: u32) -> Self {
        world.since = Timestamp::from_ms(0);
        let clients = (0..clients)
            .map(|index| Client::new(&format!("m{index}")))
            .collect();
        Self {
            world,
            clients,
            requests: Vec::new(),
            answers: Vec::new(),
            shards,
            log: Vec::new(),
        }
    }

    /// One step of a network that loses, doubles, delays and reorders.
    pub fn faulty_step(&mut self, choices: &mut Choices) -> Result<(), String> {
        match choices.below(12) {
            0 | 1 => drop(self.world.after(choices.below(2_500) as u64)),
            2..=4 => self.send(choices.below(self.clients.len())),
            5 | 6 => self.deliver_request(choices)?,
            7 | 8 => self.deliver_answer(choices)?,
            9 => self.drain(choices),
            10 => drop(self.world.tick()),
            _ => self.lose(choices),
        }
        self.check()
    }

    /// A round in which everything arrives at once and everybody does its work.
    pub fn good_round(&mut self) -> Result<(), String> {
        self.requests.clear();
        self.answers.clear();
        self.world.after(1_000);
        for index in 0..self.clients.len() {
            self.clients[index].draining.clear();
            let request = self.clients[index].send(self.world.now);
            self.process(index, &request)?;
            while let Some((index, sequence, answer)) = self.answers.pop() {
                self.clients[index].hear(sequence, &answer, self.world.now);
            }
            self.check()?;
        }
        self.world.tick();
        Ok(())
    }

    pub fn readers(&self, shard: u32) -> usize {
        self.clients
            .iter()
            .filter(|client| client.is_reading(shard, self.world.now))
            .count()
    }

    fn send(&mut self, index: usize) {
        let request = self.clients[index].send(self.world.now);
        self.requests.push((index, request));
    }

    fn deliver_request(&mut self, choices: &mut Choices) -> Result<(), String> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let position = choices.below(self.requests.len());
        let (index, request) = if choices.below(4) == 0 {
            self.requests[position].clone()
        } else {
            self.requests.swap_remove(position)
        };
        self.process(index, &request)
    }

    fn process(&mut self, index: usize, request: &Heartbeat) -> Result<(), String> {
        let sequence = request.sequence.map_or(0, Sequence::get);
        let input = Input::HeartbeatReceived(request.clone());
        let before = self.world.group.clone();
        let step = self
            .world
            .decide(&input)
            .map_err(|error| error.to_string())?;
        self.world.group.apply(&step.writes);
        let violations: Vec<_> = self
            .world
            .group
            .check_invariants()
            .into_iter()
            .chain(self.world.group.check_succession(&before))
            .collect();
        if !violations.is_empty() {
            return Err(format!("{violations:?}"));
        }
        let answer = reply(step);
        self.note(
            index,
            &format!(
                "asks {sequence} epoch {} v{} owns {:?}: {:?} epoch {} v{} {:?}",
                request.epoch,
                request.version,
                request.owned,
                answer.status,
                answer.member_epoch,
                answer.metadata_version,
                answer.assigned
            ),
        );
        self.answers.push((index, sequence, answer));
        Ok(())
    }

    fn deliver_answer(&mut self, choices: &mut Choices) -> Result<(), String> {
        if self.answers.is_empty() {
            return Ok(());
        }
        let (index, sequence, answer) = self.answers.swap_remove(choices.below(self.answers.len()));
        let now = self.world.now;
        self.note(
            index,
            &format!(
                "hears {sequence}, waits for {:?}",
                self.clients[index].waiting
            ),
        );
        if self.clients[index].hear(sequence, &answer, now) {
            return Err(format!(
                "invariant 9: {} was fenced though it obeyed: {answer:?}",
                self.clients[index].name
            ));
        }
        Ok(())
    }

    fn drain(&mut self, choices: &mut Choices) {
        let index = choices.below(self.clients.len());
        self.clients[index].draining.pop_first();
    }

    fn lose(&mut self, choices: &mut Choices) {
        if choices.below(2) == 0 && !self.requests.is_empty() {
            self.requests
                .swap_remove(choices.below(self.requests.len()));
        } else if !self.answers.is_empty() {
            self.answers.swap_remove(choices.below(self.answers.len()));
        }
    }

    fn note(&mut self, index: usize, what: &str) {
        self.log
            .push(format!("{} m{index} {what}", self.world.now.as_ms()));
    }

    /// What happened to one client, or to all.
    pub fn story(&self, of: &str) -> String {
        self.log
            .iter()
            .filter(|line| line.contains(of))
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Invariant 2, from outside.
    fn check(&self) -> Result<(), String> {
        match (0..self.shards).find(|shard| self.readers(*shard) > 1) {
            Some(shard) => Err(format!(
                "invariant 2: shard {shard} is read by two at {:?}",
                self.world.now
            )),
            None => Ok(()),
        }
    }
}
