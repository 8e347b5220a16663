//! What deleting groups would mean: who is in them, what is left unread, what stays in Redis.

use protocol::{ErrorCode, Group, Member};
use serde::Serialize;

use super::refusals::{self, NOT_SEEN};
use super::stand::{GroupStand, tell};
use super::{lines, nothing_changed, refused};
use crate::failure::Failure;
use crate::run::Session;
use crate::show::Look;
use crate::show::grid::Column::{Number, State, Words};
use crate::show::grid::Grid;
use crate::show::numbers::{known, many, sum};
use crate::show::text::{wire, word};
use crate::show::time::Moment;

/// What deleting groups would mean.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletePlan {
    action: &'static str,
    stream_prefix: String,
    shard_count: u32,
    /// Shards whose keys stay in Redis, those that are leaving included; null where the coordinator has no Redis of shard streams.
    remaining_shards: Option<u32>,
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
        let shards = all.iter().map(shards_there).max().unwrap_or_default();
        let (mut going, staying): (Vec<Group>, Vec<Group>) = all
            .into_iter()
            .partition(|group| only.is_none_or(|name| group.consumer_group == name));
        if let Some(name) = only.filter(|_| going.is_empty()) {
            going.push(unlisted(session, stream, name).await?);
        }
        let told = tell(session, &going).await?;
        let shard_count = going.first().map_or(0, |group| group.shard_count);
        let total = |name: &str, part: fn(&protocol::ShardOffsets) -> Option<u64>| {
            let offsets = told.offsets.get(name)?;
            sum(offsets.shards.iter().map(part))
        };
        let mut notes: Vec<String> = told.unknown.clone().into_iter().collect();
        let mut consumer_groups = Vec::new();
        for group in &going {
            let name = &group.consumer_group;
            let members = members(session, group).await?;
            if !force {
                notes.extend(refusals::cut_off(name, &members, Moment::now()));
            }
            let mut stand = GroupStand::of(group);
            // Who leaves and still has shards is not among those that should have some.
            stand.members = refusals::active(&members).len();
            consumer_groups.push(Going {
                group: stand,
                unread: total(name, |shard| shard.unread),
                pending: total(name, |shard| shard.pending_count),
            });
        }
        let remaining_shards = (!told.is_without_streams).then_some(shards);
        notes.extend(what_stays(stream, remaining_shards, staying.is_empty()));
        let obstacles = obstacles(&consumer_groups, force);
        if obstacles.is_empty() {
            notes.push(NOT_SEEN.to_owned());
        }
        let force_word = if force { " --force" } else { "" };
        let command = match only {
            Some(group) => format!("coordctl group delete {} {}", word(stream), word(group)),
            None => format!("coordctl stream delete {}", word(stream)),
        };
        Ok(Self {
            action: "DELETE_GROUPS",
            stream_prefix: stream.to_owned(),
            shard_count,
            remaining_shards,
            obstacles,
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

    /// What is said once everything is gone that should; nothing where there are no streams.
    pub(crate) fn what_stays(&self) -> Option<String> {
        what_stays(
            &self.stream_prefix,
            self.remaining_shards,
            self.groups_that_stay.is_empty(),
        )
    }

    /// The plan for people. `again` is what is said beside, to have it done.
    pub(crate) fn text(&self, look: &Look, again: &str) -> String {
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
        text.push_str(&refused(&self.obstacles));
        text.push_str(&lines("note", &self.notes));
        let command = format!("{} {again}", self.command);
        text.push_str(&nothing_changed(&command, &self.obstacles));
        text
    }
}

/// A group that was not in the list, which may be late: its record says whether it is there.
async fn unlisted(session: &Session, stream: &str, name: &str) -> Result<Group, Failure> {
    let group = session.client.monitored_group(stream, name).await;
    group.map_err(|error| match error.code() {
        Some(ErrorCode::GroupNotFound) => Failure::NotFound {
            message: format!("the stream {stream} has no group `{name}`"),
            advice: format!("coordctl group list --stream {}", word(stream)),
        },
        _ => error.into(),
    })
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

/// One that is half made takes no member in.
async fn members(session: &Session, group: &Group) -> Result<Vec<Member>, Failure> {
    if group.provisioning.is_some() {
        return Ok(Vec::new());
    }
    let (stream, name) = (&group.stream_prefix, &group.consumer_group);
    Ok(session.client.members(stream, name).await?.members)
}

/// How many shards of a stream may have keys: those of a change that is under way are there beside those that stay.
pub(crate) fn shards_there(group: &Group) -> u32 {
    let change = group.active_migration.as_ref();
    let changing = change.map_or(0, |it| it.from_shard_count.max(it.to_shard_count));
    group.shard_count.max(changing)
}

/// What is left in Redis, and what it keeps from being done.
pub(crate) fn what_stays(stream: &str, shards: Option<u32>, whole: bool) -> Option<String> {
    const PAGE: &str = "docs/operations.md#deleting";
    let shards = shards?;
    let each = |name: &dyn Fn(u32) -> String| match shards {
        0 | 1 => name(0),
        _ => format!("{} … {}", name(0), name(shards - 1)),
    };
    let key = |shard| protocol::stream_key(stream, shard);
    let beside = |shard| format!("{{{}}}:*", protocol::stream_key(stream, shard));
    Some(match (shards, whole) {
        (0, true) => format!(
            "the stream has no shard, so that its name is free; what is remembered of those that it had stays: {PAGE}"
        ),
        (0, false) => "the stream has no shard that a consumer group could stay on".to_owned(),
        (_, true) => format!(
            "what is in Redis stays: {}, and beside them {}; while it is there no stream of this name can be created. What to drop, and when not to: {PAGE}",
            each(&key),
            each(&beside)
        ),
        (_, false) => format!(
            "the consumer group stays on {}, and holds up every later scale-in until redis-cli XGROUP DESTROY drops it on each: {PAGE}",
            each(&key)
        ),
    })
}
