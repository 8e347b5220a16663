//! What another shard count would mean: which shards appear or leave, and what is left in those that leave.

use protocol::Group;
use serde::Serialize;

use super::refusals::{self, NOT_SEEN};
use super::stand::{GroupStand, Told, tell};
use super::{lines, nothing_changed, refused};
use crate::failure::Failure;
use crate::run::Session;
use crate::show::Look;
use crate::show::grid::Column::{Number, State, Words};
use crate::show::grid::Grid;
use crate::show::numbers::{known, many, names, ranges};
use crate::show::text::{wire, word};

/// What only the coordinator looks at.
const NOT_LOOKED_AT: &str = "not seen from here: if keys of somebody else's stand in Redis where new shards would be, it is refused";

/// What cannot be mended afterwards.
const NO_WAY_BACK: &str = "there is no way back once shards are DRAINING, which is within a heartbeat or two: scaling up again makes new, empty shards (docs/operations.md#changing-the-shard-count)";

/// What another shard count would mean.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScalePlan {
    action: &'static str,
    stream_prefix: String,
    from_shard_count: u32,
    to_shard_count: u32,
    /// Shards that are new.
    appearing_shards: Vec<u32>,
    /// Shards that leave, for each group.
    leaving_shards: Vec<Leaving>,
    consumer_groups: Vec<GroupStand>,
    /// Why the coordinator would refuse.
    obstacles: Vec<String>,
    /// What is worth knowing before.
    notes: Vec<String>,
}

/// A shard that leaves, as one group has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Leaving {
    shard_index: u32,
    consumer_group: String,
    unread: Option<u64>,
    pending: Option<u64>,
    owner_member_ids: Vec<String>,
}

impl ScalePlan {
    /// Looks at the stream and its groups.
    pub(crate) async fn make(session: &Session, stream: &str, to: u32) -> Result<Self, Failure> {
        let groups = session.groups_of(stream).await?;
        let from = groups.first().map_or(0, |group| group.shard_count);
        let told = if to < from {
            tell(session, &groups).await?
        } else {
            Told::default()
        };
        let leaving_shards: Vec<Leaving> = (to..from)
            .flat_map(|shard| groups.iter().map(move |group| (shard, group)))
            .map(|(shard, group)| leaving(shard, group, &told))
            .collect();
        let obstacles = obstacles(&groups, to);
        let (still_there, appearing_shards) = appearing(&groups, from, to);
        let mut plan = Self {
            action: "SCALE_STREAM",
            stream_prefix: stream.to_owned(),
            from_shard_count: from,
            to_shard_count: to,
            appearing_shards,
            leaving_shards,
            consumer_groups: groups.iter().map(GroupStand::of).collect(),
            obstacles,
            notes: told.unknown.into_iter().collect(),
        };
        plan.notes.extend(still_there);
        plan.notes.extend(plan.unread_by_nobody());
        plan.notes.extend(gone_on_with(&groups, to));
        if plan.obstacles.is_empty() {
            plan.notes.extend(before_it_is_done(from, to));
        }
        Ok(plan)
    }

    /// Groups without a member that keep shards from leaving.
    fn unread_by_nobody(&self) -> Vec<String> {
        let empty = self
            .consumer_groups
            .iter()
            .filter(|group| group.members == 0);
        let holding = empty.filter(|group| {
            self.leaving_shards
                .iter()
                .filter(|leaving| leaving.consumer_group == group.consumer_group)
                .any(|leaving| leaving.unread != Some(0) || leaving.pending != Some(0))
        });
        let told = holding.map(|group| {
            let name = &group.consumer_group;
            format!("nobody reads for {name}: a shard with something left does not leave until a member has read it")
        });
        told.collect()
    }

