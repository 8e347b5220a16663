//! Numbers with a meaning. Those that scripts compare are at most 2^53, where Redis' Lua is exact (case C49).

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::invalid::{InvalidInput, check};

/// The greatest number that a script compares.
const GREATEST: u64 = 1 << 53;

macro_rules! numbers {
    ($($(#[$meta:meta])* $name:ident = $what:literal, $least:literal;)*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(u64);

            impl $name {
                /// Checks the number.
                ///
                /// # Errors
                /// [`InvalidInput`] if it is too small, or above 2^53.
                pub fn new(number: u64) -> Result<Self, InvalidInput> {
                    check(($least..=GREATEST).contains(&number), $what, || {
                        format!("{number} is not between {} and {GREATEST}", $least)
                    })?;
                    Ok(Self(number))
                }

                /// The number.
                #[must_use]
                pub const fn get(self) -> u64 {
                    self.0
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }
        )*
    };
}

numbers! {
    /// Which life of a shard: 1, then one more with every recreation; up to 2^53.
    Generation = "generation", 1;
    /// Tells a process of a consumer from an earlier one with the same name: the later one has the greater token, 0 to 2^53. Without a
    /// coordinator, the time at which the process starts will do, in milliseconds.
    Token = "token", 0;
    /// The epoch at which a consumer was granted the shard, or which it has reached since, 0 to 2^53. Without a coordinator, all may use
    /// the same one.
    MemberEpoch = "member_epoch", 0;
    /// Orders the leases of a group's recovery: a later one has a greater fence, from 1 on.
    Fence = "fence", 1;
}

impl Generation {
    /// The first generation.
    pub const FIRST: Self = Self(1);

    /// The next generation.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// 128 bits given by the creator of a generation. A number alone could repeat after a loss of writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Incarnation(u128);

impl Incarnation {
    /// A random one.
    #[must_use]
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// The same one for the same parts, so that whoever repeats a creation recognises its own work.
    #[must_use]
    pub fn derived_from(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let digest = hash.finalize();
        let bits = digest
            .iter()
            .take(16)
            .fold(0, |bits, byte| (bits << 8) | u128::from(*byte));
        Self(bits)
    }
}

impl From<u128> for Incarnation {
    fn from(bits: u128) -> Self {
        Self(bits)
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Incarnation({self})")
    }
}

impl FromStr for Incarnation {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        check(is_plain, "incarnation", || {
            format!("{text:?} is not 32 hexadecimal digits")
        })?;
        u128::from_str_radix(text, 16)
            .map(Self)
            .map_err(|error| InvalidInput::new("incarnation", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_incarnation_is_the_same_for_the_same_parts_only() {
        let one = Incarnation::derived_from(&["orders", "m1", "3"]);
        assert_eq!(one, Incarnation::derived_from(&["orders", "m1", "3"]));
        assert_ne!(one, Incarnation::derived_from(&["orders", "m13", ""]));
        assert_eq!(one.to_string().parse::<Incarnation>().unwrap(), one);
        assert_eq!(Incarnation::from(5).to_string().len(), 32);
        assert!("5".parse::<Incarnation>().is_err());
    }

    #[test]
    fn numbers_that_lua_would_round_are_refused_c49() {
        assert!(Token::new(1 << 53).is_ok());
        assert_eq!(
            MemberEpoch::new((1 << 53) + 1).unwrap_err().to_string(),
            "member_epoch: 9007199254740993 is not between 0 and 9007199254740992"
        );
        assert!(Generation::new(0).is_err());
    }
}
