//! Flat rows and choices for dashboards. What is read for them is shared among all who ask, and `Age` says how old it is.

mod messages;
mod query;

pub(in crate::http) use messages::messages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::AGE;
use coordinator_core::Group;
use coordinator_core::names::MemberId;
use futures_util::stream::{self, StreamExt};
use protocol::{
    GrafanaAssignmentRow, GrafanaGroupRow, GrafanaMemberRow, GrafanaOption, GrafanaShardRow,
};
use serde::Serialize;
use store::MemberProgress;

use crate::convert::{self, ShardRow, Totals};
use crate::engine::{self, EngineError, Look, Reported, Sample, Standing, seen};
use crate::http::access::Reader;
use crate::http::{ApiError, App};
use query::GrafanaQuery;

/// Of so many groups the streams are looked at for an answer. Of more, what the sampler found last is told.
const FRESH: usize = 8;
/// How many groups, or shards, are read at once.
const AT_ONCE: usize = 8;

/// Rows, and how old they are.
type Rows<T> = Result<([(HeaderName, String); 1], Json<Vec<T>>), ApiError>;

fn rows<T: Serialize>(mut rows: Vec<T>, limit: usize, age: Duration) -> Rows<T> {
    rows.truncate(limit);
    Ok(([(AGE, age.as_secs().to_string())], Json(rows)))
}

/// The groups that are asked for.
async fn groups_of(app: &App, query: &GrafanaQuery) -> Result<(Vec<Group>, Duration), ApiError> {
    if let Some(id) = query.only_group() {
        return match app.engine().group(&id).await {
            Ok(group) => Ok((vec![group], Duration::ZERO)),
            Err(EngineError::GroupNotFound) => Ok((Vec::new(), Duration::ZERO)),
            Err(error) => Err(error.into()),
        };
    }
    let look = app.engine().all_groups().await;
    let groups = seen(&look)?.iter().filter(|group| query.allows(group));
    Ok((groups.cloned().collect(), look.age()))
}

/// A group, and what was found of it.
struct Found {
    group: Group,
    standing: Option<Arc<Look<Standing>>>,
    reported: Option<Arc<Look<Reported>>>,
}

impl Found {
    fn age(&self) -> Duration {
        let standing = self.standing.as_ref().map(|look| look.age());
        let reported = self.reported.as_ref().map(|look| look.age());
        standing.max(reported).unwrap_or_default()
    }

    /// Where its streams stand, or why that is not known.
    fn looked(&self) -> Result<&[ShardRow], String> {
        match self.standing.as_ref().map(|look| look.outcome.as_ref()) {
            Some(Ok(standing)) => Ok(&standing.shards),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("the streams have not been looked at".to_owned()),
        }
    }

    /// What its members report, where that is known.
    fn progress(&self) -> Option<&BTreeMap<MemberId, MemberProgress>> {
        let reported = self.reported.as_ref()?.outcome.as_ref().ok()?;
        Some(&reported.progress)
    }
}

/// What is to be looked at of groups.
#[derive(Clone, Copy)]
struct Wish {
    streams: bool,
    members: bool,
}

async fn find(app: &App, groups: Vec<Group>, wish: Wish) -> Vec<Found> {
    let engine = app.engine();
    if groups.len() > FRESH {
        let samples = engine.samples();
        let sampled = groups.into_iter().map(|group| {
            let sample: Option<&Sample> = samples.get(&group.record().id);
            Found {
                standing: sample.and_then(|sample| sample.standing.clone()),
                reported: sample.map(|sample| Arc::clone(&sample.reported)),
                group,
            }
        });
        return sampled.collect();
    }
    let finding = groups.into_iter().map(|group| async move {
        let id = group.record().id.clone();
        let standing = match wish.streams {
            true => Some(engine.standing(&id).await),
            false => None,
        };
        let reported = match wish.members {
            true => Some(engine.reported(&id).await),
            false => None,
        };
        Found {
            group,
            standing,
            reported,
        }
    });
    stream::iter(finding).buffered(AT_ONCE).collect().await
}

