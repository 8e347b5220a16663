//! Reading JSON so that a mistake is told with the field it is in. It checks shapes, not rules.

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::objects::Objects;

/// How much of a refusal is told.
const REASON_MAX_CHARS: usize = 240;

/// Bytes that are not what was expected.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// A field is missing, or its value is of the wrong type or out of range.
    #[error("{field}: {reason}")]
    Field {
        /// Path of the field: `ownedShards[2].shardIndex`; `body` for the whole.
        field: String,
        /// What was expected, and what was found.
        reason: String,
    },
    /// The bytes are no JSON.
    #[error("not JSON: {reason}")]
    Syntax {
        /// What was expected, and where.
        reason: String,
    },
}

/// Reads a `T` from the whole of `bytes`. Unknown fields are ignored.
///
/// ```
/// use protocol::{ShardId, decode};
///
/// assert_eq!(decode::<ShardId>(br#"{"shardIndex": 3, "color": "red"}"#).expect("a shard"), ShardId::new(3));
/// let error = decode::<Vec<ShardId>>(br#"[{"shardIndex": 3}, {"shardIndex": "x"}]"#).expect_err("a text");
/// assert_eq!(error.to_string(), "[1].shardIndex: invalid type: string \"x\", expected u32");
/// ```
///
/// # Errors
/// [`DecodeError::Field`] names the field and what is wrong with it; [`DecodeError::Syntax`] where the JSON breaks.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(Objects(&mut json)).map_err(|error| {
        let field = error.path().to_string();
        refusal(&field, error.inner())
    })?;
    json.end().map_err(|error| refusal(".", &error))?;
    Ok(value)
}

fn refusal(path: &str, error: &serde_json::Error) -> DecodeError {
    match error.classify() {
        Category::Data => {
            let field = if path == "." { "body" } else { path };
            DecodeError::Field {
                field: shortened(field),
                reason: without_position(error),
            }
        }
        Category::Io | Category::Syntax | Category::Eof => DecodeError::Syntax {
            reason: error.to_string(),
        },
    }
}

/// The field says more than a line and a column in a body that few people see, and a long value says no more than its beginning.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    shortened(text.strip_suffix(&position).unwrap_or(&text))
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= REASON_MAX_CHARS {
        return text.to_owned();
    }
    let start: String = text.chars().take(REASON_MAX_CHARS).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::{DecodeError, decode};
    use crate::{LoginRequest, ShardId};

    #[test]
    fn a_long_wrong_value_is_not_repeated_in_full() {
        let body = format!(r#"{{"shardIndex": "{}"}}"#, "ä".repeat(100_000));
        let error = decode::<ShardId>(body.as_bytes()).expect_err("a text is no index");
        assert!(matches!(&error, DecodeError::Field { field, .. } if field == "shardIndex"));
        assert!(
            error.to_string().len() < 700,
            "{} bytes",
            error.to_string().len()
        );
    }

    #[test]
    fn a_long_field_name_is_not_repeated_in_full() {
        let body = format!(r#"{{"{}": "x"}}"#, "k".repeat(100_000));
        let error = decode::<std::collections::BTreeMap<String, u32>>(body.as_bytes())
            .expect_err("a text is no number");
        assert!(
            error.to_string().len() < 700,
            "{} bytes",
            error.to_string().len()
        );
    }

    #[test]
    fn a_list_is_no_object_however_deep_it_is() {
        let texts: [(&[u8], &str); 4] = [
            (br#"["me", "because"]"#, "body: "),
            (
                br#"{"requestedBy": "me", "reason": ["because"]}"#,
                "reason: ",
            ),
            (br#"{"requestedBy": "me"}"#, "body: missing field `reason`"),
            (br"[[1]]", "body: "),
        ];
        for (text, beginning) in texts {
            let error = decode::<crate::RollbackRequest>(text).expect_err("is refused");
            assert!(error.to_string().starts_with(beginning), "{error}");
        }
        let error = decode::<Vec<Option<ShardId>>>(br#"[{"shardIndex": 1}, null, [2]]"#);
        assert_eq!(
            error.expect_err("a list is no shard").to_string(),
            "[2]: invalid type: sequence, expected struct ShardId"
        );
    }

    #[test]
    fn a_password_of_the_wrong_type_is_not_repeated() {
        let error = decode::<LoginRequest>(br#"{"username": "admin", "password": 271828}"#)
            .expect_err("a number is no password");
        assert_eq!(error.to_string(), "password: expected a string");
    }
}
