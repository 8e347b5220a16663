//! The numbers of groups, members and shards as they are when they are asked for: made anew from what this coordinator last saw, so that what is gone has no
//! series any more. Nothing is asked of a store for it.

use std::time::Duration;

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::settings::Settings;
use coordinator_core::time::Timestamp;
use store::{EntryId, MemberProgress, ShardProgress, StreamOffsets};

use super::text::{self, Family, labels, with};
use super::{consumers, groups, members, shards};
use crate::engine::{self, Engine, Sample, Tally, View};

/// A sample that is older than so many rounds says nothing any more.
const ROUNDS: u32 = 3;

/// A group as it is shown.
pub(super) struct GroupNow {
    pub(super) labels: String,
    pub(super) group: Group,
    pub(super) tally: Tally,
    /// The store's time, as far as it is known.
    pub(super) now: Option<Timestamp>,
    pub(super) members: Vec<MemberNow>,
    pub(super) shards: Vec<ShardNow>,
    /// How old what is told of its streams is.
    pub(super) sample_age: Option<Duration>,
}

/// A live member.
pub(super) struct MemberNow {
    pub(super) id: MemberId,
    pub(super) labels: String,
    pub(super) lease_ends: Option<Timestamp>,
    /// How many more records it could handle, where that was looked at.
    pub(super) available: Option<u32>,
    /// What it says of the shards that it holds.
    pub(super) progress: Vec<(String, ShardProgress)>,
}

/// A shard that has a stream.
pub(super) struct ShardNow {
    pub(super) labels: String,
    /// Whether it was looked at, successfully or not.
    pub(super) is_sampled: bool,
    pub(super) found: Option<StreamOffsets>,
    /// The highest id that a member says it acknowledged.
    pub(super) last_acked: Option<EntryId>,
}

/// How many groups a part of the text is about.
const PART: usize = 32;

/// The text, a part at a time: it can be large, and is never there as a whole.
pub(crate) fn families(engine: &Engine) -> impl Iterator<Item = String> + Send + 'static {
    let families = groups::FAMILIES
        .iter()
        .chain(members::FAMILIES)
        .chain(consumers::FAMILIES)
        .chain(shards::FAMILIES);
    Parts {
        all: gather(engine),
        families: families.collect::<Vec<_>>().into_iter(),
        current: None,
    }
}

/// The text that is still to be told.
struct Parts {
    all: Vec<GroupNow>,
    families: std::vec::IntoIter<&'static Family<GroupNow>>,
    current: Option<Current>,
}

/// The family that is being told.
struct Current {
    family: &'static Family<GroupNow>,
    /// How many groups it has been told of.
    groups: usize,
    /// Whether a series of it was told: before the first one stands what it means.
    has_head: bool,
}

impl Iterator for Parts {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            if self.current.is_none() {
                self.current = Some(Current {
                    family: self.families.next()?,
                    groups: 0,
                    has_head: false,
                });
            }
            let current = self.current.as_mut()?;
            let rest = &self.all[current.groups..];
            if rest.is_empty() {
                self.current = None;
                continue;
            }
            let some = &rest[..rest.len().min(PART)];
            current.groups += some.len();
            let body = text::body(current.family, some);
            if body.is_empty() {
                continue;
            }
            if current.has_head {
                return Some(body);
            }
            current.has_head = true;
            return Some(text::head(current.family) + &body);
        }
    }
}

fn gather(engine: &Engine) -> Vec<GroupNow> {
    let samples = engine.samples();
    let patience = engine.sampling_interval() * ROUNDS;
    let now = engine.store_time();
    let views = engine.views();
    let all = views.iter().filter_map(|view| {
        let sample = samples.get(&view.record.id);
        group_now(view, sample, patience, *engine.settings(), now)
    });
    all.collect()
}

fn group_now(
    view: &View,
    sample: Option<&Sample>,
    patience: Duration,
    settings: Settings,
    now: Option<Timestamp>,
) -> Option<GroupNow> {
    let id = &view.record.id;
    let labels = labels(&[
        ("stream_prefix", id.stream.as_str()),
        ("consumer_group", id.group.as_str()),
    ]);
    // It was restored when it was read: it can be again.
    let group = Group::restore((*view.record).clone(), settings).ok()?;
    let reported = sample.and_then(|sample| sample.reported.outcome.as_ref().ok());
    let members = group.live_members().map(|(member, record)| {
        let labels = with(&labels, ("member_id", member.as_str()));
        let progress = reported.and_then(|reported| reported.progress.get(member));
        let renewed = view.renewed.get(member).copied();
        MemberNow {
            id: member.clone(),
            lease_ends: renewed.max(record.lease_deadline),
            available: progress.map(|progress| progress.available_concurrency),
            progress: held(progress, |shard| record.holds(shard), &labels),
            labels,
        }
    });
    let members = members.collect();
    let shards = engine::streams(&group);
    let shards = shards
        .iter()
        .map(|shard| shard_now(shard, sample, patience, &labels));
    let shards = shards.collect();
    let standing = sample.and_then(|sample| sample.standing.as_ref());
    Some(GroupNow {
        labels,
        tally: view.tally,
        now,
        members,
        shards,
        sample_age: standing.map(|look| look.age()),
        group,
    })
}

/// What a member says of shards that it still holds.
fn held(
    progress: Option<&MemberProgress>,
    holds: impl Fn(ShardIndex) -> bool,
    labels: &str,
) -> Vec<(String, ShardProgress)> {
    let rows = progress.into_iter().flat_map(|progress| &progress.shards);
    let held = rows.filter(|row| holds(row.shard));
    held.map(|row| (of_shard(labels, row.shard), row.clone()))
        .collect()
}

fn shard_now(
    shard: ShardIndex,
    sample: Option<&Sample>,
    patience: Duration,
    labels: &str,
) -> ShardNow {
    let look = sample.and_then(|sample| sample.standing.as_ref());
    let fresh = look.filter(|look| look.age() <= patience);
    let standing = fresh.and_then(|look| look.outcome.as_ref().ok());
    let found = standing.and_then(|standing| {
        let mut rows = standing.shards.iter();
        let (_, found) = rows.find(|(index, _)| *index == shard)?;
        found.as_ref().ok().cloned()
    });
    let reported = sample.and_then(|sample| sample.reported.outcome.as_ref().ok());
    ShardNow {
        labels: of_shard(labels, shard),
        is_sampled: look.is_some(),
        found,
        last_acked: reported
            .and_then(|reported| crate::convert::last_acked(&reported.progress, shard)),
    }
}

fn of_shard(labels: &str, shard: ShardIndex) -> String {
    with(labels, ("shard_index", &shard.to_string()))
}
