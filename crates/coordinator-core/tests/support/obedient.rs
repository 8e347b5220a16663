//! Members that do as they are told, a network and machines that do not, and a coordinator that takes the short way where it can.

use coordinator_core::Group;
use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::step::{HeartbeatReply, Reply, SteadyStep, Step};
use coordinator_core::time::Timestamp;
use coordinator_core::write::Write;

use super::choices::Choices;
use super::client::{Client, Wish};
use super::{World, reply};

/// How often one member may be replaced: its successors are remembered, but not without limit (case C22).
const REPLACEMENTS: usize = 6;

/// Whether a decision changes nothing but leases.
fn is_quiet(step: &Step) -> bool {
    let mut writes = step.writes.iter();
    writes.all(|write| matches!(write, Write::LeaseSet { .. }))
}

fn in_full(steady: &SteadyStep) -> Reply {
    Reply::Heartbeat(steady.reply.clone())
}

/// Clients, a coordinator, and the messages between them.
pub struct Bench {
    pub world: World,
    clients: Vec<Client>,
    requests: Vec<(usize, u64, Heartbeat)>,
    answers: Vec<(usize, u64, HeartbeatReply)>,
    shards: u32,
    replaced: usize,
    /// Whether an obedient client that names itself must never be fenced (invariant 9).
    pub promises_peace: bool,
    /// What happened, for the message of a failure.
    log: Vec<String>,
}

impl Bench {
    /// Clients of which the first `plain` neither name themselves nor number their messages.
    pub fn new(mut world: World, clients: usize, plain: usize, shards: u32) -> Self {
        world.since = Timestamp::from_ms(0);
        let clients = (0..clients)
            .map(|index| Client::new(&format!("m{index}"), 0, index < plain))
            .collect();
        Self {
            world,
            clients,
            requests: Vec::new(),
            answers: Vec::new(),
            shards,
            replaced: 0,
            promises_peace: true,
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
            9 => self.any_client(choices).drain_one(),
            10 => drop(self.world.tick()),
            _ => self.lose(choices),
        }
        self.check()
    }

    /// Now and then, what happens to processes: members leave and come back, are replaced, and the coordinator restarts or is away.
    pub fn upheaval(&mut self, choices: &mut Choices) -> Result<(), String> {
        match choices.below(60) {
            0..=2 => self.leave_or_return(choices),
            3 | 4 => self.replace(choices),
            5 | 6 => self.restart_coordinator()?,
            7 => {
                // Nobody watches for a while; with the next tick it is known (rule M6).
                self.world.after(choices.below(40_000) as u64);
                self.world.since = self.world.now;
            }
            _ => {}
        }
        self.check()
    }

    /// A round in which everything arrives at once and everybody does its work.
    pub fn good_round(&mut self) -> Result<(), String> {
        self.requests.clear();
        self.answers.clear();
        self.world.after(1_000);
        for index in 0..self.clients.len() {
            if self.clients[index].is_replaced {
                continue;
            }
            if self.clients[index].wish != Wish::Work {
                self.clients[index].start_over();
            }
            self.clients[index].drain_all();
            if let Some((sequence, request)) = self.clients[index].send(self.world.now) {
                self.process(index, sequence, &request, false)?;
            }
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

    fn any_client(&mut self, choices: &mut Choices) -> &mut Client {
        let index = choices.below(self.clients.len());
        &mut self.clients[index]
    }

    fn send(&mut self, index: usize) {
        if let Some((sequence, request)) = self.clients[index].send(self.world.now) {
            self.requests.push((index, sequence, request));
        }
    }

    fn leave_or_return(&mut self, choices: &mut Choices) {
        let client = self.any_client(choices);
        match client.wish {
            Wish::Work => client.leave(),
            Wish::Out if !client.is_replaced => client.wish = Wish::Work,
            Wish::Out | Wish::Leave => {}
        }
    }

    /// Another process takes the place of one that has joined, which is dead, or lives on (rule H11, case C22).
    fn replace(&mut self, choices: &mut Choices) {
        let index = choices.below(self.clients.len());
        let client = &self.clients[index];
        if client.is_replaced || !client.has_joined() || self.replaced == REPLACEMENTS {
            return;
        }
        self.replaced += 1;
        let successor = Client::new(&client.name, self.replaced, client.is_plain());
        self.note(index, "is replaced");
        self.clients[index].is_replaced = true;
        if choices.below(2) == 0 {
            self.clients[index].die();
        }
        self.clients.push(successor);
    }

    /// Everything in memory is lost; what was recorded is read back (rule H16, invariant 7).
    fn restart_coordinator(&mut self) -> Result<(), String> {
        let (record, settings) = (
            self.world.group.record().clone(),
            *self.world.group.settings(),
        );
        self.world.group = Group::restore(record, settings).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn deliver_request(&mut self, choices: &mut Choices) -> Result<(), String> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let position = choices.below(self.requests.len());
        let (index, sequence, request) = if choices.below(4) == 0 {
            self.requests[position].clone()
        } else {
            self.requests.swap_remove(position)
        };
        self.process(index, sequence, &request, choices.below(3) != 0)
    }

    /// The coordinator at work: on the short way if it may and that is possible (rule H17), else on the long one.
    fn process(
        &mut self,
        index: usize,
        sequence: u64,
        request: &Heartbeat,
        may_be_short: bool,
    ) -> Result<(), String> {
        let before = self.world.group.clone();
        let steady = before.decide_steady(request, None);
        let input = Input::HeartbeatReceived(request.clone());
        let step = self
            .world
            .decide(&input)
            .map_err(|error| error.to_string())?;
        if is_quiet(&step) && steady.as_ref().map(in_full) != Some(step.clone().reply) {
            return Err(format!("rule H17: {steady:?} on the short way, {step:?}"));
        }
        let answer = if let Some(steady) = steady.filter(|_| may_be_short) {
            if steady.renews_lease {
                let ttl = before.settings().member_lease_ttl();
                self.world.group.apply(&[Write::LeaseSet {
                    member: request.member.clone(),
                    deadline: self.world.now.plus(ttl),
                }]);
            }
            steady.reply
        } else {
            self.world.group.apply(&step.writes);
            reply(step)
        };
        let mut violations = self.world.group.check_invariants();
        violations.extend(self.world.group.check_succession(&before));
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
        if violations.is_empty() {
            Ok(())
        } else {
            Err(format!("{violations:?}"))
        }
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
        let client = &mut self.clients[index];
        let is_promised_peace = self.promises_peace && !client.is_plain() && !client.is_replaced;
        if client.hear(sequence, &answer, now) && is_promised_peace {
            return Err(format!(
                "invariant 9: {} was fenced though it obeyed: {answer:?}",
                client.name
            ));
        }
        Ok(())
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

    /// What happened.
    pub fn story(&self) -> String {
        self.log.join("\n")
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
