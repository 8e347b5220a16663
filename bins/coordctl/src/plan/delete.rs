//! What deleting groups would mean: who is in them, what is left unread, what stays in Redis.

use protocol::Group;
use serde::Serialize;

use super::stand::{GroupStand, tell};
use super::{lines, nothing_changed};
use crate::failure::Failure;
use crate::run::Session;
use crate::show::Look;
use crate::show::grid::Column::{Number, State, Words};
use crate::show::grid::Grid;
use crate::show::numbers::{known, many, sum};
use crate::show::text::{wire, word};

/// What deleting groups would mean.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletePlan {
    action: &'static str,
    stream_prefix: String,
    shard_count: u32,
    /// Groups that go.
    consumer_groups: Vec<Going>,
    /// Groups of the stream that stay.
    groups_that_stay: Vec<String>,
    force: bool,
    obstacles: Vec<String>,
    notes: Vec<String>,
    /// How to do it.
    #[serde(skip)]
    command: String,
}

/// A group that goes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Going {
    #[serde(flatten)]
    group: GroupStand,
    unread: Option<u64>,
    pending: Option<u64>,
}

impl DeletePlan {
    /// Looks at the groups of a stream that would go: at one, or at all.
    pub(crate) async fn make(
        session: &Session,
        stream: &str,
        only: Option<&str>,
        force: bool,
    ) -> Result<Self, Failure> {
        let all = session.groups_of(stream).await?;
        let (going, staying): (Vec<Group>, Vec<Group>) = all
            .into_iter()
            .partition(|group| only.is_none_or(|name| group.consumer_group == name));
        if going.is_empty() {
            let name = only.unwrap_or_default();
            return Err(Failure::NotFound {
                message: format!("the stream {stream} has no group `{name}`"),
                advice: format!("coordctl group list --stream {}", word(stream)),
            });
        }
        let told = tell(session, &going).await?;
        let shard_count = going.first().map_or(0, |group| group.shard_count);
        let total = |name: &str, part: fn(&protocol::ShardOffsets) -> Option<u64>| {
            let offsets = told.offsets.get(name)?;
            sum(offsets.shards.iter().map(part))
        };
        let consumer_groups: Vec<Going> = going
            .iter()
            .map(|group| Going {
                group: GroupStand::of(group),
                unread: total(&group.consumer_group, |shard| shard.unread),
                pending: total(&group.consumer_group, |shard| shard.pending_count),
            })
            .collect();
        let mut notes: Vec<String> = told.unknown.clone().into_iter().collect();
        notes.push(what_stays(stream, shard_count, staying.is_empty()));
        let force_word = if force { " --force" } else { "" };
        let command = match only {
            Some(group) => format!("coordctl group delete {} {}", word(stream), word(group)),
            None => format!("coordctl stream delete {}", word(stream)),
        };
        Ok(Self {
            action: "DELETE_GROUPS",
            stream_prefix: stream.to_owned(),
            shard_count,
            obstacles: obstacles(&consumer_groups, force),
            consumer_groups,
            groups_that_stay: staying
                .into_iter()
                .map(|group| group.consumer_group)
                .collect(),
            force,
            notes,
            command: command + force_word,
        })
    }

    /// The groups that go: the one named like the stream last, so that the stream lasts until all others are gone.
    pub(crate) fn groups(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .consumer_groups
            .iter()
            .map(|going| going.group.consumer_group.as_str())
            .collect();
        names.sort_by_key(|name| *name == self.stream_prefix);
        names
    }

    /// What is said once everything is gone that should.
    pub(crate) fn what_stays(&self) -> String {
        what_stays(
            &self.stream_prefix,
            self.shard_count,
            self.groups_that_stay.is_empty(),
        )
    }

    /// The plan for people.
    pub(crate) fn text(&self, look: &Look) -> String {
        let count = self.consumer_groups.len();
        let mut text = format!(
            "{}: {} now, {} after\n\n",
            self.stream_prefix,
            many(count + self.groups_that_stay.len(), "group"),
            self.groups_that_stay.len()
        );
        let columns = vec![
            Words("GOES"),
            State("STATE"),
            Number("MEMBERS"),
            Number("UNREAD"),
            Number("PENDING"),
        ];
        let mut grid = Grid::new(columns, look.colours);
        for going in &self.consumer_groups {
            grid.row([
                going.group.consumer_group.clone(),
                wire(going.group.state),
                going.group.members.to_string(),
                known(going.unread),
                known(going.pending),
            ]);
        }
        text.push_str(&grid.finish());
        text.push_str("\n\n");
        text.push_str(&lines("refused as it stands", &self.obstacles));
        text.push_str(&lines("note", &self.notes));
        text.push_str(&nothing_changed(&self.command));
        text
    }
}

fn obstacles(groups: &[Going], force: bool) -> Vec<String> {
    let with_members = groups
        .iter()
        .filter(|going| !force && going.group.members > 0);
    let told = with_members.map(|going| {
        let members = many(going.group.members, "member");
        let name = &going.group.consumer_group;
        format!("{name} has {members}; stop them, or add --force")
    });
    told.collect()
}

fn what_stays(stream: &str, shards: u32, whole: bool) -> String {
    let keys = match shards {
        0 => return "the stream has no shard, so that no key stays".to_owned(),
        1 => protocol::stream_key(stream, 0),
        _ => format!(
            "{} … {}",
            protocol::stream_key(stream, 0),
            protocol::stream_key(stream, shards - 1)
        ),
    };
    if whole {
        format!(
            "what is in Redis stays: drop {keys} by redis-cli DEL when you are done; until then no stream of this name can be created"
        )
    } else {
        format!("the consumer group stays on {keys}; drop it by redis-cli XGROUP DESTROY")
    }
}
