//! The list of all groups, whole or page by page.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use projection::Limit;
use protocol::{GROUPS_LIMIT_MAX, GroupList, GroupsQuery, ListedFrom};

use crate::convert;
use crate::engine::{EngineError, ListingError};
use crate::http::access::Reader;
use crate::http::values::Values;
use crate::http::{ApiError, App, cursor};

/// How many large groups are read at once.
const AT_ONCE: usize = 8;

pub(in crate::http) async fn groups(
    State(app): State<App>,
    _: Reader,
    Values(query): Values<GroupsQuery>,
) -> Result<Json<GroupList>, ApiError> {
    let stream = query.stream_prefix.as_deref().filter(|it| !it.is_empty());
    let stream = stream.map(convert::stream_prefix).transpose()?;
    let cursor = query.cursor.as_deref().filter(|it| !it.is_empty());
    let place = cursor.map(|text| cursor::read(text).ok_or_else(|| no_cursor(text)));
    let place = place.transpose()?;
    let place = place.as_deref();
    let page = match query.limit {
        Some(limit) => {
            let limit = Limit::new(limit as usize).map_err(|_| {
                ApiError::invalid(format!(
                    "limit must be 1 to {GROUPS_LIMIT_MAX}, not {limit}"
                ))
            })?;
            app.engine().list(stream.as_ref(), place, limit).await?
        }
        None => app.engine().list_whole(stream.as_ref(), place).await?,
    };
    let in_state = |state| query.state.is_none_or(|wanted| state == wanted);
    let groups = page.groups.into_iter();
    let groups = groups.filter(|listed| in_state(listed.brief.state));
    let shown = groups.map(|listed| app.engine().shown(listed));
    let shown: Vec<_> = stream::iter(shown).buffered(AT_ONCE).try_collect().await?;
    let age = page.index_age.map(|age| age.as_millis());
    Ok(Json(GroupList {
        // What was read anew may have changed.
        groups: shown
            .into_iter()
            .flatten()
            .filter(|group| in_state(group.state))
            .collect(),
        next_cursor: page.next.as_deref().map(cursor::opaque),
        served_by: Some(served_by(page.index_age)),
        index_age_ms: age.map(|age| u64::try_from(age).unwrap_or(u64::MAX)),
    }))
}

fn no_cursor(text: &str) -> ApiError {
    ApiError::invalid(format!(
        "cursor must be the nextCursor of the page before, not {text:?}"
    ))
}

/// Who told which groups there are: the index, where it is known how old that is.
pub(super) const fn served_by(index_age: Option<Duration>) -> ListedFrom {
    match index_age {
        Some(_) => ListedFrom::Index,
        None => ListedFrom::Records,
    }
}

impl From<ListingError> for ApiError {
    fn from(error: ListingError) -> Self {
        match error {
            ListingError::Cursor => Self::invalid(format!("cursor: {error}")),
            ListingError::Store(error) => EngineError::from(error).into(),
        }
    }
}
