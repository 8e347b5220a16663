//! Many records at once. Those of one shard travel together as one transaction; those of one key stay in order, also over
//! a stale route, and over a failure.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures_util::future::join_all;
use redis::Cmd;

use crate::counters::Counters;
use crate::error::PublishError;
use crate::producer::Producer;
use crate::producer::publish::{no_route, published};
use crate::record::{Published, Record};
use crate::router::Fetched;
use crate::routing_table::Route;
use crate::streams::{Added, xadd};

/// What became of a record; none as long as its stream was not there.
type Outcome = Option<Result<Published, PublishError>>;

/// The records of one shard, by their positions in the batch.
struct Share<'a> {
    route: &'a Route,
    positions: Vec<usize>,
}

impl Producer {
    /// Publishes many records; the answer has one entry for each, in the same order.
    ///
    /// Up to `max_in_flight` of them are sent at a time, those of one shard as one transaction: all of them or none. Records of one key are
    /// added in their order. Where one of them is not published, the later ones of its key are not sent:
    /// [`PublishError::NotAttempted`]. An ACL user needs MULTI and EXEC beside XADD.
    ///
    /// ```no_run
    /// use producer_client::Record;
    ///
    /// # async fn example(producer: producer_client::Producer) {
    /// let records: Vec<Record> =
    ///     (0..100).map(|n| Record::new(format!("customer-{}", n % 7)).field("n", n.to_string())).collect();
    /// for (record, outcome) in records.iter().zip(producer.publish_batch(&records).await) {
    ///     if let Err(error) = outcome {
    ///         println!("{:?}: {error}", record.key());
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn publish_batch(&self, records: &[Record]) -> Vec<Result<Published, PublishError>> {
        let size = usize::try_from(self.shared.settings.max_in_flight.get()).unwrap_or(usize::MAX);
        let mut outcomes = Vec::with_capacity(records.len());
        let mut failed_keys = HashSet::new();
        for chunk in records.chunks(size) {
            let settled = self.publish_chunk(chunk, &failed_keys).await;
            for (record, outcome) in chunk.iter().zip(settled) {
                if outcome.is_err() {
                    failed_keys.insert(record.key());
                }
                self.count(&outcome);
                outcomes.push(outcome);
            }
        }
        outcomes
    }

    async fn publish_chunk(
        &self,
        records: &[Record],
        failed_keys: &HashSet<&[u8]>,
    ) -> Vec<Result<Published, PublishError>> {
        let mut outcomes = refused_beforehand(records, failed_keys);
        let room = u32::try_from(records.len()).unwrap_or(u32::MAX);
        let settled = match self.admit(room).await {
            Ok(_on_their_way) => self.publish_twice(records, &mut outcomes).await,
            Err(error) => Err(error),
        };
        // Whatever is still open failed for the one reason that concerns all.
        let reason = settled.err().unwrap_or(PublishError::NotAttempted);
        outcomes
            .into_iter()
            .map(|outcome| outcome.unwrap_or_else(|| Err(reason.clone())))
            .collect()
    }

    /// Settles every open outcome, with newer routing for those whose stream was not there. An error settles the rest.
    async fn publish_twice(
        &self,
        records: &[Record],
        outcomes: &mut [Outcome],
    ) -> Result<(), PublishError> {
        let fetched = self.shared.router.valid().await?;
        self.publish_open(records, outcomes, &fetched).await?;
        let stale = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        if stale == 0 {
            return Ok(());
        }
        Counters::count_many(&self.shared.counters.stale_routes, stale);
        let newer = match self.shared.router.newer_than(fetched.answer).await {
            Ok(newer) => newer,
            Err(source) => {
                return settle_open(records, outcomes, &fetched, |route| {
                    self.stale_route(&fetched, route, Arc::clone(&source))
                });
            }
        };
        self.publish_open(records, outcomes, &newer).await?;
        settle_open(records, outcomes, &newer, |route| no_route(&newer, route))
    }

    /// Sends every record whose outcome is open to the shard of its key; those whose stream is not there stay open.
    async fn publish_open(
        &self,
        records: &[Record],
        outcomes: &mut [Outcome],
        fetched: &Fetched,
    ) -> Result<(), PublishError> {
        let mut shares = BTreeMap::new();
        for (position, record) in records.iter().enumerate() {
            if outcomes[position].is_none() {
                let route = fetched.table.route(record.key())?;
                let share = shares.entry(route.shard).or_insert_with(|| Share {
                    route,
                    positions: Vec::new(),
                });
                share.positions.push(position);
            }
        }
        let shares: Vec<Share<'_>> = shares.into_values().collect();
        let answers = join_all(shares.iter().map(|share| self.send_share(share, records))).await;
        for (share, answer) in shares.iter().zip(answers) {
            settle(share, answer, outcomes);
        }
        Ok(())
    }

    async fn send_share(
        &self,
        share: &Share<'_>,
        records: &[Record],
    ) -> Result<Vec<Added>, PublishError> {
        let max_len = self.shared.settings.max_len;
        let command =
            |position: &usize| xadd(&share.route.stream_key, max_len, &records[*position]);
        let commands: Vec<Cmd> = share.positions.iter().map(command).collect();
        Ok(self.shared.link.add(share.route.slot, &commands).await?)
    }
}

/// Gives every open outcome the error that fits its route.
fn settle_open(
    records: &[Record],
    outcomes: &mut [Outcome],
    fetched: &Fetched,
    error: impl Fn(&Route) -> PublishError,
) -> Result<(), PublishError> {
    for (record, outcome) in records
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| outcome.is_none())
    {
        *outcome = Some(Err(error(fetched.table.route(record.key())?)));
    }
    Ok(())
}

/// Records that are not to be sent at all: without fields, or behind a failed one of their key.
fn refused_beforehand(records: &[Record], failed_keys: &HashSet<&[u8]>) -> Vec<Outcome> {
    let mut failed_here = HashSet::new();
    let mut judge = |record: &Record| {
        if failed_keys.contains(record.key()) || failed_here.contains(record.key()) {
            return Some(Err(PublishError::NotAttempted));
        }
        if record.fields().is_empty() {
            failed_here.insert(record.key().to_vec());
            return Some(Err(PublishError::NoFields));
        }
        None
    };
    records.iter().map(&mut judge).collect()
}

fn settle(share: &Share<'_>, answer: Result<Vec<Added>, PublishError>, outcomes: &mut [Outcome]) {
    match answer {
        Ok(added) => {
            for (position, added) in share.positions.iter().zip(added) {
                outcomes[*position] = match added {
                    Added::Id(id) => Some(Ok(published(share.route, id))),
                    Added::NoStream => None,
                    Added::Refused(error) => Some(Err(PublishError::from(&error))),
                };
            }
        }
        Err(error) => {
            for position in &share.positions {
                outcomes[*position] = Some(Err(error.clone()));
            }
        }
    }
}
