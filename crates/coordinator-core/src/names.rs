//! Names of streams, groups and members, checked once and cheap to copy. Knows nothing of keys in Redis.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 256;

/// Why a text is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("must not be empty")]
    Empty,
    /// The text is longer than [`MAX_NAME_BYTES`].
    #[error("is {length} bytes long, the limit is {MAX_NAME_BYTES}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// Braces would change which part of a Redis key is hashed.
    #[error("must not contain '{{' or '}}'")]
    Brace,
    /// A control character.
    #[error("must not contain control characters")]
    Control,
    /// White space at the start or the end.
    #[error("must not start or end with white space")]
    OuterWhiteSpace,
}

fn check_name(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong { length: text.len() });
    }
    if text.contains(['{', '}']) {
        return Err(NameError::Brace);
    }
    if text.chars().any(char::is_control) {
        return Err(NameError::Control);
    }
    if text.trim() != text {
        return Err(NameError::OuterWhiteSpace);
    }
    Ok(())
}

macro_rules! name {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks the text against the rules for names.
            ///
            /// # Errors
            /// [`NameError`] says which rule it breaks.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                check_name(text)?;
                Ok(Self(text.into()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// One logical stream (`orders`), split into the shards `orders:0`, `orders:1`, …
    StreamPrefix
);
name!(
    /// A consumer group of a stream.
    ConsumerGroup
);
name!(
    /// One logical consumer of a group.
    MemberId
);

impl StreamPrefix {
    /// The group that is created together with the stream: the one named like it.
    #[must_use]
    pub fn own_group(&self) -> GroupId {
        GroupId {
            stream: self.clone(),
            group: ConsumerGroup(self.0.clone()),
        }
    }
}

/// The unit of membership, assignment and storage: one consumer group of one stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId {
    /// The stream.
    pub stream: StreamPrefix,
    /// The consumer group.
    pub group: ConsumerGroup,
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.stream, self.group)
    }
}

/// A client's process, as the client names it (a UUID of the process). Opaque.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(Arc<str>);

/// The name of one change of the shard count, the same in all groups of a stream. Opaque.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReshardingId(Arc<str>);

impl fmt::Display for ReshardingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A client's name for one of its requests. Opaque.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(Arc<str>);

macro_rules! opaque {
    ($name:ident) => {
        impl $name {
            /// Takes the client's text as it is.
            #[must_use]
            pub fn new(text: &str) -> Self {
                Self(text.into())
            }

            /// The client's text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
    };
}

opaque!(InstanceId);
opaque!(ReshardingId);
opaque!(RequestId);
