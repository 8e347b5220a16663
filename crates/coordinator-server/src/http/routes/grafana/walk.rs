//! Rows of all groups that are asked for, group after group in the order of the listing, until no more fit. Which groups there are is told by the index; what
//! is told of them may be read elsewhere.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use coordinator_core::names::GroupId;
use coordinator_core::numbers::ShardIndex;
use futures_util::stream::{self, StreamExt};
use projection::Limit;

use super::query::GrafanaQuery;
use super::{AT_ONCE, FRESH};
use crate::engine::ListedGroup;
use crate::http::{ApiError, App, cursor};

/// Between the parts of a cursor: no name has it.
const SEPARATOR: &str = "\n";

/// Where the next page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The last group of which rows were told, as the listing calls it.
    group: String,
    /// The place of the last row of it that was told; none: all of them were. Rows that come and go meanwhile make none come twice or not at all.
    told: Option<String>,
    /// Whether the groups of all pages are few, so that each is looked at itself.
    are_few: bool,
}

impl Cursor {
    /// A cursor out of its text; none where it is none that was told.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = cursor::read(text)?;
        let mut parts = text.splitn(3, SEPARATOR);
        let are_few = match parts.next()? {
            "few" => true,
            "many" => false,
            _ => return None,
        };
        let told = match parts.next()? {
            "" => None,
            told => Some(told.to_owned()),
        };
        let group = parts.next()?.to_owned();
        Some(Self {
            group,
            told,
            are_few,
        })
    }

    /// Behind which place rows of a group are told, where some were.
    fn told_of(&self, name: &str) -> Option<String> {
        self.told.clone().filter(|_| self.group == name)
    }

    /// Whether there are rows of a group to be told.
    fn has_not_told(&self, name: &str) -> bool {
        match &self.told {
            Some(_) => name >= self.group.as_str(),
            None => name > self.group.as_str(),
        }
    }

    /// Where the listing is read from: at the group, or, where not all of it was told, at a place before.
    fn place(&self) -> Option<String> {
        let mut place = self.group.clone();
        if self.told.is_some() {
            place.pop();
        }
        Some(place).filter(|place| !place.is_empty())
    }

    /// All rows of the group were told.
    pub(super) const fn behind(group: String, are_few: bool) -> Self {
        Self {
            group,
            told: None,
            are_few,
        }
    }

    /// Names may have letters that headers and queries have not.
    fn into_text(self) -> String {
        let number = if self.are_few { "few" } else { "many" };
        let told = self.told.as_deref().unwrap_or_default();
        cursor::opaque(&[number, told, &self.group].join(SEPARATOR))
    }
}

/// A row that has a place among those of its group, which are in the order of their places.
pub(super) trait Placed {
    /// Its place: the member's name, or the shard's number.
    fn place(&self) -> String;
}

/// Which rows of a group are of use.
pub(super) struct Rest {
    behind: Option<String>,
    /// How many, at most.
    pub(super) most: usize,
}

impl Rest {
    pub(super) fn has_member(&self, member: &str) -> bool {
        self.behind.as_deref().is_none_or(|behind| member > behind)
    }

    pub(super) fn has_shard(&self, shard: ShardIndex) -> bool {
        let behind = self.behind.as_ref().and_then(|behind| behind.parse().ok());
        behind.is_none_or(|behind: u32| shard.get() > behind)
    }
}

/// What was found of one group.
pub(super) struct Told<R> {
    pub(super) rows: Vec<R>,
    /// How old it is.
    pub(super) age: Duration,
}

/// As many rows as are asked for.
pub(super) struct Page<R> {
    pub(super) rows: Vec<R>,
    pub(super) origin: Origin,
}

/// Where rows come from, and where it goes on.
pub(super) struct Origin {
    pub(super) age: Duration,
    /// How old the index is; none where the records were read.
    pub(super) index_age: Option<Duration>,
    pub(super) next: Option<String>,
}

/// The groups that are asked for, some at a time.
pub(super) struct Walk<'a> {
    app: &'a App,
    query: &'a GrafanaQuery,
    /// The one group that is asked for, of its own record.
    only: Option<GroupId>,
    /// Behind which place the listing is read on; none at the end.
    behind: Option<Option<String>>,
    /// Whether the listing was asked, and how old the index is if it answered every time.
    index_age: Option<Option<Duration>>,
}

