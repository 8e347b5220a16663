//! Where a script plays: groups, the moment, what the store has shown. Carries out the commands that are neither about members nor about
//! shards.

use std::collections::BTreeMap;

use coordinator_core::Group;
use coordinator_core::generations::Generations;
use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::names::{ConsumerGroup, GroupId, StreamPrefix};
use coordinator_core::numbers::{AssignmentEpoch, ShardCount};
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::settings::Settings;
use coordinator_core::step::{Effect, Reply, ScaleReply, Step};
use coordinator_core::time::{Clock, Millis, Timestamp};

use super::ScriptError;
use super::play::{Play, is_about_a_lease};
use super::settings::settings;
use super::text::{self, START, moment};
use super::words::Words;

const STREAM: &str = "orders";

/// Everything that commands change.
pub struct Stage {
    pub plays: BTreeMap<String, Play>,
    current: String,
    now: Timestamp,
    since: Timestamp,
    doubted_at: Option<Timestamp>,
    marks: BTreeMap<String, GroupRecord>,
    /// Messages that were composed: who sent them, and what they say.
    pub messages: BTreeMap<String, (String, Heartbeat)>,
}

impl Default for Stage {
    fn default() -> Self {
        Self {
            plays: BTreeMap::new(),
            current: STREAM.to_owned(),
            now: START,
            since: Timestamp::from_ms(0),
            doubted_at: None,
            marks: BTreeMap::new(),
            messages: BTreeMap::new(),
        }
    }
}

impl Stage {
    /// Carries out one line. What is said because of it.
    pub fn run(&mut self, line: usize, text: &str) -> Result<Vec<String>, ScriptError> {
        let mut words = Words::read(line, text)?;
        let verb = words.word("the command")?;
        let said = match verb.as_str() {
            "group" => self.begin(&mut words)?,
            "after" | "away" | "clock-back" => self.pass(&verb, &mut words)?,
            "restart" => self.restart(&mut words)?,
            "tamper" => self.tamper(&mut words)?,
            "mark" => self.mark(&mut words)?,
            "lost" => self.lose(&mut words)?,
            "beside" | "in" => self.go_to(&verb, &mut words)?,
            "show" => {
                self.play(line)?.show_all();
                Vec::new()
            }
            "tick" => self.decide(line, &Input::TickDue)?,
            "streams-made" => self.decide(
                line,
                &Input::ProvisioningFinished {
                    generations: Generations::default(),
                    epochs_from: coordinator_core::numbers::GroupEpoch::default(),
                },
            )?,
            "delete" => {
                let force = words.flag("force");
                self.decide(line, &Input::DeletionRequested { force })?
            }
            "obeys" => self.obey(&mut words)?,
            "settle" => self.settle(line)?,
            "deliver" => self.deliver(&mut words)?,
            "scale" | "provisioned" | "rollback" | "evidence" | "retired" | "retire-refused" => {
                let input = self.about_shards(&verb, &mut words)?;
                self.decide(line, &input)?
            }
            actor => self.speak(actor, &mut words)?,
        };
        words.finish()?;
        Ok(said)
    }

    /// The lines of the present group that changed.
    pub fn changes(&mut self) -> Vec<String> {
        let play = self.plays.get_mut(&self.current);
        play.map(Play::changes).unwrap_or_default()
    }

    pub fn play(&mut self, line: usize) -> Result<&mut Play, ScriptError> {
        let play = self.plays.get_mut(&self.current);
        play.ok_or_else(|| ScriptError::new(line, "there is no group yet"))
    }

    pub const fn clock(&self) -> Clock {
        Clock {
            now: self.now,
            coordination_since: self.since,
            doubted_at: self.doubted_at,
        }
    }

    /// The consumer groups that coordinators know.
    pub fn coordinated(&self) -> Vec<ConsumerGroup> {
        let groups = self
            .plays
            .values()
            .map(|play| play.group.id().group.clone());
        groups.collect()
    }

    fn decide(&mut self, line: usize, input: &Input) -> Result<Vec<String>, ScriptError> {
        let clock = self.clock();
        let decided = self.play(line)?.command(clock, input);
        let step = match decided.map_err(|what| ScriptError::new(line, what))? {
            Ok(step) => step,
            Err(rejection) => return Ok(vec![format!("refused: {rejection}")]),
        };
        self.spread(&step);
        let mut said = match step.reply {
            Reply::Scale(ScaleReply::Started(id)) => vec![format!("started {}", id.as_str())],
            Reply::Scale(ScaleReply::Resumed(id)) => vec![format!("resumed {}", id.as_str())],
            Reply::Scale(ScaleReply::NothingToDo) => vec!["nothing to do".to_owned()],
            Reply::Heartbeat(reply) => vec![text::reply(&reply)],
            Reply::Done => Vec::new(),
        };
        if step.writes.is_empty() {
            said.push("no write".to_owned());
        } else if step.writes.iter().all(is_about_a_lease) {
            said.push("only leases written".to_owned());
        }
        Ok(said)
    }

