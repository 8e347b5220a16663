//! Many operations in few calls: how they are cut into calls, and how the outcomes are dealt out again.

use std::ops::Range;

use crate::error::LifecycleError;
use crate::handle::Handle;
use crate::wire::{Call, Context, RedisLink, Reply, accept, run_all};

/// The most items, arguments and bytes of one call: a call must not hold the server up.
const ITEMS: usize = 64;
const ARGUMENTS: usize = 4_000;
const BYTES: usize = 256 * 1_024;

/// How large an item is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) arguments: usize,
    pub(super) bytes: usize,
}

/// Cuts items into calls, in order. An item that is too large by itself gets a call of its own.
pub(super) fn cut(sizes: impl Iterator<Item = Size>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut total = Size::default();
    for (index, size) in sizes.enumerate() {
        let (arguments, bytes) = (total.arguments + size.arguments, total.bytes + size.bytes);
        match ranges.last_mut() {
            Some(range) if range.len() < ITEMS && arguments <= ARGUMENTS && bytes <= BYTES => {
                range.end = index + 1;
                total = Size { arguments, bytes };
            }
            _ => {
                ranges.push(index..index + 1);
                total = size;
            }
        }
    }
    ranges
}

impl<L: RedisLink> Handle<L> {
    /// Sends the calls at once. Each answers for a range of items, one outcome for each; a call that fails fails for all of its own.
    pub(super) async fn deal<T: Clone>(
        &self,
        ranges: &[Range<usize>],
        calls: &[Call],
        read: impl Fn(Reply) -> Result<Vec<Result<T, LifecycleError>>, LifecycleError>,
    ) -> Vec<Result<T, LifecycleError>> {
        let replies = run_all(self.link(), calls, Some(self.identity())).await;
        let mut all = Vec::with_capacity(ranges.last().map_or(0, |range| range.end));
        for (range, reply) in ranges.iter().zip(replies) {
            match reply.and_then(&read) {
                Ok(outcomes) if outcomes.len() == range.len() => all.extend(outcomes),
                Ok(outcomes) => {
                    let what = format!("{} outcomes for {} items", outcomes.len(), range.len());
                    let error = crate::wire::unexpected("a call for many", &what);
                    all.extend(range.clone().map(|_| Err(error.clone())));
                }
                Err(error) => all.extend(range.clone().map(|_| Err(error.clone()))),
            }
        }
        all
    }

    /// Reads outcomes that have the shape of whole answers.
    pub(super) fn outcomes<T>(
        &self,
        mut reply: Reply,
        read: impl Fn(Reply) -> Result<T, LifecycleError>,
    ) -> Result<Vec<Result<T, LifecycleError>>, LifecycleError> {
        let outcomes = reply.outcomes()?.into_iter();
        let context = Context {
            base: self.base().as_str(),
            bound: Some(self.identity()),
        };
        let read = outcomes.map(|outcome| accept(outcome, &context).and_then(&read));
        Ok(read.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_limits_and_lose_no_item() {
        let small = Size {
            arguments: 10,
            bytes: 100,
        };
        let long = Size {
            arguments: 2_000,
            bytes: 100,
        };
        let heavy = Size {
            arguments: 10,
            bytes: 1 << 20,
        };
        let sizes = [[small; 100].as_slice(), &[long; 5], &[heavy, small, heavy]].concat();
        let ranges = cut(sizes.iter().copied());
        let expected = [
            0..64,
            64..101,
            101..103,
            103..105,
            105..106,
            106..107,
            107..108,
        ];
        assert_eq!(ranges, expected);
        assert!(cut([].into_iter()).is_empty());
    }
}
