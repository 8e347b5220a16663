//! What a request asks for, as its head says. Bounded: anybody may send anything.

use axum::extract::{FromRequestParts, MatchedPath, Query, RawPathParams};
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use coordinator_core::names::{ConsumerGroup, GroupId, StreamPrefix};
use protocol::{AuditAction, RestoreQuery};

use crate::http::peer::Peer;

/// The longest value of a header, and the longest name, that is told of.
const NAME: usize = 256;
/// The longest path or query that is told of.
const PATH: usize = 1_024;

/// What a request asks for.
pub(super) struct Asked {
    pub(super) action: AuditAction,
    /// Who asks and why, where that is not for the body to say.
    pub(super) asker: RestoreQuery,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) route: String,
    pub(super) query_string: Option<String>,
    pub(super) request_id: Option<String>,
    pub(super) user_agent: Option<String>,
    pub(super) client_address: Option<String>,
    pub(super) stream_prefix: Option<String>,
    pub(super) consumer_group: Option<String>,
    pub(super) resharding_id: Option<String>,
}

impl Asked {
    pub(super) async fn read(parts: &mut Parts, action: AuditAction) -> Self {
        // Names that are no text are in the path as they came.
        let names = RawPathParams::from_request_parts(parts, &()).await.ok();
        let name = |wanted: &str| {
            let mut names = names.iter().flat_map(RawPathParams::iter);
            let found = names.find(|(name, _)| *name == wanted);
            found.map(|(_, value)| capped(value, NAME))
        };
        let header = |name: &str| {
            let value = parts.headers.get(name)?;
            Some(capped(&String::from_utf8_lossy(value.as_bytes()), NAME))
        };
        let route = parts.extensions.get::<MatchedPath>();
        let peer = parts.extensions.get::<Peer>();
        Self {
            action,
            asker: asker(parts, action),
            method: parts.method.as_str().to_owned(),
            path: capped(parts.uri.path(), PATH),
            route: route.map_or_else(String::new, |route| route.as_str().to_owned()),
            query_string: parts.uri.query().map(|query| capped(query, PATH)),
            request_id: header("x-request-id"),
            user_agent: header(USER_AGENT.as_str()),
            client_address: peer.map(|peer| peer.address().to_string()),
            stream_prefix: name("streamPrefix"),
            consumer_group: name("consumerGroup"),
            resharding_id: name("reshardingId"),
        }
    }

    /// The group that it is about; of what concerns a whole stream, the one named like it.
    pub(super) fn group(&self) -> Option<GroupId> {
        let stream = StreamPrefix::parse(self.stream_prefix.as_deref()?).ok()?;
        match &self.consumer_group {
            None => Some(stream.own_group()),
            Some(group) => Some(GroupId {
                stream,
                group: ConsumerGroup::parse(group).ok()?,
            }),
        }
    }
}

/// What the query of a restore says: its body is a file.
fn asker(parts: &Parts, action: AuditAction) -> RestoreQuery {
    if action != AuditAction::RestoreSnapshot {
        return RestoreQuery::default();
    }
    Query::try_from_uri(&parts.uri).map_or_else(|_| RestoreQuery::default(), |Query(asker)| asker)
}

/// A text of at most so many bytes; one that is cut says so.
pub(super) fn capped(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
    format!("{}…", &text[..end.unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        assert_eq!(capped("orders", 6), "orders");
        assert_eq!(capped("orders", 5), "order…");
        assert_eq!(capped("grüße", 3), "gr…");
        assert_eq!(capped("ü", 0), "…");
    }
}
