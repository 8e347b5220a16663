//! Recovery of what earlier owners, or earlier connections, were given and did not acknowledge. New entries come after it.

use tokio::time::Instant;

use super::again::Before;
use super::{Order, Worker};
use crate::driver::redis_side::{Entry, Reader, Trouble};

/// An entry that was delivered before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// How often, by Redis' count.
    pub(super) deliveries: u64,
    /// What is known of earlier attempts.
    pub(super) before: Before,
}

impl Worker {
    /// Takes over everybody's pending entries. Safe whatever their age: this worker is the shard's only owner, and has nothing
    /// in hand but what it knows of (case C19).
    pub(super) async fn take_over(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        let lost = tokio::select! {
            biased;
            lost = self.stream.take_over(reader) => lost?,
            () = self.duty.until(Order::Abandon) => return Ok(()),
        };
        self.counters.records_lost.add(lost);
        Ok(())
    }

    /// Hands over what is pending, in the order of the stream.
    pub(super) async fn recover(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        let mut after = "0".to_owned();
        while !self.duty.is_over() {
            let (entries, known) = self.history(reader, &after).await?;
            let Some(last) = entries.last() else {
                break;
            };
            after.clone_from(&last.id);
            self.work_through(reader, entries, &known).await?;
            self.acknowledge(reader).await?;
        }
        Ok(())
    }

    /// The next page of pending entries, each with what is known of it.
    pub(super) async fn history(
        &self,
        reader: &mut Reader,
        after: &str,
    ) -> Result<(Vec<Entry>, Vec<Known>), Trouble> {
        let entries = self
            .stream
            .read_history(reader, self.settings.read_count, after)
            .await?;
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let range = (first.id.as_str(), last.id.as_str());
        let deliveries = self.stream.deliveries(reader, range, entries.len()).await?;
        let recorded = self.stream.attempts(reader, &entries).await?;
        let now = Instant::now();
        let known = entries.iter().enumerate().map(|(index, entry)| {
            let row = deliveries.iter().find(|(id, _)| *id == entry.id);
            let recorded = recorded.as_ref().and_then(|rows| rows.get(index));
            Known {
                deliveries: row.map_or(1, |(_, count)| *count),
                before: recorded.map_or_else(Before::default, |recorded| Before {
                    // The delivery itself counts: a process may have died of it.
                    made: recorded.count.saturating_add(1),
                    due: (!recorded.wait.is_zero()).then(|| now + recorded.wait),
                }),
            }
        });
        let known = known.collect();
        Ok((entries, known))
    }
}
