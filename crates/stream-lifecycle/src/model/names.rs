//! Names: of shards, groups, consumers, owners of leases, and keys of publications. Each is checked when it is made.

use std::fmt;
use std::sync::Arc;

use super::invalid::{InvalidInput, check};

/// The longest name in bytes.
const LONGEST_NAME: usize = 256;
/// The longest base and the longest key of a publication in bytes.
const LONGEST_KEY: usize = 512;

fn check_text(what: &'static str, text: &str, longest: usize) -> Result<(), InvalidInput> {
    check(!text.is_empty(), what, || "it is empty".to_owned())?;
    check(text.len() <= longest, what, || {
        format!("it has {} bytes, at most {longest} are allowed", text.len())
    })?;
    check(!text.chars().any(char::is_control), what, || {
        format!("{text:?} contains a control character")
    })
}

macro_rules! names {
    ($($(#[$meta:meta])* $name:ident = $what:literal, $longest:expr;)*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(Arc<str>);

            impl $name {
                /// Checks the text.
                ///
                /// # Errors
                /// [`InvalidInput`] if it is empty, too long, or contains control characters.
                pub fn new(text: impl AsRef<str>) -> Result<Self, InvalidInput> {
                    let text = text.as_ref();
                    check_text($what, text, $longest)?;
                    Ok(Self(text.into()))
                }

                /// The text.
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
        )*
    };
}

names! {
    /// A consumer group of a stream; at most 256 bytes without control characters.
    GroupName = "group", LONGEST_NAME;
    /// A consumer of a group; at most 256 bytes without control characters.
    ConsumerName = "consumer", LONGEST_NAME;
    /// Who holds a recovery lease, or who made a shard; at most 256 bytes without control characters.
    OwnerName = "owner", LONGEST_NAME;
    /// What makes a publication the same when it is repeated; at most 512 bytes without control characters.
    OnceKey = "once_key", LONGEST_KEY;
}

/// The name of a shard: a logical stream, such as `orders:3`. All its keys share the slot of this name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Base(Arc<str>);

impl Base {
    /// Checks the text.
    ///
    /// # Errors
    /// [`InvalidInput`] if it is empty, over 512 bytes, or contains control characters or braces: braces would choose the slot.
    pub fn new(text: impl AsRef<str>) -> Result<Self, InvalidInput> {
        let text = text.as_ref();
        check_text("base", text, LONGEST_KEY)?;
        check(!text.contains(['{', '}']), "base", || {
            format!("{text:?} contains a brace")
        })?;
        Ok(Self(text.into()))
    }

    /// The shard `<prefix>:<index>`.
    ///
    /// # Errors
    /// [`InvalidInput`] as for [`new`](Self::new).
    pub fn of_shard(prefix: &str, index: u32) -> Result<Self, InvalidInput> {
        check(!prefix.is_empty(), "base", || {
            "the prefix is empty".to_owned()
        })?;
        Self::new(format!("{prefix}:{index}"))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn bad_names_are_refused_and_the_problem_is_named() {
        let long = "x".repeat(257);
        let table = [
            (Base::new("").unwrap_err(), "base: it is empty"),
            (
                Base::new("a{b").unwrap_err(),
                "base: \"a{b\" contains a brace",
            ),
            (
                Base::new("a}b").unwrap_err(),
                "base: \"a}b\" contains a brace",
            ),
            (
                Base::of_shard("", 1).unwrap_err(),
                "base: the prefix is empty",
            ),
            (
                GroupName::new("a\u{1f}b").unwrap_err(),
                "group: \"a\\u{1f}b\" contains a control character",
            ),
            (
                ConsumerName::new(&long).unwrap_err(),
                "consumer: it has 257 bytes, at most 256 are allowed",
            ),
            (
                OwnerName::new("a\n").unwrap_err(),
                "owner: \"a\\n\" contains a control character",
            ),
            (OnceKey::new("").unwrap_err(), "once_key: it is empty"),
        ];
        for (error, expected) in table {
            assert_eq!(error.to_string(), expected);
        }
        assert!(GroupName::new(&long[..256]).is_ok());
    }
}
