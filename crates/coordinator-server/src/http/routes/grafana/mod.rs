//! Flat rows and choices for dashboards, page by page. What is read for them is shared among all who ask. The headers say how old rows are (`Age`), whether the
//! index told which groups there are (`X-Served-By`) and how old that is (`X-Index-Age`), and where the next page begins (`X-Next-Cursor`).

mod messages;
mod query;
mod walk;

pub(in crate::http) use messages::messages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::AGE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use coordinator_core::Group;
use coordinator_core::names::{GroupId, MemberId};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use protocol::{
    GrafanaAssignmentRow, GrafanaGroupRow, GrafanaMemberRow, GrafanaOption, GrafanaShardRow,
    ListedFrom,
};
use serde::Serialize;
use store::{MemberProgress, StoreError};

use crate::convert::{self, ShardRow, Totals};
use crate::engine::{self, EngineError, ListedGroup, Look, Reported, Sample, Standing, seen};
use crate::http::access::Reader;
use crate::http::routes::listing::served_by;
use crate::http::{ApiError, App};
use query::GrafanaQuery;
use walk::{Cursor, Origin, Page, Placed, Rest, Told, Walk, page};

/// Of so many groups the streams are looked at for an answer. Of more, what the sampler found last is told.
const FRESH: usize = 8;
/// How many groups, or shards, are read at once.
const AT_ONCE: usize = 8;

const SERVED_BY: HeaderName = HeaderName::from_static("x-served-by");
const INDEX_AGE: HeaderName = HeaderName::from_static("x-index-age");
const NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");

/// Rows, and what the headers say of them.
type Rows<T> = Result<(HeaderMap, Json<Vec<T>>), ApiError>;

fn rows<T: Serialize>(rows: Vec<T>, origin: Origin) -> Rows<T> {
    let mut headers = HeaderMap::new();
    let seconds = |age: Duration| HeaderValue::from(age.as_secs());
    headers.insert(AGE, seconds(origin.age));
    let served_by = match served_by(origin.index_age) {
        ListedFrom::Index => "INDEX",
        ListedFrom::Records => "RECORDS",
    };
    headers.insert(SERVED_BY, HeaderValue::from_static(served_by));
    if let Some(age) = origin.index_age {
        headers.insert(INDEX_AGE, seconds(age));
    }
    if let Some(next) = origin.next {
        let next = HeaderValue::try_from(next);
        let next = next.expect("base64 is letters, digits, - and _");
        headers.insert(NEXT_CURSOR, next);
    }
    Ok((headers, Json(rows)))
}

/// A group has one row.
impl Placed for GrafanaGroupRow {
    fn place(&self) -> String {
        String::new()
    }
}

impl Placed for GrafanaMemberRow {
    fn place(&self) -> String {
        self.member_id.clone()
    }
}

impl Placed for GrafanaShardRow {
    fn place(&self) -> String {
        self.shard_index.to_string()
    }
}

impl Placed for GrafanaAssignmentRow {
    fn place(&self) -> String {
        self.shard_index.to_string()
    }
}

