//! Reading the replies of stream commands. A deleted record is kept apart from an empty one (case C15), which the driver's own types do not.

use redis::Value;

use crate::driver::record::Fields;

/// One entry of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: String,
    /// `None`: the record was deleted or trimmed while the entry was pending.
    pub(crate) fields: Option<Fields>,
}

/// A reply that is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The entries of an XREADGROUP over one stream. Nil and an empty list both mean that there is nothing.
pub(crate) fn read_reply(value: Value) -> Result<Vec<Entry>, Malformed> {
    let entries = match value {
        Value::Nil => return Ok(Vec::new()),
        Value::Map(streams) => streams.into_iter().next().map(|(_, entries)| entries),
        Value::Array(streams) => match streams.into_iter().next() {
            Some(Value::Array(stream)) => stream.into_iter().nth(1),
            Some(_) => return Err(Malformed),
            None => None,
        },
        _ => return Err(Malformed),
    };
    entries.map_or(Ok(Vec::new()), |entries| {
        list(entries)?.into_iter().map(entry).collect()
    })
}

/// The reply of XAUTOCLAIM with JUSTID: the next cursor, and how many entries were dropped because their record is gone.
pub(crate) fn claim_reply(value: Value) -> Result<(String, usize), Malformed> {
    let [cursor, _, deleted] = <[Value; 3]>::try_from(list(value)?).map_err(|_| Malformed)?;
    Ok((text(cursor)?, list(deleted)?.len()))
}

/// Id and number of deliveries of each row of XPENDING in its long form.
pub(crate) fn pending_reply(value: Value) -> Result<Vec<(String, u64)>, Malformed> {
    let rows = list(value)?.into_iter().map(|row| {
        let [id, _, _, deliveries] = <[Value; 4]>::try_from(list(row)?).map_err(|_| Malformed)?;
        let Value::Int(deliveries) = deliveries else {
            return Err(Malformed);
        };
        Ok((text(id)?, u64::try_from(deliveries).map_err(|_| Malformed)?))
    });
    rows.collect()
}

fn entry(value: Value) -> Result<Entry, Malformed> {
    let [id, body] = <[Value; 2]>::try_from(list(value)?).map_err(|_| Malformed)?;
    let fields = match body {
        Value::Nil => None,
        body => Some(fields(body)?),
    };
    Ok(Entry {
        id: text(id)?,
        fields,
    })
}

fn fields(body: Value) -> Result<Fields, Malformed> {
    let mut flat = list(body)?.into_iter();
    let mut fields = Vec::with_capacity(flat.len() / 2);
    while let Some(name) = flat.next() {
        fields.push((bytes(name)?, bytes(flat.next().ok_or(Malformed)?)?));
    }
    Ok(fields)
}

fn list(value: Value) -> Result<Vec<Value>, Malformed> {
    match value {
        Value::Array(items) => Ok(items),
        _ => Err(Malformed),
    }
}

fn bytes(value: Value) -> Result<Vec<u8>, Malformed> {
    match value {
        Value::BulkString(bytes) => Ok(bytes),
        Value::SimpleString(text) => Ok(text.into_bytes()),
        _ => Err(Malformed),
    }
}

fn text(value: Value) -> Result<String, Malformed> {
    String::from_utf8(bytes(value)?).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn array(items: impl IntoIterator<Item = Value>) -> Value {
        Value::Array(items.into_iter().collect())
    }

    /// C15: a nil body is not an empty record.
    #[test]
    fn a_deleted_record_is_told_from_an_empty_one_in_both_forms_of_the_reply() {
        let entries = || {
            array([
                array([bulk("1-0"), Value::Nil]),
                array([bulk("2-0"), array([])]),
                array([bulk("3-0"), array([bulk("name"), bulk("value")])]),
            ])
        };
        let expected = vec![
            Entry {
                id: "1-0".into(),
                fields: None,
            },
            Entry {
                id: "2-0".into(),
                fields: Some(vec![]),
            },
            Entry {
                id: "3-0".into(),
                fields: Some(vec![(b"name".to_vec(), b"value".to_vec())]),
            },
        ];
        assert_eq!(
            read_reply(array([array([bulk("orders:0"), entries()])])).as_ref(),
            Ok(&expected)
        );
        assert_eq!(
            read_reply(Value::Map(vec![(bulk("orders:0"), entries())])),
            Ok(expected)
        );
        assert_eq!(read_reply(Value::Nil), Ok(vec![]));
        assert_eq!(
            read_reply(array([array([bulk("orders:0"), array([])])])),
            Ok(vec![])
        );
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        let odd = array([array([
            bulk("k"),
            array([array([bulk("1-0"), array([bulk("name")])])]),
        ])]);
        for value in [Value::Int(1), array([Value::Int(1)]), odd] {
            assert_eq!(read_reply(value), Err(Malformed));
        }
        assert_eq!(claim_reply(array([bulk("0-0"), array([])])), Err(Malformed));
        assert_eq!(pending_reply(array([array([bulk("1-0")])])), Err(Malformed));
    }

    #[test]
    fn a_claim_tells_where_to_go_on_and_what_was_lost() {
        let reply = array([
            bulk("5-0"),
            array([bulk("1-0")]),
            array([bulk("2-0"), bulk("3-0")]),
        ]);
        assert_eq!(claim_reply(reply), Ok(("5-0".into(), 2)));
    }
}
