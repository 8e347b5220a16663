//! Reading what scripts answer: arrays that begin with a number; other numbers are decimal strings (case C49).

use redis::Value;

use crate::error::LifecycleError;
use crate::model::{
    Entry, Fields, Generation, Identity, Incarnation, InvalidInput, Retention, StreamId,
};

/// What a script answered.
#[derive(Debug)]
pub(crate) struct Reply {
    script: &'static str,
    code: i64,
    rest: std::vec::IntoIter<Value>,
}

impl Reply {
    pub(super) fn read(script: &'static str, value: Value) -> Result<Self, LifecycleError> {
        let Value::Array(values) = value else {
            return Err(unexpected(script, "no list"));
        };
        let mut rest = values.into_iter();
        let Some(Value::Int(code)) = rest.next() else {
            return Err(unexpected(script, "no code"));
        };
        Ok(Self { script, code, rest })
    }

    pub(super) const fn code(&self) -> i64 {
        self.code
    }

    /// The next value.
    pub(crate) fn value(&mut self) -> Result<Value, LifecycleError> {
        self.rest.next().ok_or_else(|| self.bad("too little"))
    }

    /// The next value, a text.
    pub(crate) fn text(&mut self) -> Result<String, LifecycleError> {
        let value = self.value()?;
        text(value).ok_or_else(|| self.bad("no text"))
    }

    /// The next value, a number.
    pub(crate) fn number(&mut self) -> Result<u64, LifecycleError> {
        let text = self.text()?;
        text.parse()
            .map_err(|_| self.bad(&format!("{text:?} where a number belongs")))
    }

    /// The next value, a number or an empty text.
    pub(crate) fn optional_number(&mut self) -> Result<Option<u64>, LifecycleError> {
        match self.text()? {
            text if text.is_empty() => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|_| self.bad(&format!("{text:?} where a number belongs"))),
        }
    }

    /// The next value, an id.
    pub(crate) fn id(&mut self) -> Result<StreamId, LifecycleError> {
        let text = self.text()?;
        text.parse()
            .map_err(|_| self.bad(&format!("{text:?} where an id belongs")))
    }

    /// The next three values.
    pub(crate) fn identity(&mut self) -> Result<Identity, LifecycleError> {
        let (generation, physical_key, incarnation) = (self.number()?, self.text()?, self.text()?);
        let generation =
            Generation::new(generation).map_err(|error| self.bad(&error.to_string()))?;
        let incarnation: Incarnation = incarnation
            .parse()
            .map_err(|_| self.bad("no incarnation"))?;
        Ok(Identity {
            generation,
            physical_key: physical_key.into(),
            incarnation,
        })
    }

    /// The next value, a list of texts.
    pub(crate) fn texts(&mut self) -> Result<Vec<String>, LifecycleError> {
        let Value::Array(values) = self.value()? else {
            return Err(self.bad("no list"));
        };
        let texts: Option<Vec<String>> = values.into_iter().map(text).collect();
        texts.ok_or_else(|| self.bad("no texts"))
    }

    /// The next value, a list of ids.
    pub(crate) fn ids(&mut self) -> Result<Vec<StreamId>, LifecycleError> {
        let texts = self.texts()?.into_iter();
        let ids: Result<Vec<StreamId>, InvalidInput> = texts.map(|text| text.parse()).collect();
        ids.map_err(|error| self.bad(&error.to_string()))
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.len() == 0
    }

    /// The next value, a list of outcomes, each in the shape of a whole answer.
    pub(crate) fn outcomes(&mut self) -> Result<Vec<Self>, LifecycleError> {
        let Value::Array(values) = self.value()? else {
            return Err(self.bad("no list"));
        };
        let outcomes = values.into_iter();
        outcomes
            .map(|value| Self::read(self.script, value))
            .collect()
    }

    /// The next value, a list of lists of texts.
    pub(crate) fn rows(&mut self) -> Result<Vec<Self>, LifecycleError> {
        let Value::Array(values) = self.value()? else {
            return Err(self.bad("no list"));
        };
        let rows = values.into_iter().map(|value| match value {
            Value::Array(values) => Ok(Self {
                script: self.script,
                code: 0,
                rest: values.into_iter(),
            }),
            _ => Err(self.bad("no row")),
        });
        rows.collect()
    }

    /// The error for something that is not understood.
    pub(crate) fn bad(&self, what: &str) -> LifecycleError {
        unexpected(self.script, what)
    }
}

