//! Values in queries, checked: what can't be meant is refused by its name, with what it may be. What the values mean is said by their types.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use protocol::{
    AUDIT_LIMIT_MAX, GROUPS_LIMIT_MAX, GroupState, MESSAGE_LIMIT_MAX, PageDirection,
    WATCH_WAIT_MAX_MS,
};
use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserialize, DeserializeOwned, IntoDeserializer};

use super::{ApiError, App};

/// The values of a query.
pub(super) struct Values<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Values<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        if let Ok(Query(values)) = Query::try_from_uri(&parts.uri) {
            return Ok(Self(values));
        }
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let pairs = pairs.map_or(Vec::new(), |Query(pairs)| pairs);
        Err(ApiError::invalid(fault(&pairs)))
    }
}

/// What is wrong with a query that can't be read.
fn fault(pairs: &[(String, String)]) -> String {
    for (at, (name, value)) in pairs.iter().enumerate() {
        if let Some(allowed) = allowed(name, value) {
            return format!("{name} must be {allowed}, not {value:?}");
        }
        if pairs[..at].iter().any(|(before, _)| before == name) {
            return format!("{name} is there twice; give it once");
        }
    }
    "the query can't be read: it is made of name=value, with & between".to_owned()
}

/// What a value may be, where it is none of that.
fn allowed(name: &str, value: &str) -> Option<String> {
    let number = || value.parse::<u64>().is_ok();
    let (is_right, allowed) = match name {
        "state" => (
            is::<GroupState>(value),
            "EMPTY, ASSIGNING, RECONCILING or STABLE".to_owned(),
        ),
        "direction" => (is::<PageDirection>(value), "FORWARD or BACKWARD".to_owned()),
        "limit" => (value.parse::<u32>().is_ok(), format!("1 to {LIMIT_MAX}")),
        "after" => (number(), "a number from 0 on".to_owned()),
        "waitMs" => (number(), format!("0 to {WATCH_WAIT_MAX_MS}")),
        "force" => (value.parse::<bool>().is_ok(), "true or false".to_owned()),
        _ => return None,
    };
    (!is_right).then_some(allowed)
}

/// All lists have the same one.
const LIMIT_MAX: u32 = GROUPS_LIMIT_MAX;
const _: () = assert!(LIMIT_MAX == AUDIT_LIMIT_MAX && LIMIT_MAX == MESSAGE_LIMIT_MAX);

fn is<'de, T: Deserialize<'de>>(value: &'de str) -> bool {
    let text: StrDeserializer<'de, Error> = value.into_deserializer();
    T::deserialize(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(query: &[(&str, &str)]) -> String {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        fault(&query.iter().map(owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_can_not_be_meant_is_named_with_what_it_may_be() {
        let states = "state must be EMPTY, ASSIGNING, RECONCILING or STABLE, not \"XX\"";
        let limit = "limit must be 1 to 1000, not \"many\"";
        for (query, expected) in [
            (&[("state", "XX")][..], states),
            (&[("state", "EMPTY"), ("limit", "many")], limit),
            (&[("limit", "")], "limit must be 1 to 1000, not \"\""),
            (
                &[("direction", "up")],
                "direction must be FORWARD or BACKWARD, not \"up\"",
            ),
            (
                &[("after", "-1")],
                "after must be a number from 0 on, not \"-1\"",
            ),
            (&[("waitMs", "1s")], "waitMs must be 0 to 30000, not \"1s\""),
            (
                &[("force", "yes")],
                "force must be true or false, not \"yes\"",
            ),
            (
                &[("limit", "1"), ("limit", "2")],
                "limit is there twice; give it once",
            ),
        ] {
            assert_eq!(told(query), expected);
        }
    }

    #[test]
    fn the_words_that_are_named_are_those_that_there_are() {
        let words = |text: &str| {
            let words = text
                .split([' ', ','])
                .filter(|word| !matches!(*word, "" | "or"));
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let states = allowed("state", "").expect("no state is empty");
        assert!(words(&states).iter().all(|word| is::<GroupState>(word)));
        let directions = allowed("direction", "").expect("no direction is empty");
        let mut directions = words(&directions).into_iter();
        assert!(directions.all(|word| is::<PageDirection>(&word)));
    }
}
