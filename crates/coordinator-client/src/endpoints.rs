//! The coordinators that may be asked, and which of them answered last. It sends nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

/// One or several base URLs, and the one to begin with.
#[derive(Debug)]
pub(crate) struct Endpoints {
    urls: Vec<String>,
    preferred: AtomicUsize,
}

impl Endpoints {
    /// `urls` has at least one entry: the builder sees to it.
    pub(crate) fn new(urls: Vec<String>) -> Self {
        Self {
            urls,
            preferred: AtomicUsize::new(0),
        }
    }

    /// Every position once, beginning with the one that answered last.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (usize, &str)> {
        let first = self.preferred.load(Ordering::Relaxed);
        (0..self.urls.len()).map(move |step| {
            let position = (first + step) % self.urls.len();
            (position, self.urls[position].as_str())
        })
    }

    /// The one that answered last.
    pub(crate) fn first(&self) -> (usize, &str) {
        let position = self.preferred.load(Ordering::Relaxed);
        (position, self.urls[position].as_str())
    }

    /// The one at `position` answered: it comes first from now on.
    pub(crate) fn answered(&self, position: usize) {
        self.preferred.store(position, Ordering::Relaxed);
    }

    /// The one at `position` did not answer: the next comes first, unless that has changed meanwhile.
    pub(crate) fn failed(&self, position: usize) {
        let next = (position + 1) % self.urls.len();
        let _changed_meanwhile =
            self.preferred
                .compare_exchange(position, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoints;

    fn order(endpoints: &Endpoints) -> Vec<usize> {
        endpoints.in_order().map(|(position, _)| position).collect()
    }

    #[test]
    fn the_one_that_answered_last_comes_first() {
        let endpoints = Endpoints::new(["a", "b", "c"].map(str::to_owned).to_vec());
        assert_eq!(order(&endpoints), [0, 1, 2]);
        endpoints.answered(2);
        assert_eq!(order(&endpoints), [2, 0, 1]);
    }

    #[test]
    fn many_failures_of_one_move_on_only_once() {
        let endpoints = Endpoints::new(["a", "b", "c"].map(str::to_owned).to_vec());
        endpoints.failed(0);
        endpoints.failed(0);
        assert_eq!(order(&endpoints), [1, 2, 0]);
    }
}
