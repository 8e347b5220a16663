//! Numbers with a meaning. All of them survive the way through Redis, whose scores and Lua numbers are doubles: up to 2^53 − 1.

use std::fmt;

use super::InvalidInput;

/// The largest integer that a double and all its neighbours tell apart.
const EXACT: i64 = (1 << 53) - 1;

/// Where an entry stands in its namespace; smaller comes first. For example a due time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order(i64);

impl Order {
    /// An order between −(2^53 − 1) and 2^53 − 1.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::OutOfRange`].
    pub fn new(order: i64) -> Result<Self, InvalidInput> {
        if (-EXACT..=EXACT).contains(&order) {
            return Ok(Self(order));
        }
        Err(InvalidInput::OutOfRange {
            what: "order",
            found: order.into(),
            least: (-EXACT).into(),
            most: EXACT.into(),
        })
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

/// The version of a row of the source. Each change of the row, its removal included, has a higher one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

impl Version {
    /// A version up to 2^53 − 1.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::OutOfRange`].
    pub fn new(version: u64) -> Result<Self, InvalidInput> {
        if version <= EXACT.unsigned_abs() {
            return Ok(Self(version));
        }
        Err(InvalidInput::OutOfRange {
            what: "version",
            found: version.into(),
            least: 0,
            most: EXACT.into(),
        })
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

/// How many entries are asked for: 1 to 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit(u16);

impl Limit {
    /// The largest limit.
    pub const MOST: Self = Self(1000);

    /// A limit of 1 to 1000.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::OutOfRange`].
    pub fn new(limit: usize) -> Result<Self, InvalidInput> {
        match u16::try_from(limit) {
            Ok(number @ 1..=1000) => Ok(Self(number)),
            _ => Err(InvalidInput::OutOfRange {
                what: "limit",
                found: i128::try_from(limit).unwrap_or(i128::MAX),
                least: 1,
                most: Self::MOST.0.into(),
            }),
        }
    }

    /// The limit that comes nearest to a number.
    #[must_use]
    pub const fn clamped(limit: usize) -> Self {
        match limit {
            0 => Self(1),
            #[allow(clippy::cast_possible_truncation)]
            1..=1000 => Self(limit as u16),
            _ => Self::MOST,
        }
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> usize {
        self.0.into()
    }
}

/// Which rebuild of a namespace an index holds. Later rebuilds have higher ones, also after the index was lost, unless the index's clock
/// went back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub(crate) u64);

impl Epoch {
    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

macro_rules! shown {
    ($($type:ident),*) => {
        $(impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        })*
    };
}

shown!(Order, Version, Limit, Epoch);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_double_cannot_tell_apart_is_refused() {
        assert!(Order::new(EXACT).is_ok() && Order::new(-EXACT).is_ok());
        assert!(Order::new(EXACT + 1).is_err() && Version::new(1 << 53).is_err());
    }

    #[test]
    fn limits_are_1_to_1000() {
        assert!(Limit::new(0).is_err() && Limit::new(1001).is_err());
        assert_eq!(Limit::new(1000), Ok(Limit::MOST));
        for (number, limit) in [(0, 1), (1, 1), (64, 64), (1000, 1000), (70_000, 1000)] {
            assert_eq!(Limit::clamped(number).get(), limit);
        }
    }
}
