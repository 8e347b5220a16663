//! Handing records over, one after another, and acknowledging them. Where they come from is not known here.

use std::sync::Arc;

use tokio::time::Instant;

use super::again::{Before, Begin};
use super::recovery::Known;
use super::step::{self, Step};
use super::{Order, Worker};
use crate::driver::handler::{HandlerError, Outcome};
use crate::driver::record::{Fields, Record};
use crate::driver::redis_side::{Deleted, Entry, Reader, Trouble};
use crate::machine::Event;

/// What became of one call of the handler.
enum Call {
    /// It ended, and perhaps the connection broke meanwhile.
    Ended(Result<Outcome, HandlerError>, Option<Trouble>),
    /// Told to drop everything; the record stays pending.
    Dropped,
}

impl Worker {
    /// Hands entries over until they are through or the duty is over; what is left stays pending for the next owner. `known`
    /// has a row for each entry, if they were delivered before.
    pub(super) async fn work_through(
        &mut self,
        reader: &mut Reader,
        entries: Vec<Entry>,
        known: &[Known],
    ) -> Result<(), Trouble> {
        self.note_delivered(&entries);
        for (index, Entry { id, fields }) in entries.into_iter().enumerate() {
            if self.duty.is_over() {
                return Ok(());
            }
            let known = known.get(index).copied();
            let id: Arc<str> = id.into();
            let Some(record) = self.record(&id, fields, known) else {
                continue;
            };
            let mut before = known.map_or_else(Before::default, |known| known.before);
            if let Some((_, due)) = self.state.held.take_if(|(held, _)| *held == id) {
                before.due = before.due.max(Some(due));
            }
            if !self.hand_over(reader, record, before).await? {
                return Ok(());
            }
            if self.state.acks.is_due() {
                self.acknowledge(reader).await?;
            }
        }
        Ok(())
    }

    /// The record of an entry. Case C15: of one that was deleted there is none, and nobody can handle it any more.
    pub(super) fn record(
        &mut self,
        id: &Arc<str>,
        fields: Option<Fields>,
        known: Option<Known>,
    ) -> Option<Record> {
        let Some(fields) = fields else {
            self.counters.records_lost.increment();
            self.state.acks.add(Arc::clone(id));
            return None;
        };
        self.counters
            .records_recovered
            .add(usize::from(known.is_some()));
        Some(Record {
            shard: self.shard,
            stream_key: Arc::clone(&self.stream.key),
            member_id: Arc::clone(&self.stream.consumer),
            epoch: self.grant.epoch,
            id: Arc::clone(id),
            fields: Arc::new(fields),
            attempt: 0,
            deliveries: known.map_or(1, |known| known.deliveries),
        })
    }

    /// Hands one record over until it is through. `false`: the shard ended before.
    async fn hand_over(
        &mut self,
        reader: &mut Reader,
        mut record: Record,
        mut before: Before,
    ) -> Result<bool, Trouble> {
        let mut last = None;
        loop {
            if let Some(due) = before.due.take() {
                self.acknowledge(reader).await?;
                self.rest(reader, due).await?;
            }
            if self.duty.is_over() {
                return Ok(false);
            }
            let begin = self.begin(reader, &record.id, &mut before.made, last.as_deref());
            let mut broken = None;
            let step = match begin.await? {
                Begin::Gone => {
                    self.counters.acks_unknown.increment();
                    return Ok(true);
                }
                Begin::Wait(pause) => {
                    before.due = Some(Instant::now() + pause);
                    continue;
                }
                Begin::Instead(step) => step,
                // What is counted is handled, unless somebody else may own the shard by now.
                Begin::Go if !self.duty.may_finish() => return Ok(false),
                Begin::Go => {
                    before.made = before.made.saturating_add(1);
                    record.attempt = before.made;
                    let Call::Ended(outcome, trouble) = self.call(reader, &record).await? else {
                        return Ok(false);
                    };
                    broken = trouble;
                    self.count(&outcome);
                    step::after(outcome, before.made, self.is_durable(), &self.settings)
                }
            };
            if self.settle(&step, &record) {
                return broken.map_or(Ok(true), Err);
            }
            if let Some(trouble) = broken {
                return Err(trouble);
            }
            match step {
                Step::Again { pause, why } => {
                    let due = self.put_off(reader, &record, (pause, &why)).await?;
                    (before.due, last) = (Some(due), Some(why));
                }
                Step::GiveUp { reason } => {
                    self.bury(reader, &record, &reason).await?;
                    return Ok(true);
                }
                Step::Halt { reason } => {
                    return self.halt(reader, &record, &reason).await;
                }
                Step::Acknowledge | Step::Delete => return Ok(true),
            }
        }
    }