    /// What one group learns of lost writes holds for the whole store (rule C8).
    pub fn spread(&mut self, step: &Step) {
        for effect in &step.effects {
            if let Effect::DoubtWrites { at } = effect {
                self.doubted_at = self.doubted_at.max(Some(*at));
            }
        }
    }

    fn begin(&mut self, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let shards = words
            .number("shards")?
            .map_or(ShardCount::new(4), ShardCount::new);
        let provisioning = if words.flag("unprovisioned") {
            Provisioning::Pending
        } else {
            Provisioning::Done
        };
        let stream = StreamPrefix::parse(STREAM);
        let id = stream
            .map_err(|error| words.error(error.to_string()))?
            .own_group();
        let settings = settings(words)?;
        let record = GroupRecord::new(id, shards, provisioning);
        self.put(words, record, settings)?;
        Ok(Vec::new())
    }

    fn put(
        &mut self,
        words: &Words,
        record: GroupRecord,
        settings: Settings,
    ) -> Result<(), ScriptError> {
        let name = record.id.group.as_str().to_owned();
        let group = Group::restore(record, settings).map_err(|it| words.error(it.to_string()))?;
        if self.plays.insert(name.clone(), Play::new(group)).is_some() {
            return Err(words.error(format!("the group {name} exists")));
        }
        self.current = name;
        Ok(())
    }

    /// A further group of the stream (rule G10), or another of its groups.
    fn go_to(&mut self, verb: &str, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let name = words.word("the name of a group")?;
        if verb == "in" {
            if !self.plays.contains_key(&name) {
                return Err(words.error(format!("there is no group {name}")));
            }
            self.current = name;
            return Ok(Vec::new());
        }
        let group = ConsumerGroup::parse(&name).map_err(|it| words.error(it.to_string()))?;
        let sibling = &self.play(words.line())?.group;
        let id = GroupId {
            stream: sibling.id().stream.clone(),
            group,
        };
        let settings = *sibling.settings();
        let record = GroupRecord::beside(id, sibling.record(), Provisioning::Done);
        self.put(words, record, settings)?;
        Ok(Vec::new())
    }

    /// Time passes, watched or not (rule M6); or the store's clock goes back (rule M7).
    fn pass(&mut self, verb: &str, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let text = words.word("a span")?;
        let span = words.parse_span(&text)?;
        self.now = match verb {
            "clock-back" => self.now.minus(span),
            _ => self.now.plus(span),
        };
        if verb == "after" {
            return Ok(vec![format!("it is {}", moment(self.now))]);
        }
        self.since = self.now;
        Ok(vec![format!(
            "it is {}, watched from now on",
            moment(self.now)
        )])
    }

    /// A coordinator reads the record anew, perhaps with other settings.
    fn restart(&mut self, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let settings = settings(words)?;
        let play = self.play(words.line())?;
        let group = Group::restore(play.group.record().clone(), settings);
        let group = group.map_err(|error| words.error(error.to_string()))?;
        play.replace(group);
        play.show_all();
        Ok(Vec::new())
    }

    /// Rule C6: what a record that no decision leads to is answered with. The group stays as it is.
    fn tamper(&mut self, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let play = self.play(words.line())?;
        let mut record = play.group.record().clone();
        let settings = *play.group.settings();
        if let Some(epoch) = words.number("assignment")? {
            record.assignment_epoch = AssignmentEpoch::new(epoch);
        }
        if let Some(shards) = words.number("shards")? {
            record.shard_count = ShardCount::new(shards);
        }
        if words.flag("no-members") {
            record.members.clear();
        }
        match Group::restore(record, settings) {
            Ok(_) => Err(words.error("this record is taken for good")),
            Err(error) => Ok(vec![format!("refused: {error}")]),
        }
    }

    fn mark(&mut self, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        let label = words.word("a name for the mark")?;
        let record = self.play(words.line())?.group.record().clone();
        self.marks.insert(label, record);
        Ok(Vec::new())
    }

    /// The store goes back to a mark, and shows it (rule C8) unless it happens silently. The coordinator remembers the epochs that it saw (rule C7),
    /// unless they are forgotten with it.
    fn lose(&mut self, words: &mut Words) -> Result<Vec<String>, ScriptError> {
        if !words.flag("silently") {
            // Doubts are an order: each is later than the last one, whatever the clock says.
            let after_last = self.doubted_at.map(|last| last.plus(Millis::new(1)));
            self.doubted_at = Some(self.now).max(after_last);
        }
        let remembers = !words.flag("forgotten");
        let Some(label) = words.text("to") else {
            // Nothing was lost, but the store can't be sure.
            return Ok(Vec::new());
        };
        let record = self.marks.get(&label).cloned();
        let record = record.ok_or_else(|| words.error(format!("there is no mark {label}")))?;
        let play = self.play(words.line())?;
        let group = Group::restore(record, *play.group.settings());
        let group = group.map_err(|error| words.error(error.to_string()))?;
        let known = play.group.known_epoch();
        play.replace(if remembers {
            group.knowing(known)
        } else {
            group
        });
        Ok(Vec::new())
    }
}
