//! What prefixes, groups and members may be called, and how the key of a shard's stream is made.

use std::fmt;

/// How many bytes a name may have; the least is 1.
pub const NAME_MAX_BYTES: usize = 256;

/// What stands for the shard in a stream key pattern.
pub const STREAM_KEY_PLACEHOLDER: &str = "{shardIndex}";

/// The rules of names as a regular expression, but for their length: it speaks of bytes, which expressions do not know.
pub const NAME_PATTERN: &str = "^[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000{}]([^\\u0000-\\u001f\\u007f-\\u009f{}]*[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000{}])?$";

/// A name that may not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct NameError {
    /// The field by its wire name.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: NameProblem,
}

/// What is wrong with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameProblem {
    /// It has no bytes.
    Empty,
    /// It has more than [`NAME_MAX_BYTES`].
    TooLong {
        /// Bytes it has.
        bytes: usize,
    },
    /// It has a `{` or a `}`, which would change the cluster slot of its keys.
    Brace,
    /// It has a control character.
    Control {
        /// The character.
        found: char,
    },
    /// It begins or ends with white space.
    Surrounded,
}

impl fmt::Display for NameProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("must not be empty"),
            Self::TooLong { bytes } => {
                write!(f, "has {bytes} bytes, at most {NAME_MAX_BYTES} are allowed")
            }
            Self::Brace => f.write_str("must not contain { or }"),
            Self::Control { found } => write!(
                f,
                "must not contain control characters, found U+{:04X}",
                u32::from(*found)
            ),
            Self::Surrounded => f.write_str("must not begin or end with white space"),
        }
    }
}

/// Checks a stream prefix.
///
/// # Errors
/// Says what is wrong with the name.
pub fn check_stream_prefix(name: &str) -> Result<(), NameError> {
    check("streamPrefix", name)
}

/// Checks the name of a consumer group.
///
/// # Errors
/// Says what is wrong with the name.
pub fn check_consumer_group(name: &str) -> Result<(), NameError> {
    check("consumerGroup", name)
}

/// Checks the id of a member.
///
/// # Errors
/// Says what is wrong with the name.
pub fn check_member_id(name: &str) -> Result<(), NameError> {
    check("memberId", name)
}

fn check(field: &'static str, name: &str) -> Result<(), NameError> {
    let problem = if name.is_empty() {
        NameProblem::Empty
    } else if name.len() > NAME_MAX_BYTES {
        NameProblem::TooLong { bytes: name.len() }
    } else if name.contains(['{', '}']) {
        NameProblem::Brace
    } else if let Some(found) = name.chars().find(|c| c.is_control()) {
        NameProblem::Control { found }
    } else if name.trim().len() != name.len() {
        NameProblem::Surrounded
    } else {
        return Ok(());
    };
    Err(NameError { field, problem })
}

/// The key of a shard's stream. Without hash tags, so that shards spread over cluster slots.
///
/// ```
/// assert_eq!(protocol::stream_key("orders", 3), "orders:3");
/// ```
#[must_use]
pub fn stream_key(stream_prefix: &str, shard_index: u32) -> String {
    format!("{stream_prefix}:{shard_index}")
}

/// How the stream keys of a prefix are made.
///
/// ```
/// assert_eq!(protocol::stream_key_pattern("orders"), "orders:{shardIndex}");
/// ```
#[must_use]
pub fn stream_key_pattern(stream_prefix: &str) -> String {
    format!("{stream_prefix}:{STREAM_KEY_PLACEHOLDER}")
}
