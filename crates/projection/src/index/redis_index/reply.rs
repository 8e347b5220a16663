//! What the scripts answer: an array that begins with a code. It decides nothing.

use std::time::Duration;

use redis::Value;

use crate::index::{Answer, IndexError};
use crate::model::{Entry, EntryId, Epoch, Namespace, Order, Version};

pub(super) const OK: i64 = 0;
pub(super) const OTHER_BUILD: i64 = 1;
pub(super) const SUPERSEDED: i64 = 2;
const BUSY: i64 = 3;
const BUILD_LOST: i64 = 4;
const UNBUILT: i64 = 5;
const DAMAGED: i64 = 6;
const EMPTY: i64 = 7;

/// The answer of a script.
#[derive(Debug)]
pub(super) struct Reply {
    script: &'static str,
    code: i64,
    values: Vec<Value>,
}

impl Reply {
    pub(super) fn read(script: &'static str, value: Value) -> Result<Self, IndexError> {
        let Value::Array(values) = value else {
            return Err(unexpected(script, "no array"));
        };
        let Some(Value::Int(code)) = values.first() else {
            return Err(unexpected(script, "no code"));
        };
        Ok(Self {
            script,
            code: *code,
            values,
        })
    }

    pub(super) fn code(&self) -> i64 {
        self.code
    }

    /// The answer itself if nothing was refused.
    pub(super) fn accept(self) -> Result<Self, IndexError> {
        if self.code == OK {
            Ok(self)
        } else {
            Err(self.refusal())
        }
    }

    /// What a code other than [`OK`] says.
    pub(super) fn refusal(&self) -> IndexError {
        match self.code {
            BUSY => IndexError::Busy {
                remaining: Duration::from_millis(self.number(1).unwrap_or_default()),
            },
            BUILD_LOST => IndexError::BuildLost,
            UNBUILT => IndexError::Unbuilt,
            DAMAGED => IndexError::Damaged("ids and values don't fit together".to_owned()),
            EMPTY => IndexError::Empty,
            _ => unexpected(self.script, "an unknown code"),
        }
    }

    pub(super) fn text(&self, index: usize) -> Result<String, IndexError> {
        match self.values.get(index) {
            Some(Value::BulkString(bytes)) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            _ => Err(unexpected(self.script, "no text")),
        }
    }

    pub(super) fn number(&self, index: usize) -> Result<u64, IndexError> {
        let text = self.text(index)?;
        // A clock that went back makes an age negative.
        text.strip_prefix('-')
            .map_or_else(|| text.parse(), |_| Ok(0))
            .map_err(|_| unexpected(self.script, "no number"))
    }

    /// The answer of a read: code, epoch, age, ids with orders, values.
    pub(super) fn answer(&self, namespace: &Namespace) -> Result<Answer, IndexError> {
        let (Some(Value::Array(sorted)), Some(Value::Array(values))) =
            (self.values.get(3), self.values.get(4))
        else {
            return Err(unexpected(self.script, "no entries"));
        };
        let entries = sorted.chunks(2).zip(values).map(|(place, value)| {
            entry(namespace, place, value)
                .ok_or_else(|| IndexError::Damaged("an entry can't be read".to_owned()))
        });
        Ok(Answer {
            epoch: Epoch(self.number(1)?),
            age: Duration::from_millis(self.number(2)?),
            entries: entries.collect::<Result<_, _>>()?,
        })
    }
}

fn entry(namespace: &Namespace, place: &[Value], value: &Value) -> Option<Entry> {
    let ([Value::BulkString(id), Value::BulkString(order)], Value::BulkString(value)) =
        (place, value)
    else {
        return None;
    };
    let colon = value.iter().position(|byte| *byte == b':')?;
    let version: u64 = std::str::from_utf8(&value[..colon]).ok()?.parse().ok()?;
    Some(Entry {
        namespace: namespace.clone(),
        id: EntryId::new(std::str::from_utf8(id).ok()?).ok()?,
        order: whole(std::str::from_utf8(order).ok()?)?,
        version: Version::new(version).ok()?,
        payload: value[colon + 1..].to_vec(),
    })
}

/// A score is a double, which Redis may write with an exponent.
fn whole(score: &str) -> Option<Order> {
    if let Ok(number) = score.parse() {
        return Order::new(number).ok();
    }
    let number: f64 = score.parse().ok()?;
    let text = format!("{number:.0}");
    Order::new(text.parse().ok()?).ok()
}

fn unexpected(script: &str, what: &str) -> IndexError {
    IndexError::Failed(format!("{script}: unexpected answer: {what}"))
}
