//! Commands about members: who says what, what of it arrives when, and who hears the answer.

use coordinator_core::decide_without_group;
use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::step::{HeartbeatReply, HeartbeatStatus, Reply};
use coordinator_core::write::Write;

use super::ScriptError;
use super::client::{Client, Verb};
use super::play::is_about_a_lease;
use super::stage::Stage;
use super::text;
use super::words::Words;

/// After so many rounds a group should be at rest.
const ROUNDS: usize = 20;

impl Stage {
    /// `a joins`, `a reports`, `a leaves`: composed from what the line says and what the process was last told; delivered unless it is for
    /// `later=`; and the answer is taken over unless it is `unheard`.
    pub fn speak(&mut self, actor: &str, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let what = words.word(&format!("`{actor}` is no command, and what it does"))?;
        let verb = match what.as_str() {
            "joins" => Verb::Joins,
            "reports" => Verb::Reports,
            "leaves" => Verb::Leaves,
            _ => return Err(words.error(format!("`{actor} {what}` is no command"))),
        };
        let line = words.line();
        let heartbeat = self.client(line, actor)?.send(verb, words)?;
        if let Some(label) = words.text("later") {
            self.messages.insert(label, (actor.to_owned(), heartbeat));
            return Ok(Vec::new());
        }
        if let Some(label) = words.text("as") {
            self.messages
                .insert(label, (actor.to_owned(), heartbeat.clone()));
        }
        if words.flag("nogroup") {
            let reply = decide_without_group(&heartbeat);
            return Ok(vec![format!("{actor}: {}", text::reply(&reply))]);
        }
        let is_heard = !words.flag("unheard");
        self.arrive(line, actor, &heartbeat, is_heard)
    }

    /// A message that was composed earlier arrives, perhaps once more. Its sender does not wait for the answer, unless it is `heard`.
    pub fn deliver(&mut self, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let is_heard = words.flag("heard");
        let label = words.word("the name of a message")?;
        let message = self.messages.get(&label).cloned();
        let (actor, heartbeat) =
            message.ok_or_else(|| words.error(format!("there is no message {label}")))?;
        self.arrive(words.line(), &actor, &heartbeat, is_heard)
    }

    /// Each heartbeats once and does as it was told.
    pub fn obey(&mut self, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let mut said = Vec::new();
        for actor in words.all() {
            let heartbeat = self.next_report(words.line(), &actor)?;
            said.extend(self.arrive(words.line(), &actor, &heartbeat, true)?);
        }
        Ok(said)
    }

    /// All members heartbeat and do as they are told, until nothing changes any more.
    pub fn settle(&mut self, line: usize) -> Result<Vec<String>, ScriptError> {
        let mut said = Vec::new();
        for round in 1..=ROUNDS {
            let clients = self.play(line)?.clients.iter();
            let present = clients.filter(|(_, client)| client.is_in);
            let actors: Vec<String> = present.map(|(actor, _)| actor.clone()).collect();
            let mut is_at_rest = true;
            for actor in actors {
                let heartbeat = self.next_report(line, &actor)?;
                let (reply, writes) = self.exchange(line, &heartbeat)?;
                let client = self.client(line, &actor)?;
                is_at_rest &= writes.iter().all(is_about_a_lease)
                    && reply.status == HeartbeatStatus::Ok
                    && client.version() == reply.metadata_version.get();
                client.hear(heartbeat.epoch, &reply);
                if !text::lets_go_on(reply.status) {
                    said.push(format!("{actor}: {}", text::reply(&reply)));
                }
            }
            if is_at_rest {
                said.push(format!("at rest after {round} rounds"));
                return Ok(said);
            }
        }
        said.push(format!("not at rest after {ROUNDS} rounds"));
        Ok(said)
    }

    fn client(&mut self, line: usize, actor: &str) -> Result<&mut Client, ScriptError> {
        let clients = &mut self.play(line)?.clients;
        Ok(clients
            .entry(actor.to_owned())
            .or_insert_with(|| Client::new(actor)))
    }

    fn next_report(&mut self, line: usize, actor: &str) -> Result<Heartbeat, ScriptError> {
        let client = self.play(line)?.clients.get_mut(actor);
        let client =
            client.ok_or_else(|| ScriptError::new(line, format!("`{actor}` never joined")))?;
        client.send(Verb::Reports, &mut Words::read(line, "")?)
    }

    fn arrive(
        &mut self,
        line: usize,
        actor: &str,
        heartbeat: &Heartbeat,
        is_heard: bool,
    ) -> Result<Vec<String>, ScriptError> {
        let (reply, writes) = self.exchange(line, heartbeat)?;
        if is_heard {
            self.client(line, actor)?.hear(heartbeat.epoch, &reply);
        }
        let mut said = format!("{actor}: {}", text::reply(&reply));
        if writes.is_empty() {
            said += " (no write)";
        } else if writes.iter().all(is_about_a_lease) {
            said += " (only the lease written)";
        }
        Ok(vec![said])
    }

    fn exchange(
        &mut self,
        line: usize,
        heartbeat: &Heartbeat,
    ) -> Result<(HeartbeatReply, Vec<Write>), ScriptError> {
        let clock = self.clock();
        let input = Input::HeartbeatReceived(heartbeat.clone());
        let decided = self.play(line)?.command(clock, &input);
        let decided = decided.map_err(|what| ScriptError::new(line, what))?;
        let step = decided.map_err(|it| ScriptError::new(line, it.to_string()))?;
        self.spread(&step);
        match step.reply {
            Reply::Heartbeat(reply) => Ok((reply, step.writes)),
            other => Err(ScriptError::new(line, format!("answered with {other:?}"))),
        }
    }
}