impl<'a> Walk<'a> {
    pub(super) fn begin(app: &'a App, query: &'a GrafanaQuery) -> Self {
        let only = query.only_group();
        let behind = query.cursor.as_ref().and_then(Cursor::place);
        Self {
            app,
            query,
            behind: only.is_none().then_some(behind),
            only,
            index_age: None,
        }
    }

    /// The next of them; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<ListedGroup>>, ApiError> {
        let engine = self.app.engine();
        if let Some(only) = self.only.take() {
            let found = engine.list_one(&only).await?.into_iter();
            return Ok(Some(found.filter(|group| self.wants(group)).collect()));
        }
        let Some(behind) = self.behind.take() else {
            return Ok(None);
        };
        let stream = self.query.only_stream();
        let page = engine.list(stream.as_ref(), behind.as_deref(), Limit::MOST);
        let page = page.await?;
        let so_far = self.index_age.unwrap_or(page.index_age);
        let both = so_far.zip(page.index_age);
        self.index_age = Some(both.map(|(one, other)| one.max(other)));
        self.behind = page.next.map(Some);
        let groups = page.groups.into_iter();
        Ok(Some(groups.filter(|group| self.wants(group)).collect()))
    }

    fn wants(&self, group: &ListedGroup) -> bool {
        let name = || self.app.engine().listing_name(&group.id);
        let cursor = self.query.cursor.as_ref();
        self.query.allows(&group.id) && cursor.is_none_or(|cursor| cursor.has_not_told(&name()))
    }

    /// Whether these are all of them: there is nothing behind.
    pub(super) const fn is_over(&self) -> bool {
        self.only.is_none() && self.behind.is_none()
    }

    pub(super) fn origin(&self, age: Duration, next: Option<Cursor>) -> Origin {
        Origin {
            age,
            index_age: self.index_age.flatten(),
            next: next.map(Cursor::into_text),
        }
    }
}

/// What `of` tells of each group, a few groups at once. It is told which rows are of use, and whether groups are few.
pub(super) async fn page<R: Placed, F>(
    app: &App,
    query: &GrafanaQuery,
    of: impl Fn(ListedGroup, Rest, bool) -> F,
) -> Result<Page<R>, ApiError>
where
    F: Future<Output = Result<Told<R>, ApiError>>,
{
    let mut walk = Walk::begin(app, query);
    let mut rows = Vec::new();
    let (mut age, mut last) = (Duration::ZERO, None);
    let mut are_few = query.cursor.as_ref().map(|cursor| cursor.are_few);
    while let Some(groups) = walk.next().await? {
        // What a cursor says is anybody's word.
        let can_be_few = walk.is_over() && groups.len() <= FRESH;
        let few = *are_few.get_or_insert(can_be_few) && can_be_few;
        let looks = groups.into_iter().map(|group| {
            let name = app.engine().listing_name(&group.id);
            let cursor = query.cursor.as_ref();
            let rest = Rest {
                behind: cursor.and_then(|cursor| cursor.told_of(&name)),
                most: query.limit + 1,
            };
            let more = of(group, rest, few);
            async move { (name, more.await) }
        });
        let mut looks = pin!(stream::iter(looks).buffered(AT_ONCE));
        while let Some((name, told)) = looks.next().await {
            let told = told?;
            let room = query.limit - rows.len();
            if room == 0 {
                let origin = walk.origin(age, last.map(|last| Cursor::behind(last, few)));
                return Ok(Page { rows, origin });
            }
            age = age.max(told.age);
            let mut more = told.rows.into_iter();
            rows.extend(more.by_ref().take(room));
            if more.next().is_some() {
                let next = Cursor {
                    told: rows.last().map(Placed::place),
                    ..Cursor::behind(name, few)
                };
                let origin = walk.origin(age, Some(next));
                return Ok(Page { rows, origin });
            }
            last = Some(name);
        }
    }
    let origin = walk.origin(age, None);
    Ok(Page { rows, origin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_told_and_taken_again() {
        for (told, group, are_few) in [
            (None, "a{b", true),
            (Some("7"), "a{b", true),
            (Some("grüße:7"), "grüße{x:y", false),
        ] {
            let cursor = Cursor {
                told: told.map(str::to_owned),
                ..Cursor::behind(group.to_owned(), are_few)
            };
            assert_eq!(Cursor::parse(&cursor.clone().into_text()), Some(cursor));
        }
        for text in ["", "a", "few:x:a{b", "some\n\na{b", "few\n1"] {
            assert_eq!(Cursor::parse(&cursor::opaque(text)), None, "{text}");
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }
}