    pub(super) fn count(&self, outcome: &Result<Outcome, HandlerError>) {
        self.counters
            .handler_errors
            .add(usize::from(outcome.is_err()));
    }

    /// Takes down what needs no Redis: that a record is done. Whether it is.
    pub(super) fn settle(&mut self, step: &Step, record: &Record) -> bool {
        let id = Arc::clone(&record.id);
        match step {
            Step::Acknowledge => self.state.acks.add(id),
            Step::Delete if self.is_durable() => self.state.acks.add_deleting(id),
            Step::Delete => {
                self.counters.deletes_skipped.increment();
                self.state.acks.add(id);
            }
            Step::Again { .. } | Step::GiveUp { .. } | Step::Halt { .. } => return false,
        }
        self.counters.records_handled.increment();
        true
    }

    /// One call of the handler. While it runs, acknowledgements that are due are sent. A connection that breaks meanwhile is
    /// no reason to end the call.
    async fn call(&mut self, reader: &mut Reader, record: &Record) -> Result<Call, Trouble> {
        let mut handling = (self.handler)(record.clone());
        let (mut broken, mut told) = (None, false);
        loop {
            let due = self.state.acks.due_at().filter(|_| broken.is_none());
            let acks_due = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                outcome = &mut handling => return Ok(Call::Ended(outcome, broken)),
                () = self.duty.until(Order::Abandon) => return Ok(Call::Dropped),
                () = self.duty.until(Order::Stop), if !told => {
                    told = true;
                    self.report(Event::InFlight { shard: self.shard, grant: self.grant, records: 1 });
                }
                () = acks_due => broken = self.acknowledge(reader).await.err(),
            }
        }
    }

    /// Sends what is to be acknowledged. After the order to abandon, or with the lease over, nothing is: somebody else may
    /// own the shard (cases C36 and C37).
    pub(super) async fn acknowledge(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        let mut waiting = self.state.acks.take();
        if waiting.is_empty() || !self.duty.may_finish() {
            return Ok(());
        }
        if !waiting.ids.is_empty() {
            let known = tokio::select! {
                biased;
                known = self.stream.acknowledge(reader, &waiting.ids) => known,
                () = self.duty.until(Order::Abandon) => return Ok(()),
            };
            match known {
                Ok(known) => self.note_sent(&std::mem::take(&mut waiting.ids), known),
                Err(trouble) => {
                    self.state.acks.put_back(waiting);
                    return Err(trouble);
                }
            }
        }
        if waiting.deleting.is_empty() {
            return Ok(());
        }
        let done = tokio::select! {
            biased;
            done = self.stream.acknowledge_and_delete(reader, &waiting.deleting) => done,
            () = self.duty.until(Order::Abandon) => return Ok(()),
        };
        match done {
            Ok(Deleted { known, deleted }) => {
                self.counters.records_deleted.add(deleted);
                self.note_sent(&waiting.deleting, known);
                Ok(())
            }
            Err(trouble) => {
                self.state.acks.put_back(waiting);
                Err(trouble)
            }
        }
    }

    fn note_sent(&self, ids: &[Arc<str>], known: usize) {
        self.counters.records_acked.add(known);
        self.counters
            .acks_unknown
            .add(ids.len().saturating_sub(known));
        self.note_acked(ids);
    }

    pub(super) fn note_delivered(&self, entries: &[Entry]) {
        self.progress.send_modify(|progress| {
            progress.last_delivered = entries.last().map(|entry| entry.id.as_str().into());
            progress.pending += entries.len() as u64;
        });
    }

    pub(super) fn note_acked(&self, ids: &[Arc<str>]) {
        self.progress.send_modify(|progress| {
            progress.last_acked = ids.last().cloned();
            progress.pending = progress.pending.saturating_sub(ids.len() as u64);
        });
    }
}
