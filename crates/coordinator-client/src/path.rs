//! Paths of the API. Names are percent-encoded, each as one segment.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{NameError, check_consumer_group, check_member_id, check_stream_prefix};

use crate::ClientError;

/// Everything but the characters that a URL never needs to encode.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// `/coord/v1/streams/{p}`
pub(crate) fn stream(stream_prefix: &str) -> Result<String, ClientError> {
    let prefix = segment("streamPrefix", stream_prefix, check_stream_prefix)?;
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
    let prefix = segment("streamPrefix", stream_prefix, check_stream_prefix)?;
    let group = segment("consumerGroup", consumer_group, check_consumer_group)?;
    Ok(format!(
        "/coord/v1/monitoring/streams/{prefix}/groups/{group}"
    ))
}

fn segment(
    field: &'static str,
    name: &str,
    check: fn(&str) -> Result<(), NameError>,
) -> Result<String, ClientError> {
    let refuse = |reason| ClientError::InvalidName {
        field,
        name: name.to_owned(),
        reason,
    };
    check(name).map_err(|error| refuse(error.problem.to_string()))?;
    if name == "." || name == ".." {
        return Err(refuse("cannot be a path segment of a URL".to_owned()));
    }
    Ok(utf8_percent_encode(name, SEGMENT).to_string())
}

#[cfg(test)]
mod tests {
    use super::{group, heartbeat, stream};

    #[test]
    fn names_are_encoded_as_one_segment() {
        let path = heartbeat("a/b?c", "täg lich", "%41-._~").expect("names within the rules");
        assert_eq!(
            path,
            "/coord/v1/streams/a%2Fb%3Fc/groups/t%C3%A4g%20lich/members/%2541-._~/heartbeat"
        );
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
    fn names_outside_the_rules_are_refused_before_anything_is_sent() {
        let error = group("orders", "").expect_err("is refused");
        assert_eq!(error.to_string(), "consumerGroup ``: must not be empty");
        assert!(!error.is_retryable());
    }
}
