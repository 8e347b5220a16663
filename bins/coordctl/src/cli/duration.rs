//! Spans of time as people write them (`3s`, `10m`).

use std::str::FromStr;
use std::time::Duration;

/// A span of time, longer than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HumanDuration(pub(crate) Duration);

/// A text that is no span of time.
#[derive(Debug, thiserror::Error)]
#[error("write a span of time longer than 0: 500ms, 3s, 10m or 1h")]
pub(crate) struct NotADuration;

impl FromStr for HumanDuration {
    type Err = NotADuration;

    fn from_str(text: &str) -> Result<Self, NotADuration> {
        match humantime::parse_duration(text) {
            Ok(span) if !span.is_zero() => Ok(Self(span)),
            _ => Err(NotADuration),
        }
    }
}