/// The error for something that is not understood.
pub(crate) fn unexpected(script: &'static str, what: &str) -> LifecycleError {
    LifecycleError::Unexpected {
        script,
        what: what.to_owned(),
    }
}

/// Reads the retention that a lifecycle has. One that can't be read is another version's, and no fault of the caller's.
pub(crate) fn stored_retention(text: &str) -> Result<Retention, LifecycleError> {
    text.parse()
        .map_err(|error: InvalidInput| unexpected("a lifecycle", &error.to_string()))
}

fn text(value: Value) -> Option<String> {
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

/// Reads entries, every one or none.
pub(crate) fn entries(script: &'static str, value: Value) -> Result<Vec<Entry>, LifecycleError> {
    let (entries, deleted) = history(script, value)?;
    match deleted.first() {
        None => Ok(entries),
        Some(id) => Err(LifecycleError::MalformedEntry {
            id: id.to_string(),
            problem: "it has no fields".to_owned(),
        }),
    }
}

/// Reads entries of which some may be deleted: those have an id and nothing else (case C15).
pub(crate) fn history(
    script: &'static str,
    value: Value,
) -> Result<(Vec<Entry>, Vec<StreamId>), LifecycleError> {
    let Value::Array(rows) = value else {
        return Err(unexpected(script, "no entries"));
    };
    let (mut live, mut deleted) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        let Value::Array(row) = row else {
            return Err(unexpected(script, "no entry"));
        };
        let Ok([id, fields]) = <[Value; 2]>::try_from(row) else {
            return Err(unexpected(script, "an entry of another length"));
        };
        let id = text(id).unwrap_or_default();
        let malformed = |problem: &str| LifecycleError::MalformedEntry {
            id: id.clone(),
            problem: problem.to_owned(),
        };
        let parsed: StreamId = id.parse().map_err(|_| malformed("it has no id"))?;
        match fields {
            Value::Nil => deleted.push(parsed),
            Value::Array(flat) => live.push(Entry {
                id: parsed,
                fields: pairs(flat).ok_or_else(|| malformed("its fields are no pairs"))?,
            }),
            _ => return Err(malformed("its fields are no list")),
        }
    }
    Ok((live, deleted))
}

fn pairs(flat: Vec<Value>) -> Option<Fields> {
    if !flat.len().is_multiple_of(2) {
        return None;
    }
    let mut fields = Vec::with_capacity(flat.len() / 2);
    let mut flat = flat.into_iter();
    while let (Some(name), Some(value)) = (flat.next(), flat.next()) {
        let (Value::BulkString(name), Value::BulkString(value)) = (name, value) else {
            return None;
        };
        fields.push((name, value));
    }
    Some(Fields::read(fields))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn numbers_above_2_to_the_53rd_keep_their_digits_c49() {
        let values = vec![Value::Int(0), bulk("18446744073709551615"), bulk("x")];
        let mut reply = Reply::read("x", Value::Array(values)).unwrap();
        assert_eq!(reply.number().unwrap(), u64::MAX);
        assert!(reply.number().is_err());
    }

    #[test]
    fn one_malformed_entry_fails_all() {
        let good = Value::Array(vec![bulk("1-0"), Value::Array(vec![bulk("a"), bulk("b")])]);
        for bad in [
            Value::Array(vec![bulk("2-0"), Value::Array(vec![bulk("a")])]),
            Value::Array(vec![bulk("x"), Value::Array(vec![])]),
            Value::Array(vec![bulk("2-0"), Value::Nil]),
            Value::Array(vec![bulk("2-0")]),
            Value::Nil,
        ] {
            assert!(entries("x", Value::Array(vec![good.clone(), bad])).is_err());
        }
        assert_eq!(entries("x", Value::Array(vec![good])).unwrap().len(), 1);
    }

    /// Case C15: an entry that was deleted has no fields; that is not an entry with an empty list of fields.
    #[test]
    fn a_deleted_entry_is_told_from_a_live_one_c15() {
        let row = Value::Array(vec![bulk("2-0"), Value::Nil]);
        let (live, deleted) = history("x", Value::Array(vec![row])).unwrap();
        assert_eq!((live.len(), deleted), (0, vec![StreamId { ms: 2, seq: 0 }]));
    }
}