/// A group as it was read for all who ask; none where there is none that can be read.
fn there(look: &Look<Group>) -> Result<Option<&Group>, EngineError> {
    match seen(look) {
        Ok(group) => Ok(Some(group)),
        Err(EngineError::GroupNotFound | EngineError::Store(StoreError::Corrupt { .. })) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What is looked at of a group.
struct Found {
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

/// Looks at groups: at each itself where they are few, else at what the sampler found last.
struct Looker<'a> {
    app: &'a App,
    /// What the sampler found, once it is of use.
    samples: OnceLock<BTreeMap<GroupId, Sample>>,
    streams: bool,
    members: bool,
}

impl<'a> Looker<'a> {
    fn new(app: &'a App, streams: bool, members: bool) -> Self {
        Self {
            app,
            samples: OnceLock::new(),
            streams,
            members,
        }
    }

    async fn look(&self, id: &GroupId, are_few: bool) -> Found {
        let engine = self.app.engine();
        if !are_few {
            let sample = self.samples.get_or_init(|| engine.samples()).get(id);
            // How old rows are goes by what they are made of.
            let (for_streams, for_members) = (
                sample.filter(|_| self.streams),
                sample.filter(|_| self.members),
            );
            return Found {
                standing: for_streams.and_then(|sample| sample.standing.clone()),
                reported: for_members.map(|sample| Arc::clone(&sample.reported)),
            };
        }
        let standing = match self.streams {
            true => Some(engine.standing(id).await),
            false => None,
        };
        let reported = match self.members {
            true => Some(engine.reported(id).await),
            false => None,
        };
        Found { standing, reported }
    }
}

pub(in crate::http) async fn groups(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaGroupRow> {
    let looker = &Looker::new(&app, true, false);
    let of = |group: ListedGroup, _: Rest, are_few| async move {
        let found = looker.look(&group.id, are_few).await;
        let totals = found.looked().map(Totals::of).ok();
        Ok(Told {
            rows: vec![convert::group_row(&group.id, group.brief, totals)],
            age: found.age(),
        })
    };
    let told = page(&app, &query, of).await?;
    rows(told.rows, told.origin)
}

/// Rows that are made of groups' records and of what is found of them.
async fn of_groups<R>(
    looker: Looker<'_>,
    query: &GrafanaQuery,
    rows_of: impl Fn(&Group, &Found, &Rest) -> Vec<R>,
) -> Rows<R>
where
    R: Serialize + Placed,
{
    let (looker, rows_of) = (&looker, &rows_of);
    let of = |listed: ListedGroup, rest: Rest, are_few| async move {
        let look = looker.app.engine().shared_group(&listed.id).await;
        let found = looker.look(&listed.id, are_few).await;
        let group = there(&look)?;
        Ok(Told {
            rows: group.map_or_else(Vec::new, |group| rows_of(group, &found, &rest)),
            age: look.age().max(found.age()),
        })
    };
    let told = page(looker.app, query, of).await?;
    rows(told.rows, told.origin)
}

pub(in crate::http) async fn members(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaMemberRow> {
    let looker = Looker::new(&app, false, true);
    let none = BTreeMap::new();
    let rows_of = |group: &Group, found: &Found, rest: &Rest| {
        let members = convert::member_rows(group, found.progress().unwrap_or(&none));
        let allows = |id: &str| query.member.allows(id) && rest.has_member(id);
        let wanted = members.into_iter().filter(|row| allows(&row.member_id));
        wanted.take(rest.most).collect()
    };
    of_groups(looker, &query, rows_of).await
}

pub(in crate::http) async fn shards(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaShardRow> {
    let looker = Looker::new(&app, true, true);
    let rows_of = |group: &Group, found: &Found, rest: &Rest| {
        let (looked, progress) = (found.looked(), found.progress());
        let wanted = |shard| query.shard.allows_shard(shard) && rest.has_shard(shard);
        convert::shard_rows(group, looked, progress, wanted, rest.most)
    };
    of_groups(looker, &query, rows_of).await
}

pub(in crate::http) async fn assignments(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaAssignmentRow> {
    let looker = Looker::new(&app, false, false);
    let rows_of = |group: &Group, _: &Found, rest: &Rest| {
        let wanted = |shard| query.shard.allows_shard(shard) && rest.has_shard(shard);
        convert::assignment_rows(group, wanted, rest.most)
    };
    of_groups(looker, &query, rows_of).await
}

pub(in crate::http) async fn stream_options(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaOption> {
    let told = named(&app, &query, |id| id.stream.as_str()).await?;
    rows(told.rows, told.origin)
}

pub(in crate::http) async fn group_options(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaOption> {
    let told = named(&app, &query, |id| id.group.as_str()).await?;
    rows(told.rows, told.origin)
}

pub(in crate::http) async fn shard_options(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaOption> {
    let mut walk = Walk::begin(&app, &query);
    // By index: groups have the same ones, mostly.
    let mut there: Vec<bool> = Vec::new();
    while let Some(groups) = walk.next().await? {
        for group in groups {
            for shard in streams_of(&app, &group).await?.iter() {
                let at = shard.as_usize();
                there.resize(there.len().max(at + 1), false);
                there[at] = true;
            }
        }
    }
    let indexes = there.iter().enumerate().filter(|(_, there)| **there);
    let option = |index: usize| convert::option(format!("shard {index}"), index.to_string());
    let options = indexes.take(query.limit).map(|(index, _)| option(index));
    rows(options.collect(), walk.origin(Duration::ZERO, None))
}

/// The shards that have a stream. Those on their way out are told by the record alone.
async fn streams_of(app: &App, group: &ListedGroup) -> Result<ShardSet, ApiError> {
    let look;
    let changing = if group.brief.is_changing {
        look = app.engine().shared_group(&group.id).await;
        there(&look)?
    } else {
        None
    };
    let of_count = || (0..group.brief.shard_count).map(ShardIndex::new).collect();
    Ok(changing.map_or_else(of_count, engine::streams))
}

/// Names of groups as choices, each once on a page.
async fn named(
    app: &App,
    query: &GrafanaQuery,
    name_of: impl Fn(&GroupId) -> &str,
) -> Result<Page<GrafanaOption>, ApiError> {
    let mut walk = Walk::begin(app, query);
    let mut names = BTreeSet::new();
    let mut last: Option<GroupId> = None;
    let mut next = None;
    'walk: while let Some(groups) = walk.next().await? {
        for group in groups {
            let name = name_of(&group.id);
            if names.len() == query.limit && !names.contains(name) {
                next = last.take();
                break 'walk;
            }
            names.insert(name.to_owned());
            last = Some(group.id);
        }
    }
    let option = |name: String| convert::option(name.clone(), name);
    let behind = next.map(|group| Cursor::behind(app.engine().listing_name(&group), false));
    Ok(Page {
        rows: names.into_iter().map(option).collect(),
        origin: walk.origin(Duration::ZERO, behind),
    })
}