fn oldest(found: &[Found], age: Duration) -> Duration {
    found.iter().map(Found::age).fold(age, Duration::max)
}

pub(in crate::http) async fn groups(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaGroupRow> {
    let (groups, age) = groups_of(&app, &query).await?;
    let wish = Wish {
        streams: true,
        members: false,
    };
    let found = find(&app, groups, wish).await;
    let row = |found: &Found| {
        let totals = found.looked().map(Totals::of);
        convert::group_row(&found.group, totals.ok())
    };
    let told = found.iter().take(query.limit).map(row);
    rows(told.collect(), query.limit, oldest(&found, age))
}

pub(in crate::http) async fn members(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaMemberRow> {
    let (groups, age) = groups_of(&app, &query).await?;
    let wish = Wish {
        streams: false,
        members: true,
    };
    let found = find(&app, groups, wish).await;
    let none = BTreeMap::new();
    let members = found
        .iter()
        .flat_map(|found| convert::member_rows(&found.group, found.progress().unwrap_or(&none)));
    let wanted = members.filter(|row| query.member.allows(&row.member_id));
    let told = wanted.take(query.limit).collect();
    rows(told, query.limit, oldest(&found, age))
}

pub(in crate::http) async fn shards(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaShardRow> {
    let (groups, age) = groups_of(&app, &query).await?;
    let wish = Wish {
        streams: true,
        members: true,
    };
    let found = find(&app, groups, wish).await;
    let wanted = |shard| query.shard.allows_shard(shard);
    let told = up_to(query.limit, &found, |found, limit| {
        let (looked, progress) = (found.looked(), found.progress());
        convert::shard_rows(&found.group, looked, progress, wanted, limit)
    });
    rows(told, query.limit, oldest(&found, age))
}

pub(in crate::http) async fn assignments(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaAssignmentRow> {
    let (groups, age) = groups_of(&app, &query).await?;
    let wanted = |shard| query.shard.allows_shard(shard);
    let told = up_to(query.limit, &groups, |group, limit| {
        convert::assignment_rows(group, wanted, limit)
    });
    rows(told, query.limit, age)
}

pub(in crate::http) async fn stream_options(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaOption> {
    let (groups, age) = groups_of(&app, &query).await?;
    let names = groups.iter().map(|group| group.record().id.stream.as_str());
    rows(named(names.collect()), query.limit, age)
}

pub(in crate::http) async fn group_options(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaOption> {
    let (groups, age) = groups_of(&app, &query).await?;
    let names = groups.iter().map(|group| group.record().id.group.as_str());
    rows(named(names.collect()), query.limit, age)
}

pub(in crate::http) async fn shard_options(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaOption> {
    let (groups, age) = groups_of(&app, &query).await?;
    // By index: groups have the same ones, mostly.
    let mut there: Vec<bool> = Vec::new();
    for shards in groups.iter().map(engine::streams) {
        for shard in shards.iter() {
            let at = shard.as_usize();
            there.resize(there.len().max(at + 1), false);
            there[at] = true;
        }
    }
    let indexes = there.iter().enumerate().filter(|(_, there)| **there);
    let option = |index: usize| convert::option(format!("shard {index}"), index.to_string());
    let options = indexes.take(query.limit).map(|(index, _)| option(index));
    rows(options.collect(), query.limit, age)
}

/// What `of` makes of one after the other, until there are enough rows; it is told how many are still wanted.
fn up_to<T, R>(limit: usize, all: &[T], of: impl Fn(&T, usize) -> Vec<R>) -> Vec<R> {
    let mut rows = Vec::new();
    for one in all {
        if rows.len() >= limit {
            break;
        }
        rows.extend(of(one, limit - rows.len()));
    }
    rows
}

fn named(names: BTreeSet<&str>) -> Vec<GrafanaOption> {
    let option = |name: &str| convert::option(name.to_owned(), name.to_owned());
    names.into_iter().map(option).collect()
}
