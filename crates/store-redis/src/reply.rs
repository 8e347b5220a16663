//! Reading what scripts return: arrays that begin with a word, numbers as decimal strings.

use redis::Value;
use store::{Eviction, StoreError};

use crate::classify::GRANT;

/// What a script returned after its word.
#[derive(Debug)]
pub(crate) struct Reply {
    script: &'static str,
    status: String,
    rest: std::vec::IntoIter<Value>,
}

impl Reply {
    /// Splits the word from the rest. A permission that the script found to be missing becomes the error that it is (case C11).
    pub(crate) fn read(script: &'static str, value: Value) -> Result<Self, StoreError> {
        let Value::Array(values) = value else {
            return Err(unexpected(script, "no array"));
        };
        let mut rest = values.into_iter();
        let Some(status) = rest.next().and_then(into_text) else {
            return Err(unexpected(script, "no word"));
        };
        let mut reply = Self {
            script,
            status,
            rest,
        };
        if reply.status == "denied" {
            let denied = reply.text()?;
            return Err(StoreError::Refused {
                reason: format!(
                    "the user of Redis may not run {denied}, which `{script}` needs; {GRANT}"
                ),
                source: None,
            });
        }
        Ok(reply)
    }

    /// The word.
    pub(crate) fn status(&self) -> &str {
        &self.status
    }

    /// The next value, a text.
    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.optional_text()?
            .ok_or_else(|| unexpected(self.script, "nothing where a text belongs"))
    }

    /// The next value, a text or nothing.
    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.rest.next() {
            None => Err(unexpected(self.script, "too little")),
            Some(Value::Nil) => Ok(None),
            Some(value) => into_text(value)
                .map(Some)
                .ok_or_else(|| unexpected(self.script, "no text")),
        }
    }

    /// The next value, a number.
    pub(crate) fn number(&mut self) -> Result<u64, StoreError> {
        let text = self.text()?;
        text.parse()
            .map_err(|_| unexpected(self.script, &format!("{text:?} where a number belongs")))
    }

    /// The next value, a number or an empty text.
    pub(crate) fn optional_number(&mut self) -> Result<Option<u64>, StoreError> {
        match self.text()?.as_str() {
            "" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|_| unexpected(self.script, &format!("{text:?} where a number belongs"))),
        }
    }

    /// The next value, an eviction policy or an empty text.
    pub(crate) fn eviction(&mut self) -> Result<Eviction, StoreError> {
        let policy = self.text()?;
        Ok(match policy.as_str() {
            "" => Eviction::Unknown,
            _ => Eviction::Policy(policy),
        })
    }

    /// The next value, an array that begins with a word.
    pub(crate) fn nested(&mut self) -> Result<Self, StoreError> {
        let value = self.rest.next().unwrap_or_default();
        Self::read(self.script, value)
    }

    /// The next value, a list.
    pub(crate) fn values(&mut self) -> Result<Vec<Value>, StoreError> {
        match self.rest.next() {
            Some(Value::Array(values)) => Ok(values),
            _ => Err(unexpected(self.script, "no list")),
        }
    }

    /// The next value, a list of texts.
    pub(crate) fn texts(&mut self) -> Result<Vec<String>, StoreError> {
        let texts: Option<Vec<String>> = self.values()?.into_iter().map(into_text).collect();
        texts.ok_or_else(|| unexpected(self.script, "no texts"))
    }

    /// The error for a word that means nothing here.
    pub(crate) fn unknown(&self) -> StoreError {
        unexpected(self.script, &self.status)
    }
}

/// Bytes that are no UTF-8 are kept readable; what they belong to fails to decode then.
fn into_text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(
            String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        ),
        Value::SimpleString(text) => Some(text),
        Value::Okay => Some("OK".to_owned()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

fn unexpected(script: &'static str, what: &str) -> StoreError {
    StoreError::Refused {
        reason: format!("`{script}` returned something unexpected: {what}"),
        source: None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn array(items: &[&str]) -> Value {
        Value::Array(
            items
                .iter()
                .map(|item| Value::BulkString(item.as_bytes().to_vec()))
                .collect(),
        )
    }

    #[test]
    fn numbers_above_2_to_the_53rd_keep_their_digits_c49() {
        let mut reply = Reply::read("x", array(&["ok", "18446744073709551615"])).unwrap();
        assert_eq!(
            (reply.status().to_owned(), reply.number().unwrap()),
            ("ok".to_owned(), u64::MAX)
        );
        assert!(reply.number().is_err());
    }

    #[test]
    fn a_missing_permission_is_an_error_that_names_it_c11() {
        let error = Reply::read("commit", array(&["denied", "ZADD on k"])).unwrap_err();
        let expected = "the store refuses: the user of Redis may not run ZADD on k, which `commit` needs; grant it the command and the key by ACL SETUSER (docs/operations.md#permissions)";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        for value in [
            Value::Nil,
            Value::Array(Vec::new()),
            Value::Array(vec![Value::Nil]),
            Value::Okay,
        ] {
            assert!(Reply::read("x", value).is_err());
        }
    }
}
