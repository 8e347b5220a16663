//! Attempts after the first: counted before they are made, postponed, given up, or the end of the shard for now. What follows
//! from what is decided elsewhere.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::step::{self, Step};
use super::{Order, Worker};
use crate::driver::record::Record;
use crate::driver::redis_side::{Counted, Reader, Trouble};
use crate::driver::troubles::TroubleKind;

/// What is known of attempts at a record before the next one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    /// How many were made.
    pub(super) made: u32,
    /// When the next one may be made.
    pub(super) due: Option<Instant>,
}

/// Whether an attempt is made.
pub(super) enum Begin {
    /// It is, and it is counted.
    Go,
    /// Not yet, by Redis' clock.
    Wait(Duration),
    /// Something else is done with the record.
    Instead(Step),
    /// The entry is pending no more: there is nothing to handle.
    Gone,
}

impl Worker {
    /// Whether attempts outlast the process.
    pub(super) fn is_durable(&self) -> bool {
        self.stream.life.is_some()
    }

    /// Case C21: an attempt that is not the first delivery's is counted before it is made. What is done is acknowledged before
    /// that: if the process dies of this record, nothing else is counted again.
    pub(super) async fn begin(
        &mut self,
        reader: &mut Reader,
        id: &Arc<str>,
        made: &mut u32,
        why: Option<&str>,
    ) -> Result<Begin, Trouble> {
        if *made == 0 || !self.is_durable() {
            return Ok(Begin::Go);
        }
        self.acknowledge(reader).await?;
        if *made >= self.settings.max_attempts {
            return Ok(Begin::Instead(step::exhausted(*made, why, &self.settings)));
        }
        Ok(match self.stream.attempt(reader, id).await? {
            Some(Counted::Attempt(count)) => {
                *made = count;
                Begin::Go
            }
            Some(Counted::Wait(pause)) => Begin::Wait(pause),
            Some(Counted::Gone) => Begin::Gone,
            None => Begin::Go,
        })
    }

    /// The record is to be handed over again after a pause, which outlasts the process where that is possible. Returns when.
    pub(super) async fn put_off(
        &mut self,
        reader: &mut Reader,
        record: &Record,
        (pause, why): (Duration, &str),
    ) -> Result<Instant, Trouble> {
        self.counters.retries.increment();
        tracing::warn!(stream_key = %record.stream_key, id = %record.id, attempt = record.attempt, ?pause, error = %why, "the record was not handled and is handed over again");
        let due = Instant::now() + pause;
        if self.settings.unordered.is_none() {
            self.note_trouble(TroubleKind::HeldUp, Some(&record.id), why);
            self.state.held = Some((Arc::clone(&record.id), due));
        }
        self.stream.postpone(reader, &record.id, pause).await?;
        Ok(due)
    }

    /// Moves the record to the dead letters: a copy and the acknowledgement in one step.
    pub(super) async fn bury(
        &mut self,
        reader: &mut Reader,
        record: &Record,
        reason: &str,
    ) -> Result<(), Trouble> {
        // The attempt just made, or the one that is not made any more, counts in what the dead letter says.
        self.stream.attempt(reader, &record.id).await?;
        let is_copied = self.stream.dead_letter(reader, &record.id, reason).await?;
        if is_copied {
            self.counters.dead_letters.increment();
        } else {
            self.counters.records_lost.increment();
        }
        tracing::error!(stream_key = %record.stream_key, id = %record.id, reason, is_copied, "the record is given up");
        self.note_acked(std::slice::from_ref(&record.id));
        Ok(())
    }

    /// The shard stops at this record, for everybody to see, until it is told to end (case C21), or somebody acknowledged the
    /// entry by hand: then it goes on, which is told.
    pub(super) async fn halt(
        &mut self,
        reader: &mut Reader,
        record: &Record,
        reason: &str,
    ) -> Result<bool, Trouble> {
        self.note_trouble(TroubleKind::Halted, Some(&record.id), reason);
        if self.state.halted.as_ref() != Some(&record.id) {
            self.counters.shards_halted.increment();
            tracing::error!(stream_key = %record.stream_key, id = %record.id, reason, "the shard stops at this record");
            self.state.halted = Some(Arc::clone(&record.id));
        }
        self.acknowledge(reader).await?;
        let range = (record.id.as_ref(), record.id.as_ref());
        loop {
            let pause = self.settings.recheck.min(super::REFRESH);
            self.rest(reader, Instant::now() + pause).await?;
            if self.duty.is_over() {
                return Ok(false);
            }
            if self.stream.deliveries(reader, range, 1).await?.is_empty() {
                tracing::info!(stream_key = %record.stream_key, id = %record.id, "the record was taken out of the way; the shard goes on");
                self.state.halted = None;
                return Ok(true);
            }
        }
    }

    /// Waits until then, or until the worker is told to end, and gives signs of life meanwhile.
    pub(super) async fn rest(
        &mut self,
        reader: &mut Reader,
        until: Instant,
    ) -> Result<(), Trouble> {
        while !self.duty.is_over() && until > Instant::now() {
            self.refresh_if_due(reader).await?;
            let tick = Instant::now() + self.settings.recheck.min(super::REFRESH);
            tokio::select! {
                () = tokio::time::sleep_until(until.min(tick)) => {}
                () = self.duty.until(Order::Stop) => {}
            }
        }
        Ok(())
    }
}
