//! Paths of the API. Names are percent-encoded, each as one segment.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{
    AuditQuery, GroupState, GroupsQuery, MessageQuery, NameError, PageDirection, RestoreQuery,
    check_consumer_group, check_member_id, check_stream_prefix,
};

use crate::ClientError;

/// Everything but the characters that a URL never needs to encode.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// `/coord/v1/streams/{p}`
pub(crate) fn stream(stream_prefix: &str) -> Result<String, ClientError> {
    let prefix = stream_segment(stream_prefix)?;
    Ok(format!("/coord/v1/streams/{prefix}"))
}

/// `/coord/v1/streams/{p}/groups/{g}`
pub(crate) fn group(stream_prefix: &str, consumer_group: &str) -> Result<String, ClientError> {
    let group = segment("consumerGroup", consumer_group, check_consumer_group)?;
    Ok(format!("{}/groups/{group}", stream(stream_prefix)?))
}

/// `/coord/v1/streams/{p}/groups/{g}/members/{m}/heartbeat`
pub(crate) fn heartbeat(
    stream_prefix: &str,
    consumer_group: &str,
    member_id: &str,
) -> Result<String, ClientError> {
    let member = segment("memberId", member_id, check_member_id)?;
    Ok(format!(
        "{}/members/{member}/heartbeat",
        group(stream_prefix, consumer_group)?
    ))
}

/// `/coord/v1/monitoring/streams/{p}/groups/{g}`
pub(crate) fn monitored_group(
    stream_prefix: &str,
    consumer_group: &str,
) -> Result<String, ClientError> {
    let prefix = stream_segment(stream_prefix)?;
    let group = segment("consumerGroup", consumer_group, check_consumer_group)?;
    Ok(format!(
        "/coord/v1/monitoring/streams/{prefix}/groups/{group}"
    ))
}

/// `/coord/v1/streams/{p}/groups/{g}/migrations/{id}`
pub(crate) fn migration(
    stream_prefix: &str,
    consumer_group: &str,
    resharding_id: &str,
) -> Result<String, ClientError> {
    let id = encoded("reshardingId", resharding_id)?;
    Ok(format!(
        "{}/migrations/{id}",
        group(stream_prefix, consumer_group)?
    ))
}

/// `/coord/v1/monitoring/streams/{p}/groups/{g}/shards/{i}/messages?direction=&cursor=&limit=`
pub(crate) fn messages(
    stream_prefix: &str,
    consumer_group: &str,
    shard_index: u32,
    query: &MessageQuery,
) -> Result<String, ClientError> {
    let group = monitored_group(stream_prefix, consumer_group)?;
    let direction = match query.direction {
        PageDirection::Forward => "FORWARD",
        PageDirection::Backward => "BACKWARD",
    };
    let cursor = query.cursor.as_deref().map_or_else(String::new, |cursor| {
        format!("&cursor={}", utf8_percent_encode(cursor, SEGMENT))
    });
    Ok(format!(
        "{group}/shards/{shard_index}/messages?direction={direction}{cursor}&limit={}",
        query.limit
    ))
}

/// `/coord/v1/monitoring/audit?streamPrefix=&consumerGroup=&limit=`
pub(crate) fn audit(query: &AuditQuery) -> Result<String, ClientError> {
    let stream = query.stream_prefix.as_deref().map(stream_segment);
    let group = query.consumer_group.as_deref();
    let group = group.map(|group| segment("consumerGroup", group, check_consumer_group));
    let asked = [
        ("streamPrefix", stream.transpose()?),
        ("consumerGroup", group.transpose()?),
        ("limit", query.limit.map(|limit| limit.to_string())),
    ];
    Ok(with_query("/coord/v1/monitoring/audit", asked))
}

/// `/coord/v1/monitoring/groups?streamPrefix=&state=&limit=&cursor=`
pub(crate) fn groups(query: &GroupsQuery) -> Result<String, ClientError> {
    let stream = query.stream_prefix.as_deref().map(stream_segment);
    let state = query.state.map(|state| match state {
        GroupState::Empty => "EMPTY",
        GroupState::Assigning => "ASSIGNING",
        GroupState::Reconciling => "RECONCILING",
        GroupState::Stable => "STABLE",
    });
    let cursor = query.cursor.as_deref();
    let asked = [
        ("streamPrefix", stream.transpose()?),
        ("state", state.map(str::to_owned)),
        ("limit", query.limit.map(|limit| limit.to_string())),
        (
            "cursor",
            cursor.map(|cursor| utf8_percent_encode(cursor, SEGMENT).to_string()),
        ),
    ];
    Ok(with_query("/coord/v1/monitoring/groups", asked))
}

