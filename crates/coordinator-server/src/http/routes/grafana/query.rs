//! Questions as Grafana puts them: a variable with several values is repeated, or comes as `{a,b}`; one with all of them as `All` or `$__all`, or empty.

use std::collections::BTreeSet;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use coordinator_core::names::{GroupId, StreamPrefix};
use coordinator_core::numbers::ShardIndex;

use super::walk::Cursor;
use crate::convert;
use crate::http::{ApiError, App};

/// The most rows of an answer, and how many come unasked.
pub(super) const ROWS_MAX: usize = 10_000;
const ROWS: usize = 1_000;

/// Which values are wanted; all of them unless some are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted(BTreeSet<String>, bool);

impl Wanted {
    fn add(&mut self, value: &str) {
        match value {
            "" => {}
            "All" | "$__all" => self.1 = true,
            value => {
                // No name has braces.
                let inner = value.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
                match inner {
                    Some(list) => self.0.extend(list.split(',').map(str::to_owned)),
                    None => drop(self.0.insert(value.to_owned())),
                }
            }
        }
    }

    pub(super) fn allows(&self, value: &str) -> bool {
        self.1 || self.0.is_empty() || self.0.contains(value)
    }

    pub(super) fn allows_shard(&self, shard: ShardIndex) -> bool {
        self.1 || self.0.is_empty() || self.0.contains(&shard.to_string())
    }

    /// The one value that is wanted, if it is one.
    fn only(&self) -> Option<&str> {
        let mut values = self.0.iter();
        let first = values.next().filter(|_| !self.1)?;
        values.next().is_none().then_some(first)
    }
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) struct GrafanaQuery {
    pub(super) stream: Wanted,
    pub(super) group: Wanted,
    pub(super) shard: Wanted,
    pub(super) member: Wanted,
    pub(super) limit: usize,
    /// Where the page begins; none at the beginning.
    pub(super) cursor: Option<Cursor>,
    pub(super) with_fields: bool,
}

impl GrafanaQuery {
    fn parse(pairs: &[(String, String)]) -> Result<Self, ApiError> {
        let mut query = Self {
            stream: Wanted::default(),
            group: Wanted::default(),
            shard: Wanted::default(),
            member: Wanted::default(),
            limit: ROWS,
            cursor: None,
            with_fields: false,
        };
        for (name, value) in pairs {
            match name.as_str() {
                "streamPrefix" => query.stream.add(value),
                "consumerGroup" => query.group.add(value),
                "shardIndex" => query.shard.add(value),
                "memberId" => query.member.add(value),
                "limit" if !value.is_empty() => query.limit = limit(value)?,
                "cursor" if !value.is_empty() => query.cursor = Some(cursor(value)?),
                "includeFields" if !value.is_empty() => query.with_fields = yes_or_no(value)?,
                // Dashboards send more than is of use here.
                _ => {}
            }
        }
        for shard in &query.shard.0 {
            if shard.parse::<u32>().is_err() {
                let message = format!("shardIndex must be a number from 0 on, not {shard:?}");
                return Err(ApiError::invalid(message));
            }
        }
        Ok(query)
    }

    /// Whether a group is asked for.
    pub(super) fn allows(&self, id: &GroupId) -> bool {
        self.stream.allows(id.stream.as_str()) && self.group.allows(id.group.as_str())
    }

    /// The one stream that is asked for, if it is one.
    pub(super) fn only_stream(&self) -> Option<StreamPrefix> {
        StreamPrefix::parse(self.stream.only()?).ok()
    }

    /// The one group that is asked for, if it is one.
    pub(super) fn only_group(&self) -> Option<GroupId> {
        convert::group_id(self.stream.only()?, self.group.only()?).ok()
    }
}

fn cursor(text: &str) -> Result<Cursor, ApiError> {
    Cursor::parse(text).ok_or_else(|| {
        ApiError::invalid(format!(
            "cursor must be what the header X-Next-Cursor of the page before said, not {text:?}"
        ))
    })
}

fn yes_or_no(text: &str) -> Result<bool, ApiError> {
    text.parse().map_err(|_| {
        ApiError::invalid(format!("includeFields must be true or false, not {text:?}"))
    })
}

fn limit(text: &str) -> Result<usize, ApiError> {
    let limit = text.parse().ok();
    limit
        .filter(|limit| (1..=ROWS_MAX).contains(limit))
        .ok_or_else(|| ApiError::invalid(format!("limit must be 1 to {ROWS_MAX}, not {text:?}")))
}

impl FromRequestParts<App> for GrafanaQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let query = Query::<Vec<(String, String)>>::from_request_parts(parts, app).await;
        let Query(pairs) = query.map_err(|error| ApiError::invalid(error.body_text()))?;
        Self::parse(&pairs)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn wanted(values: &[&str]) -> Wanted {
        let mut wanted = Wanted::default();
        for value in values {
            wanted.add(value);
        }
        wanted
    }

    #[test]
    fn values_are_taken_as_grafana_sends_them() {
        let table: [(&[&str], &[&str], &[&str]); 7] = [
            (&[], &["a", "b"], &[]),
            (&[""], &["a"], &[]),
            (&["All"], &["a"], &[]),
            (&["$__all", "a"], &["b"], &[]),
            (&["a"], &["a"], &["b"]),
            (&["a", "b"], &["a", "b"], &["c"]),
            (&["{a,b}"], &["a", "b"], &["{a,b}", "c"]),
        ];
        for (values, yes, no) in table {
            let wanted = wanted(values);
            assert!(yes.iter().all(|value| wanted.allows(value)), "{values:?}");
            assert!(!no.iter().any(|value| wanted.allows(value)), "{values:?}");
        }
        assert_eq!(wanted(&["a"]).only(), Some("a"));
        for values in [&[][..], &["a", "b"], &["All", "a"]] {
            assert_eq!(wanted(values).only(), None);
        }
    }

    #[test]
    fn what_can_not_be_meant_is_refused() {
        let parse =
            |name: &str, value: &str| GrafanaQuery::parse(&[(name.to_owned(), value.to_owned())]);
        for (name, value) in [
            ("shardIndex", "x"),
            ("shardIndex", "{1,-1}"),
            ("limit", "0"),
            ("limit", "10001"),
            ("cursor", "7"),
        ] {
            assert!(parse(name, value).is_err(), "{name}={value}");
        }
        for (name, value) in [("shardIndex", "All"), ("limit", ""), ("from", "now-1h")] {
            parse(name, value).unwrap();
        }
    }
}
