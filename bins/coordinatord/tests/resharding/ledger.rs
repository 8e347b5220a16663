//! What was published and what each group handled. Every entry has a number of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers of entries, on both sides.
#[derive(Default)]
pub struct Ledger {
    last: AtomicU64,
    published: Mutex<BTreeSet<u64>>,
    handled: Mutex<BTreeMap<String, BTreeSet<u64>>>,
}

impl Ledger {
    /// A number for a new entry.
    pub fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::SeqCst)
    }

    /// Redis took the entry.
    pub fn published(&self, number: u64) {
        self.published.lock().unwrap().insert(number);
    }

    /// The group saw the entry.
    pub fn handled(&self, group: &str, number: u64) {
        let mut handled = self.handled.lock().unwrap();
        handled.entry(group.to_owned()).or_default().insert(number);
    }

    /// Whether the group saw the entry.
    pub fn has_handled(&self, group: &str, number: u64) -> bool {
        let handled = self.handled.lock().unwrap();
        handled.get(group).is_some_and(|all| all.contains(&number))
    }

    /// What was published, and has not been seen by the group.
    pub fn left(&self, group: &str) -> Vec<u64> {
        let published = self.published.lock().unwrap().clone();
        let handled = self.handled.lock().unwrap().get(group).cloned();
        published
            .difference(&handled.unwrap_or_default())
            .copied()
            .collect()
    }

    /// How many were published.
    pub fn count(&self) -> usize {
        self.published.lock().unwrap().len()
    }
}
