//! Records of one shard that wait for their turn, where the order does not matter. Whose turn it is, not what is done.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tokio::time::Instant;

use crate::driver::record::Record;

/// A record that is to be handled.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) record: Record,
    /// How many attempts were made.
    pub(super) made: u32,
    /// Why the last one was not the last, if this worker made it.
    pub(super) why: Option<String>,
    /// It was delivered before, and a process may have died of it: nothing else is handled beside it (case C21).
    pub(super) is_suspect: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Board {
    ready: VecDeque<Item>,
    later: BTreeMap<(Instant, Arc<str>), Item>,
}

impl Board {
    pub(super) fn push(&mut self, item: Item, due: Option<Instant>) {
        match due {
            None => self.ready.push_back(item),
            Some(due) => {
                let id = Arc::clone(&item.record.id);
                self.later.insert((due, id), item);
            }
        }
    }

    /// What was postponed until now is ready, before anything newer.
    pub(super) fn wake(&mut self, now: Instant) {
        let mut due = Vec::new();
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > now {
                break;
            }
            due.push(entry.remove());
        }
        due.into_iter()
            .rev()
            .for_each(|item| self.ready.push_front(item));
    }

    /// The next record, if it may be handled beside so many others.
    pub(super) fn take(&mut self, beside: usize) -> Option<Item> {
        let is_free = |item: &Item| beside == 0 || !item.is_suspect;
        if self.ready.front().is_some_and(is_free) {
            return self.ready.pop_front();
        }
        None
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(super) fn postponed(&self) -> usize {
        self.later.len()
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.later.keys().next().map(|(due, _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use protocol::ShardId;

    use super::*;

    fn item(id: &str, is_suspect: bool) -> Item {
        let record = Record {
            shard: ShardId::new(0),
            stream_key: "orders:0".into(),
            member_id: "a-m0".into(),
            epoch: 1,
            id: id.into(),
            fields: Arc::default(),
            attempt: 0,
            deliveries: 1,
        };
        Item {
            record,
            made: 0,
            why: None,
            is_suspect,
        }
    }

    fn ids(board: &mut Board, beside: usize) -> Vec<String> {
        std::iter::from_fn(|| board.take(beside))
            .map(|item| item.record.id().to_owned())
            .collect()
    }

    #[test]
    fn what_is_postponed_does_not_hold_others_and_comes_first_when_it_is_due() {
        let (mut board, now) = (Board::default(), Instant::now());
        board.push(item("1", false), Some(now + Duration::from_secs(2)));
        board.push(item("2", false), Some(now + Duration::from_secs(1)));
        board.push(item("3", false), None);
        assert_eq!(board.next_due(), Some(now + Duration::from_secs(1)));
        board.wake(now);
        assert_eq!(ids(&mut board, 5), ["3"]);
        board.push(item("4", false), None);
        board.wake(now + Duration::from_secs(2));
        assert_eq!(ids(&mut board, 5), ["2", "1", "4"]);
    }

    /// C21: what a process may have died of takes no other record with it.
    #[test]
    fn a_suspect_waits_until_nothing_else_is_in_hand() {
        let mut board = Board::default();
        board.push(item("1", false), None);
        board.push(item("2", true), None);
        board.push(item("3", false), None);
        assert_eq!(ids(&mut board, 1), ["1"]);
        assert!(board.has_ready());
        assert_eq!(ids(&mut board, 0), ["2", "3"]);
    }
}
