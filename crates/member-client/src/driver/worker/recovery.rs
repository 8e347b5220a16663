//! Recovery of what earlier owners, or earlier connections, were given and did not acknowledge. New entries come after it.

use super::Worker;
use crate::driver::handler::Handler;
use crate::driver::redis_side::{Reader, Trouble};

impl<H: Handler> Worker<H> {
    /// Takes over everybody's pending entries and hands them over, in the order of the stream. Safe whatever their age: this
    /// worker is the shard's only owner, and it has nothing in hand (case C19).
    pub(super) async fn recover(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        let mut cursor = "0-0".to_owned();
        while !self.duty.is_over() {
            let (next, lost) = self.stream.claim(reader, &cursor).await?;
            self.counters.records_lost.add(lost);
            cursor = next;
            if cursor == "0-0" {
                break;
            }
        }
        let mut after = "0".to_owned();
        while !self.duty.is_over() {
            let entries = self
                .stream
                .read_history(reader, self.settings.read_count, &after)
                .await?;
            let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
                break;
            };
            let range = (first.id.as_str(), last.id.as_str());
            let deliveries = self.stream.deliveries(reader, range, entries.len()).await?;
            after.clone_from(&last.id);
            self.work_through(reader, entries, &deliveries).await?;
            self.acknowledge(reader).await?;
        }
        Ok(())
    }
}
