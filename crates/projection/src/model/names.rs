//! Names that become parts of keys and members: their limits, and how they are kept apart in a key. It does not build keys.

use std::fmt;

const LONGEST_NAME: usize = 512;
const LONGEST_ID: usize = 1024;

/// What a value may not be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidInput {
    /// A name or id without a character.
    #[error("the {what} must not be empty")]
    Empty {
        /// What kind of name it is.
        what: &'static str,
    },
    /// A name or id beyond its limit.
    #[error("the {what} has {length} bytes; at most {most} are possible")]
    TooLong {
        /// What kind of name it is.
        what: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The limit in bytes.
        most: usize,
    },
    /// A name with a control character.
    #[error("the {what} must not contain control characters")]
    ControlCharacter {
        /// What kind of name it is.
        what: &'static str,
    },
    /// A number that is out of range.
    #[error("the {what} {found} is out of range; use {least} to {most}")]
    OutOfRange {
        /// What kind of number it is.
        what: &'static str,
        /// The number.
        found: i128,
        /// The smallest possible one.
        least: i128,
        /// The largest possible one.
        most: i128,
    },
}

fn checked(what: &'static str, most: usize, text: &str) -> Result<(), InvalidInput> {
    let length = text.len();
    if length == 0 {
        return Err(InvalidInput::Empty { what });
    }
    if length > most {
        return Err(InvalidInput::TooLong { what, length, most });
    }
    if text.chars().any(char::is_control) {
        return Err(InvalidInput::ControlCharacter { what });
    }
    Ok(())
}

macro_rules! name {
    ($(#[$meta:meta])* $type:ident, $what:literal, $most:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            /// Checks the text.
            ///
            /// # Errors
            ///
            /// [`InvalidInput`] if it is empty, too long, or has control characters.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidInput> {
                let text = text.into();
                checked($what, $most, &text)?;
                Ok(Self(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// Which projection: keeps the keys of several projections in one Redis apart. At most 512 bytes.
    ProjectionName, "projection name", LONGEST_NAME
}
name! {
    /// A part of the projection that is read, rebuilt and repaired alone. At most 512 bytes.
    Namespace, "namespace", LONGEST_NAME
}
name! {
    /// What an entry is called within its namespace. At most 1024 bytes. Ids are ordered by their bytes.
    EntryId, "entry id", LONGEST_ID
}

/// A name as part of a key: (`a`, `b:c`) and (`a:b`, `c`) stay apart, and nothing ends the hash tag early.
pub(crate) fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '%' => text.push_str("%25"),
            ':' => text.push_str("%3A"),
            '{' => text.push_str("%7B"),
            '}' => text.push_str("%7D"),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_have_limits_and_say_which() {
        assert_eq!(
            Namespace::new("").unwrap_err().to_string(),
            "the namespace must not be empty"
        );
        assert_eq!(
            EntryId::new("x".repeat(1025)).unwrap_err().to_string(),
            "the entry id has 1025 bytes; at most 1024 are possible"
        );
        assert!(ProjectionName::new("a\nb").is_err());
        assert_eq!(Namespace::new("ranked").unwrap().as_str(), "ranked");
    }

    #[test]
    fn escaped_names_keep_pairs_apart() {
        assert_ne!(
            format!("{}:{}", escaped("a"), escaped("b:c")),
            format!("{}:{}", escaped("a:b"), escaped("c"))
        );
        assert_eq!(escaped("a{b}%c"), "a%7Bb%7D%25c");
    }
}
