//! Which node of a cluster serves which slot. It only remembers what it is told.

use std::collections::{BTreeMap, HashMap};

use redis::Value;

/// Slots and the addresses (`host:port`) of the nodes that serve them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    /// First slot of a range → its last slot and its node.
    ranges: BTreeMap<u16, (u16, String)>,
    /// Slots that were seen elsewhere since.
    moved: HashMap<u16, String>,
}

impl Slots {
    /// Reads the reply to `CLUSTER SLOTS` of a node at `asked_host`. Ranges without a usable address are left out.
    pub(crate) fn read(reply: &Value, asked_host: &str) -> Self {
        let Value::Array(entries) = reply else {
            return Self::default();
        };
        let ranges = entries
            .iter()
            .filter_map(|entry| range(entry, asked_host))
            .collect();
        Self {
            ranges,
            moved: HashMap::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.moved.is_empty()
    }

    /// The node that serves `slot`, as far as known.
    pub(crate) fn address(&self, slot: u16) -> Option<&str> {
        if let Some(address) = self.moved.get(&slot) {
            return Some(address);
        }
        let (_, (last, address)) = self.ranges.range(..=slot).next_back()?;
        (slot <= *last).then_some(address.as_str())
    }

    /// `slot` was seen at `address`.
    pub(crate) fn moved(&mut self, slot: u16, address: String) {
        self.moved.insert(slot, address);
    }
}

/// One entry: first slot, last slot, the node that serves them (host, port, …), its replicas.
fn range(entry: &Value, asked_host: &str) -> Option<(u16, (u16, String))> {
    let Value::Array(parts) = entry else {
        return None;
    };
    let [Value::Int(first), Value::Int(last), Value::Array(node), ..] = parts.as_slice() else {
        return None;
    };
    let [host, Value::Int(port), ..] = node.as_slice() else {
        return None;
    };
    let host = match host {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok()?,
        Value::SimpleString(text) => text.as_str(),
        Value::Nil => "",
        _ => return None,
    };
    let host = match host {
        // The node does not know its own name: it is where it was asked.
        "" => asked_host,
        "?" => return None,
        known => known,
    };
    Some((
        u16::try_from(*first).ok()?,
        (u16::try_from(*last).ok()?, format!("{host}:{port}")),
    ))
}

/// Where a redirection (`MOVED slot host:port`) points to, when it came from a node at `asked_host`.
pub(crate) fn redirected_to(details: &str, asked_host: &str) -> Option<String> {
    let address = details.split_ascii_whitespace().nth(1)?;
    let (host, port) = address.rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    Some(if host.is_empty() {
        format!("{asked_host}:{port}")
    } else {
        address.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::{Slots, redirected_to};

    fn entry(first: i64, last: i64, host: Value, port: i64) -> Value {
        Value::Array(vec![
            Value::Int(first),
            Value::Int(last),
            Value::Array(vec![host, Value::Int(port)]),
        ])
    }

    fn host(name: &str) -> Value {
        Value::BulkString(name.as_bytes().to_vec())
    }

    #[test]
    fn every_slot_of_a_range_is_served_by_its_node() {
        let reply = Value::Array(vec![
            entry(0, 5_460, host("10.0.0.1"), 7_000),
            entry(5_461, 10_922, host(""), 7_001),
            entry(10_923, 16_382, Value::Nil, 7_002),
            entry(16_383, 16_383, host("?"), 7_003),
        ]);
        let slots = Slots::read(&reply, "seed");
        let at = |slot| slots.address(slot);
        assert_eq!([at(0), at(5_460)], [Some("10.0.0.1:7000"); 2]);
        assert_eq!([at(5_461), at(10_922)], [Some("seed:7001"); 2]);
        assert_eq!([at(10_923), at(16_382)], [Some("seed:7002"); 2]);
        assert_eq!(at(16_383), None);
    }

    #[test]
    fn what_moved_counts_more_than_the_range() {
        let mut slots = Slots::read(&Value::Array(vec![entry(0, 99, host("a"), 1)]), "seed");
        slots.moved(7, "b:2".to_owned());
        assert_eq!(
            (slots.address(7), slots.address(8)),
            (Some("b:2"), Some("a:1"))
        );
    }

    #[test]
    fn a_reply_that_is_none_leaves_every_slot_unknown() {
        for reply in [
            Value::Nil,
            Value::Array(vec![Value::Int(1)]),
            Value::Array(Vec::new()),
        ] {
            assert!(Slots::read(&reply, "seed").is_empty());
        }
    }

    #[test]
    fn redirections_name_the_node_or_only_its_port() {
        assert_eq!(
            redirected_to("3999 10.0.0.2:7001", "seed").as_deref(),
            Some("10.0.0.2:7001")
        );
        assert_eq!(
            redirected_to("3999 :7001", "seed").as_deref(),
            Some("seed:7001")
        );
        assert_eq!(redirected_to("3999", "seed"), None);
        assert_eq!(redirected_to("3999 host:port", "seed"), None);
    }
}
