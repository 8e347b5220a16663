//! Times on the wire: ISO-8601 in UTC with milliseconds. It reads no clock.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::de::{Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};

/// The first moment of the year 1 and 9999-12-30T22:00:00Z: what four digits can show and the calendar can reach.
const MIN_MS: i64 = -62_135_596_800_000;
const MAX_MS: i64 = 253_402_207_200_000;

/// A moment in milliseconds since the Unix epoch, written as `2026-01-31T10:15:30.123Z`.
///
/// Reading accepts any RFC 3339 text (other offsets, other precisions) and cuts it to milliseconds.
///
/// ```
/// use protocol::IsoTimestamp;
///
/// let moment: IsoTimestamp = "2026-01-31T11:15:30.123456+01:00".parse().expect("RFC 3339");
/// assert_eq!(moment.to_string(), "2026-01-31T10:15:30.123Z");
/// assert_eq!(moment.as_millis(), 1_769_854_530_123);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IsoTimestamp(i64);

/// A text that is not a time of the wire.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{text}` is not an ISO-8601 time in the years 1 to 9999, such as 2026-01-31T10:15:30.123Z"
)]
pub struct TimestampError {
    text: String,
    #[source]
    source: Option<jiff::Error>,
}

impl IsoTimestamp {
    /// The moment `millis` milliseconds after the Unix epoch.
    ///
    /// What lies outside the years 1 to 9999 (less their last two days) is moved to the nearer end of that range, so that it can be written.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        if millis < MIN_MS {
            Self(MIN_MS)
        } else if millis > MAX_MS {
            Self(MAX_MS)
        } else {
            Self(millis)
        }
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }
}

impl fmt::Display for IsoTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{}", moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

impl FromStr for IsoTimestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |source| TimestampError {
            text: text.to_owned(),
            source,
        };
        let moment = text
            .parse::<Timestamp>()
            .map_err(|error| refuse(Some(error)))?;
        let millis = moment.as_nanosecond().div_euclid(1_000_000);
        match i64::try_from(millis) {
            Ok(millis) if (MIN_MS..=MAX_MS).contains(&millis) => Ok(Self(millis)),
            _ => Err(refuse(None)),
        }
    }
}

impl Serialize for IsoTimestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IsoTimestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(IsoVisitor)
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for IsoTimestamp {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("A moment, ISO-8601. Answers have UTC with milliseconds; requests may have any offset and precision."))
            .examples(["2026-01-31T10:15:30.123Z"])
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for IsoTimestamp {}

struct IsoVisitor;

impl Visitor<'_> for IsoVisitor {
    type Value = IsoTimestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an ISO-8601 time such as 2026-01-31T10:15:30.123Z")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        text.parse()
            .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}
