//! Ranges of wire numbers that the plain integer types do not express. Used as `deserialize_with` by the other modules.

use serde::de::{Deserialize, Deserializer, Error, Unexpected};

/// Numbers that clients keep in a signed 64-bit integer: above `i64::MAX` they are refused.
pub(crate) fn signed_range<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = u64::deserialize(deserializer)?;
    if i64::try_from(value).is_err() {
        return Err(D::Error::invalid_value(
            Unexpected::Unsigned(value),
            &"an integer of at most 63 bits",
        ));
    }
    Ok(value)
}

/// As [`signed_range`], for a field that may be absent.
pub(crate) fn optional_signed_range<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let value = Option::<u64>::deserialize(deserializer)?;
    match value {
        Some(number) if i64::try_from(number).is_err() => Err(D::Error::invalid_value(
            Unexpected::Unsigned(number),
            &"an integer of at most 63 bits",
        )),
        other => Ok(other),
    }
}

/// Counts of which there is always at least one.
pub(crate) fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let value = u32::deserialize(deserializer)?;
    if value == 0 {
        return Err(D::Error::invalid_value(
            Unexpected::Unsigned(0),
            &"an integer of at least 1",
        ));
    }
    Ok(value)
}