/// A path, and what is asked for of it; the values are encoded.
fn with_query<const N: usize>(path: &str, asked: [(&str, Option<String>); N]) -> String {
    let asked = asked.into_iter();
    let asked = asked.filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    let asked = asked.collect::<Vec<_>>().join("&");
    match asked.as_str() {
        "" => path.to_owned(),
        asked => format!("{path}?{asked}"),
    }
}

fn stream_segment(stream: &str) -> Result<String, ClientError> {
    segment("streamPrefix", stream, check_stream_prefix)
}

/// `/coord/v1/admin/snapshot/restore?force=&requestedBy=&reason=`
pub(crate) fn restore(query: &RestoreQuery) -> String {
    let encoded = |text: &String| utf8_percent_encode(text, SEGMENT).to_string();
    let asked = [
        ("force", Some(query.force.to_string())),
        ("requestedBy", query.requested_by.as_ref().map(encoded)),
        ("reason", query.reason.as_ref().map(encoded)),
    ];
    with_query("/coord/v1/admin/snapshot/restore", asked)
}

fn segment(
    field: &'static str,
    name: &str,
    check: fn(&str) -> Result<(), NameError>,
) -> Result<String, ClientError> {
    check(name).map_err(|error| refusal(field, name, error.problem.to_string()))?;
    encoded(field, name)
}

/// A name as one segment; what the name may be is the coordinator's to say.
fn encoded(field: &'static str, name: &str) -> Result<String, ClientError> {
    if matches!(name, "" | "." | "..") {
        let reason = "cannot be a path segment of a URL".to_owned();
        return Err(refusal(field, name, reason));
    }
    Ok(utf8_percent_encode(name, SEGMENT).to_string())
}

fn refusal(field: &'static str, name: &str, reason: String) -> ClientError {
    ClientError::InvalidName {
        field,
        name: name.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::{group, heartbeat, migration, stream};

    #[test]
    fn names_are_encoded_as_one_segment() {
        let path = heartbeat("a/b?c", "täg lich", "%41-._~").expect("names within the rules");
        assert_eq!(
            path,
            "/coord/v1/streams/a%2Fb%3Fc/groups/t%C3%A4g%20lich/members/%2541-._~/heartbeat"
        );
    }

    #[test]
    fn what_is_not_asked_for_is_not_in_the_query() {
        let audit = |stream: Option<&str>, group: Option<&str>, limit| {
            super::audit(&super::AuditQuery {
                stream_prefix: stream.map(str::to_owned),
                consumer_group: group.map(str::to_owned),
                limit,
            })
            .expect("names within the rules")
        };
        let base = "/coord/v1/monitoring/audit";
        assert_eq!(audit(None, None, None), base);
        assert_eq!(audit(None, None, Some(7)), format!("{base}?limit=7"));
        let two = format!("{base}?streamPrefix=a%26b&limit=7");
        assert_eq!(audit(Some("a&b"), None, Some(7)), two);
        let both = format!("{base}?streamPrefix=a&consumerGroup=c%3Fd");
        assert_eq!(audit(Some("a"), Some("c?d"), None), both);
    }

    #[test]
    fn a_page_of_groups_is_asked_for_by_what_the_query_has() {
        let mut query = super::GroupsQuery::default();
        let path = |query: &super::GroupsQuery| super::groups(query).expect("names within rules");
        assert_eq!(path(&query), "/coord/v1/monitoring/groups");
        query.cursor = Some("orders{a&b".to_owned());
        query.limit = Some(3);
        query.state = Some(super::GroupState::Stable);
        query.stream_prefix = Some("a/b".to_owned());
        let all = "streamPrefix=a%2Fb&state=STABLE&limit=3&cursor=orders%7Ba%26b";
        assert_eq!(path(&query), format!("/coord/v1/monitoring/groups?{all}"));
    }

    #[test]
    fn names_that_a_url_would_resolve_away_are_refused() {
        for name in [".", ".."] {
            let error = stream(name).expect_err("is refused");
            assert_eq!(
                error.to_string(),
                format!("streamPrefix `{name}`: cannot be a path segment of a URL")
            );
        }
        assert_eq!(
            stream("...").expect("three dots are a name"),
            "/coord/v1/streams/..."
        );
    }

    #[test]
    fn the_id_of_a_change_is_one_segment_and_never_nothing() {
        assert_eq!(
            migration("orders", "billing", "../x").expect("an id"),
            "/coord/v1/streams/orders/groups/billing/migrations/..%2Fx"
        );
        for id in ["", ".", ".."] {
            let error = migration("orders", "billing", id).expect_err("is refused");
            assert_eq!(
                error.to_string(),
                format!("reshardingId `{id}`: cannot be a path segment of a URL")
            );
        }
    }

    #[test]
    fn names_outside_the_rules_are_refused_before_anything_is_sent() {
        let error = group("orders", "").expect_err("is refused");
        assert_eq!(error.to_string(), "consumerGroup ``: must not be empty");
        assert!(!error.is_retryable());
    }
}
