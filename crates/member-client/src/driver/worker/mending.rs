//! What a worker does about trouble: repairing what can be repaired, waiting, giving the shard up, tidying up at the end.
//! What an error means is told elsewhere.

use std::time::Duration;

use super::{End, Worker};
use crate::driver::redis_side::{Reader, Trouble};
use crate::driver::troubles::TroubleKind;

/// How long a worker that ends tries to tidy up behind a connection it lost.
const TIDY_LIMIT: Duration = Duration::from_secs(2);

impl Worker {
    /// After an error: what can be repaired is, and then comes a pause that grows with every error in a row. Refused with the
    /// reason if the shard is another's.
    pub(super) async fn mend(&mut self, trouble: Trouble) -> Result<(), String> {
        let backoff = self.settings.redis_backoff;
        let is_permanent = matches!(trouble, Trouble::Refused(_));
        if let Trouble::Superseded(why) = trouble {
            return Err(why);
        }
        self.tell(&trouble);
        if let Some(node) = self.state.node.take() {
            self.connector.forget(&node);
        }
        if matches!(trouble, Trouble::GroupMissing(_)) {
            self.repair_group().await?;
        }
        let pause = if is_permanent {
            backoff.longest()
        } else {
            backoff.pause(self.state.failures)
        };
        self.let_run_for(pause).await;
        Ok(())
    }

    fn tell(&mut self, trouble: &Trouble) {
        self.state.failures = self.state.failures.saturating_add(1);
        self.counters.reconnects.increment();
        let (failures, redis) = (self.state.failures, self.connector.places());
        // Ever more rarely: many shards share one Redis, and it may be away for long.
        if failures.is_power_of_two() {
            tracing::warn!(stream_key = %self.stream.key, grant = %self.grant, redis, failures, error = %trouble, "the shard is read again after a pause");
        } else {
            tracing::debug!(stream_key = %self.stream.key, grant = %self.grant, redis, failures, error = %trouble, "the shard is read again after a pause");
        }
        self.note_trouble(TroubleKind::Unreadable, None, &trouble.to_string());
    }

    /// Cases C01 and C02: the owner, and nobody else, makes the group anew. A plain stream that does not exist is left alone:
    /// creating streams is the coordinator's business. So is a shard that is retired.
    async fn repair_group(&mut self) -> Result<(), String> {
        let outcome = match self.connect().await {
            Ok(Some(mut reader)) if !self.duty.is_over() => {
                self.stream.restore_group(&mut reader).await
            }
            Ok(_) => return Ok(()),
            Err(trouble) => Err(trouble),
        };
        match outcome {
            Ok(restored) => {
                self.counters.group_repairs.add(usize::from(restored.group));
                self.counters.streams_lost.add(usize::from(restored.stream));
                tracing::warn!(stream_key = %self.stream.key, created = restored.group, data_lost = restored.stream, "the consumer group was missing");
            }
            Err(Trouble::Superseded(why)) => return Err(why),
            Err(trouble) if self.state.failures.is_power_of_two() => {
                tracing::warn!(stream_key = %self.stream.key, error = %trouble, "the consumer group could not be created");
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// Nothing is made anew and nothing more is acknowledged: whoever has the shard now decides.
    pub(super) fn give_up_the_shard(&mut self, why: &str) -> End {
        self.counters.shards_superseded.increment();
        self.counters.acks_refused.add(self.state.acks.len());
        tracing::warn!(stream_key = %self.stream.key, grant = %self.grant, error = %why, "the shard is given up and the coordinator asked");
        self.note_trouble(TroubleKind::Superseded, None, why);
        End::Superseded
    }

    /// If the last connection was lost: makes sure that it takes no entries any more, and sends what is to be acknowledged.
    pub(super) async fn tidy_up(&mut self) {
        if self.state.earlier.is_none() && self.state.acks.is_empty() {
            return;
        }
        let tidy = async {
            let link = self.connector.open(&self.stream.key).await?;
            let mut reader = Reader::new(link).await?;
            if let Some(earlier) = self.state.earlier.take() {
                reader.end_earlier(&earlier).await?;
            }
            if self.state.acks.is_empty() {
                return Ok(());
            }
            self.stream.bind(&mut reader).await?;
            self.acknowledge(&mut reader).await
        };
        match tokio::time::timeout(TIDY_LIMIT, tidy).await {
            Ok(Ok(())) => {}
            Ok(Err(trouble)) => tracing::debug!(error = %trouble, "nothing could be tidied up"),
            Err(_) => tracing::debug!("tidying up took too long"),
        }
    }
}
