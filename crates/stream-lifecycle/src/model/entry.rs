//! Entries of a stream: their ids, their fields, and both together.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::invalid::{InvalidInput, check};

/// The most fields of one entry: a script can hand over only so many arguments at once.
const MOST_FIELDS: usize = 1_000;

/// The id of an entry. Ids of one stream rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Milliseconds since 1970, by Redis' clock.
    pub ms: u64,
    /// The number within the millisecond.
    pub seq: u64,
}

impl StreamId {
    /// Before every entry.
    pub const ZERO: Self = Self { ms: 0, seq: 0 };

    /// The id right after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        match self.seq.checked_add(1) {
            Some(seq) => Self { ms: self.ms, seq },
            None => Self {
                ms: self.ms.saturating_add(1),
                seq: 0,
            },
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

impl FromStr for StreamId {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('-');
        let id = parts.and_then(|(ms, seq)| {
            Some(Self {
                ms: ms.parse().ok()?,
                seq: seq.parse().ok()?,
            })
        });
        id.ok_or_else(|| InvalidInput::new("id", format!("{text:?} is no id of a stream")))
    }
}

/// The fields of an entry: at least one, in order. Names may repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(Vec<(Vec<u8>, Vec<u8>)>);

impl Fields {
    /// Checks the fields.
    ///
    /// # Errors
    /// [`InvalidInput`] for none, and for more than 1,000.
    pub fn new<N, V>(fields: impl IntoIterator<Item = (N, V)>) -> Result<Self, InvalidInput>
    where
        N: Into<Vec<u8>>,
        V: Into<Vec<u8>>,
    {
        let fields: Vec<(Vec<u8>, Vec<u8>)> = fields
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        check(!fields.is_empty(), "fields", || "there are none".to_owned())?;
        check(fields.len() <= MOST_FIELDS, "fields", || {
            format!(
                "there are {}, at most {MOST_FIELDS} are allowed",
                fields.len()
            )
        })?;
        Ok(Self(fields))
    }

    /// What Redis gave, whatever its number.
    pub(crate) const fn read(fields: Vec<(Vec<u8>, Vec<u8>)>) -> Self {
        Self(fields)
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// How many fields there are.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of the first field of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let mut found = self.iter().filter(|(known, _)| *known == name.as_bytes());
        found.next().map(|(_, value)| value)
    }

    /// A digest of names, values and their order.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in self.0.iter().flat_map(|(name, value)| [name, value]) {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// An entry of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: StreamId,
    /// Its fields.
    pub fields: Fields,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_entry_has_fields_and_not_too_many() {
        let none: [(&str, &str); 0] = [];
        assert_eq!(
            Fields::new(none).unwrap_err().to_string(),
            "fields: there are none"
        );
        let many = (0..1_001).map(|number| (number.to_string(), "x"));
        assert_eq!(Fields::new(many).unwrap_err().what, "fields");
    }

    #[test]
    fn the_digest_tells_where_a_field_ends() {
        let digest =
            |fields: &[(&str, &str)]| Fields::new(fields.iter().copied()).unwrap().digest();
        assert_eq!(digest(&[("a", "bc")]), digest(&[("a", "bc")]));
        assert_ne!(digest(&[("a", "bc")]), digest(&[("ab", "c")]));
        assert_ne!(
            digest(&[("a", "b"), ("c", "d")]),
            digest(&[("c", "d"), ("a", "b")])
        );
    }

    #[test]
    fn ids_are_ordered_as_numbers() {
        let id = |text: &str| text.parse::<StreamId>().unwrap();
        assert!(id("9-10") < id("10-9") && id("5-9") < id("5-10"));
        assert_eq!(id(&format!("7-{}", u64::MAX)).next(), id("8-0"));
        for bad in ["", "5", "5-", "-5", "a-b", "5-5-5"] {
            assert!(bad.parse::<StreamId>().is_err(), "{bad}");
        }
    }
}