    /// The plan for people. `again` is what is said beside, to have it done.
    pub(crate) fn text(&self, look: &Look, again: &str) -> String {
        let (stream, from, to) = (
            &self.stream_prefix,
            self.from_shard_count,
            self.to_shard_count,
        );
        let mut text = format!(
            "{stream}: {} now, {to} after\n",
            many(from as usize, "shard")
        );
        if from == to && self.obstacles.is_empty() {
            text.push_str("Nothing would change.");
            return text;
        }
        if !self.appearing_shards.is_empty() {
            let shards = ranges(&self.appearing_shards);
            text.push_str(&format!("appear: {shards}, empty; keys move to them, so that the order of a key holds within a shard\n"));
        }
        if !self.leaving_shards.is_empty() {
            let shards: Vec<u32> = (to..from).collect();
            let shards = ranges(&shards);
            text.push_str(&format!(
                "leave: {shards}, each once it is read to its end\n\n"
            ));
            text.push_str(&self.leaving(look));
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.groups(look));
        text.push_str("\n\n");
        text.push_str(&refused(&self.obstacles));
        text.push_str(&lines("note", &self.notes));
        let command = format!("coordctl stream scale {} {to} {again}", word(stream));
        text.push_str(&nothing_changed(&command, &self.obstacles));
        text
    }

    fn leaving(&self, look: &Look) -> String {
        let columns = vec![
            Number("SHARD"),
            Words("GROUP"),
            Number("UNREAD"),
            Number("PENDING"),
            Words("OWNER"),
        ];
        let mut grid = Grid::new(columns, look.colours);
        for leaving in &self.leaving_shards {
            grid.row([
                leaving.shard_index.to_string(),
                leaving.consumer_group.clone(),
                known(leaving.unread),
                known(leaving.pending),
                names(&leaving.owner_member_ids),
            ]);
        }
        grid.finish()
    }

    fn groups(&self, look: &Look) -> String {
        let columns = vec![Words("GROUP"), State("STATE"), Number("MEMBERS")];
        let mut grid = Grid::new(columns, look.colours);
        for group in &self.consumer_groups {
            grid.row([
                group.consumer_group.clone(),
                wire(group.state),
                group.members.to_string(),
            ]);
        }
        grid.finish()
    }
}

fn leaving(shard_index: u32, group: &Group, told: &Told) -> Leaving {
    let offsets = told.offsets.get(&group.consumer_group);
    let row = offsets.and_then(|of| of.shards.iter().find(|row| row.shard_index == shard_index));
    Leaving {
        shard_index,
        consumer_group: group.consumer_group.clone(),
        unread: row.and_then(|row| row.unread),
        pending: row.and_then(|row| row.pending_count),
        owner_member_ids: row.map_or_else(Vec::new, |row| row.owner_member_ids.clone()),
    }
}

/// The shards that would be made; and what is said of those in their place that have not left yet. None where there can't be as many.
fn appearing(groups: &[Group], from: u32, to: u32) -> (Option<String>, Vec<u32>) {
    if refusals::too_many(to).is_some() {
        return (None, Vec::new());
    }
    let held = refusals::held_by_another(groups, to).min(to);
    let held_shards: Vec<u32> = (from..held).collect();
    let said = (!held_shards.is_empty()).then(|| {
        let shards = ranges(&held_shards);
        format!("taken by the change that is under way: {shards}; new shards in their place can be made once it is through")
    });
    (said, (from.max(held)..to).collect())
}

/// What is worth knowing of a change that would not be refused, as far as it is seen.
fn before_it_is_done(from: u32, to: u32) -> Vec<String> {
    let mut notes = Vec::new();
    if from < to {
        notes.push(NOT_LOOKED_AT);
    }
    if to < from {
        notes.push(NO_WAY_BACK);
    }
    if from != to {
        notes.push(NOT_SEEN);
    }
    notes.into_iter().map(str::to_owned).collect()
}

fn obstacles(groups: &[Group], to: u32) -> Vec<String> {
    let mut obstacles = Vec::from_iter(refusals::too_many(to));
    obstacles.extend(refusals::half_made(groups));
    obstacles.extend(refusals::under_way(groups, to));
    obstacles
}

fn gone_on_with(groups: &[Group], to: u32) -> Option<String> {
    let same = refusals::resumed(groups, to)?;
    Some(format!(
        "{} is on its way to {to} shards already, and its streams are not all made yet ({}): asked for again, it is gone on with",
        same.resharding_id,
        wire(same.state)
    ))
}
