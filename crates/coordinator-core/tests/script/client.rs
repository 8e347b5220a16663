//! A process as a script sees it: what it was last told, and the heartbeat that obeys it. Knows no group.

use coordinator_core::input::{Heartbeat, PROTOCOL_VERSION, Revoking};
use coordinator_core::names::{InstanceId, MemberId, RequestId};
use coordinator_core::numbers::{Concurrency, MetadataVersion, Sequence};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::{HeartbeatReply, HeartbeatStatus};

use super::ScriptError;
use super::text::lets_go_on;
use super::words::Words;

/// What a message is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Joins,
    Reports,
    Leaves,
}

/// A process. It is written `a`, or `a:p1` where it names itself.
#[derive(Clone)]
pub struct Client {
    actor: String,
    epoch: u64,
    version: u64,
    owned: ShardSet,
    /// The position of its last message, once it numbers them.
    sequence: Option<u64>,
    sent: u32,
    /// Whether it was let in and neither refused nor leaving.
    pub is_in: bool,
}

impl Client {
    pub fn new(actor: &str) -> Self {
        Self {
            actor: actor.to_owned(),
            epoch: 0,
            version: 0,
            owned: ShardSet::new(),
            sequence: None,
            sent: 0,
            is_in: false,
        }
    }

    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Its next message: what the line says, and for the rest what it was last told.
    pub fn send(&mut self, verb: Verb, words: &mut Words) -> Result<Heartbeat, ScriptError> {
        if verb == Verb::Joins {
            (self.version, self.owned) = (0, ShardSet::new());
        }
        self.sent += 1;
        self.sequence = match words.number("seq")? {
            Some(sequence) => Some(sequence),
            None => self.sequence.map(|last| last + 1),
        };
        let (member, process) = match self.actor.split_once(':') {
            Some((member, process)) => (member, Some(process)),
            None => (self.actor.as_str(), None),
        };
        let name = |text: &str| {
            MemberId::parse(text).map_err(|error| words.error(format!("`{text}` {error}")))
        };
        let member = name(member)?;
        let addressed_to = words.text("path").map_or(Ok(member.clone()), |text| {
            MemberId::parse(&text).map_err(|error| words.error(format!("`{text}` {error}")))
        })?;
        let epoch = match verb {
            Verb::Joins => 0,
            Verb::Leaves => -1,
            Verb::Reports => i64::try_from(self.epoch).unwrap_or(i64::MAX),
        };
        let owned = match verb {
            Verb::Reports => self.owned.clone(),
            Verb::Joins | Verb::Leaves => ShardSet::new(),
        };
        let request = words.text("request");
        let request = request.unwrap_or_else(|| format!("{} {}", self.actor, self.sent));
        let instance = words.text("instance").or(process.map(str::to_owned));
        Ok(Heartbeat {
            protocol_version: words.number("protocol")?.unwrap_or(PROTOCOL_VERSION),
            request: RequestId::new(&request),
            addressed_to,
            member,
            epoch: words.number("epoch")?.unwrap_or(epoch),
            version: MetadataVersion::new(words.number("version")?.unwrap_or(self.version)),
            instance: instance.map(|text| InstanceId::new(&text)),
            sequence: self.sequence.map(Sequence::new),
            name: words.text("name"),
            max_concurrency: Concurrency::new(words.number("concurrency")?.unwrap_or(1)),
            owned: words.shards("owned")?.unwrap_or(owned),
            revoking: revoking(words)?,
            progress: words.shards("progress")?.unwrap_or_default(),
        })
    }

    /// Takes an answer over (rules T2 and T3): what it is refused it does not forget, so that a script can go on with it.
    pub fn hear(&mut self, epoch_sent: i64, reply: &HeartbeatReply) {
        self.is_in = lets_go_on(reply.status) && epoch_sent != -1;
        if !lets_go_on(reply.status) {
            return;
        }
        self.epoch = reply.member_epoch;
        self.version = reply.metadata_version.get();
        self.owned = match reply.status {
            HeartbeatStatus::Ok => reply.assigned.clone(),
            // Nothing may be started.
            _ => {
                let kept = self.owned.iter();
                kept.filter(|shard| reply.assigned.contains(*shard))
                    .collect()
            }
        };
    }
}

fn revoking(words: &mut Words) -> Result<Vec<Revoking>, ScriptError> {
    let draining = words.shards("draining")?.unwrap_or_default();
    let revoked = words.shards("revoked")?.unwrap_or_default();
    let draining = draining.iter().map(|shard| (shard, false));
    let all = draining.chain(revoked.iter().map(|shard| (shard, true)));
    let all = all.map(|(shard, finished)| Revoking { shard, finished });
    Ok(all.collect())
}
