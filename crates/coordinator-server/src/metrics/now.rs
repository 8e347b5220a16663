//! Groups, members and shards as they are when they are asked for: gathered anew from what this coordinator last saw, so that what is gone is gone. Nothing is
//! asked of a store for it, and each shard is looked at once, however many there are.

use std::collections::HashMap;
use std::time::Duration;

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::settings::Settings;
use coordinator_core::time::Timestamp;
use store::{EntryId, MemberProgress, ShardProgress, StreamOffsets};

use super::text::{labels, with};
use crate::convert;
use crate::engine::{
    self, Asked, Engine, Evictions, Look, Reported, Sample, Standing, Tally, View,
};

/// What is shown.
pub(super) struct Now {
    pub(super) process: ProcessNow,
    pub(super) groups: Vec<GroupNow>,
}

/// What is shown of no single group.
pub(super) struct ProcessNow {
    /// What was asked about names that are no group's.
    pub(super) asked: Asked,
    pub(super) evictions: Evictions,
    /// What became of the questions to each index.
    pub(super) indexes: Vec<(&'static str, projection::Metrics)>,
}

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

/// Everything that is shown.
pub(super) fn gather(engine: &Engine) -> Now {
    let samples = engine.samples();
    let patience = engine.sample_patience();
    let now = engine.store_time();
    let views = engine.views().into_iter();
    let groups = views.filter_map(|view| {
        let sample = samples.get(&view.record.id);
        group_now(view, sample, patience, *engine.settings(), now)
    });
    Now {
        groups: groups.collect(),
        process: ProcessNow {
            asked: engine.asked_in_vain(),
            evictions: engine.evictions(),
            indexes: engine.index_metrics(),
        },
    }
}

fn group_now(
    view: View,
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
    let reported = sample.and_then(|sample| fresh(&sample.reported, patience));
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
    let look = sample.and_then(|sample| sample.standing.as_ref());
    let standing = look.and_then(|look| fresh(look, patience));
    let shards = shards_now(&group, look.is_some(), standing, reported, &labels);
    Some(GroupNow {
        labels,
        tally: view.tally,
        now,
        members,
        shards,
        sample_age: look.map(|look| look.age()),
        group,
    })
}

/// What was found, unless it is too old to say anything.
fn fresh<T>(look: &Look<T>, patience: Duration) -> Option<&T> {
    let found = look.outcome.as_ref().ok();
    found.filter(|_| look.age() <= patience)
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

fn shards_now(
    group: &Group,
    is_sampled: bool,
    standing: Option<&Standing>,
    reported: Option<&Reported>,
    labels: &str,
) -> Vec<ShardNow> {
    let rows = standing.into_iter().flat_map(|standing| &standing.shards);
    let found = rows.filter_map(|(shard, found)| Some((*shard, found.as_ref().ok()?)));
    let found: HashMap<ShardIndex, &StreamOffsets> = found.collect();
    let acked = reported.map(|reported| convert::last_acked_of_each(&reported.progress));
    let acked = acked.unwrap_or_default();
    let shards = engine::streams(group);
    let now = shards.iter().map(|shard| ShardNow {
        labels: of_shard(labels, shard),
        is_sampled,
        found: found.get(&shard).map(|found| (*found).clone()),
        last_acked: acked.get(&shard).copied(),
    });
    now.collect()
}

fn of_shard(labels: &str, shard: ShardIndex) -> String {
    with(labels, ("shard_index", &shard.to_string()))
}
