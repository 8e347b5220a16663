//! Handing records over, one after another, and acknowledging them. Where they come from is not known here.

use std::sync::Arc;

use super::{Order, Worker};
use crate::driver::handler::{Handler, HandlerError, Record};
use crate::driver::redis_side::{Entry, Reader, Trouble};
use crate::machine::Event;

/// What became of one attempt.
enum Attempt {
    Handled,
    Failed(HandlerError),
    /// Told to drop everything; the record stays pending.
    Dropped,
}

impl<H: Handler> Worker<H> {
    /// Hands entries over until they are through or the duty is over; what is left stays pending for the next owner.
    /// `deliveries` has a row for each entry that was delivered before.
    pub(super) async fn work_through(
        &mut self,
        reader: &mut Reader,
        entries: Vec<Entry>,
        deliveries: &[(String, u64)],
    ) -> Result<(), Trouble> {
        self.note_delivered(&entries);
        for Entry { id, fields } in entries {
            if self.duty.is_over() {
                return Ok(());
            }
            let known = deliveries
                .iter()
                .find(|(pending, _)| *pending == id)
                .map(|(_, count)| *count);
            let id: Arc<str> = id.into();
            let Some(fields) = fields else {
                // Case C15: nobody can handle it any more.
                self.counters.records_lost.increment();
                self.state.acks.add(id);
                continue;
            };
            self.counters
                .records_recovered
                .add(usize::from(known.is_some()));
            let record = Record {
                shard: self.shard,
                stream_key: Arc::clone(&self.stream.key),
                member_id: Arc::clone(&self.stream.consumer),
                epoch: self.grant.epoch,
                id,
                fields: Arc::new(fields),
                attempt: 0,
                deliveries: known.unwrap_or(1),
            };
            if !self.hand_over(reader, record).await? {
                return Ok(());
            }
            if self.state.acks.is_due() {
                self.acknowledge(reader).await?;
            }
        }
        Ok(())
    }

    /// Hands one record over until the handler accepts it. `false`: the shard ended before.
    async fn hand_over(
        &mut self,
        reader: &mut Reader,
        mut record: Record,
    ) -> Result<bool, Trouble> {
        loop {
            record.attempt = record.attempt.saturating_add(1);
            match self.attempt(reader, &record).await? {
                Attempt::Handled => return Ok(true),
                Attempt::Dropped => return Ok(false),
                Attempt::Failed(error) => {
                    self.counters.handler_errors.increment();
                    tracing::warn!(stream_key = %record.stream_key, id = %record.id, attempt = record.attempt, %error, "the handler failed; the record is handed over again");
                }
            }
            self.acknowledge(reader).await?;
            tokio::select! {
                () = tokio::time::sleep(self.settings.handler_backoff.pause(record.attempt)) => {}
                () = self.duty.until(Order::Stop) => return Ok(false),
            }
            if self.duty.is_over() {
                return Ok(false);
            }
        }
    }

    /// One call of the handler. While it runs, acknowledgements that are due are sent. A connection that breaks meanwhile is
    /// no reason to end the call.
    async fn attempt(&mut self, reader: &mut Reader, record: &Record) -> Result<Attempt, Trouble> {
        let handler = Arc::clone(&self.handler);
        let handling = handler.handle(record.clone());
        tokio::pin!(handling);
        let (mut broken, mut told) = (None, false);
        let outcome = loop {
            let due = self.state.acks.due_at().filter(|_| broken.is_none());
            let acks_due = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                outcome = &mut handling => break outcome,
                () = self.duty.until(Order::Abandon) => return Ok(Attempt::Dropped),
                () = self.duty.until(Order::Stop), if !told => {
                    told = true;
                    self.report(Event::InFlight { shard: self.shard, grant: self.grant, records: 1 });
                }
                () = acks_due => broken = self.acknowledge(reader).await.err(),
            }
        };
        let attempt = match outcome {
            Ok(()) => {
                self.counters.records_handled.increment();
                self.state.acks.add(Arc::clone(&record.id));
                Attempt::Handled
            }
            Err(error) => Attempt::Failed(error),
        };
        broken.map_or(Ok(attempt), Err)
    }

    /// Sends what is to be acknowledged. After the order to abandon, or with the lease over, nothing is: somebody else may
    /// own the shard (cases C36 and C37).
    pub(super) async fn acknowledge(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        let ids = self.state.acks.take();
        if ids.is_empty() || !self.duty.may_finish() {
            return Ok(());
        }
        let known = tokio::select! {
            biased;
            known = self.stream.acknowledge(reader, &ids) => known,
            () = self.duty.until(Order::Abandon) => return Ok(()),
        };
        match known {
            Ok(known) => {
                self.counters.records_acked.add(known);
                self.counters
                    .acks_unknown
                    .add(ids.len().saturating_sub(known));
                self.note_acked(&ids);
                Ok(())
            }
            Err(trouble) => {
                self.state.acks.put_back(ids);
                Err(trouble)
            }
        }
    }

    fn note_delivered(&self, entries: &[Entry]) {
        self.progress.send_modify(|progress| {
            progress.last_delivered = entries.last().map(|entry| entry.id.as_str().into());
            progress.pending += entries.len() as u64;
        });
    }

    fn note_acked(&self, ids: &[Arc<str>]) {
        self.progress.send_modify(|progress| {
            progress.last_acked = ids.last().cloned();
            progress.pending = progress.pending.saturating_sub(ids.len() as u64);
        });
    }
}
