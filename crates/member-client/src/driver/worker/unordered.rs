//! Handling several records of one shard at once, in no order, where the application asked for that: what is slow or postponed
//! does not hold others. What follows from an outcome is decided elsewhere.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::again::Begin;
use super::board::{Board, Item};
use super::step::{self, Step};
use super::{Order, Worker};
use crate::driver::handler::{HandlerError, Handling, Outcome};
use crate::driver::redis_side::{Entry, Reader, Trouble};
use crate::machine::Event;

/// How often new entries are looked for while others are being handled.
const POLL: Duration = Duration::from_millis(20);
/// How many postponed records are remembered; with more, nothing new is read until one is due.
const MOST_POSTPONED: usize = 10_000;

type Ended = (Item, Result<Outcome, HandlerError>);

/// Calls of the handler under way. They outlive a lost connection.
#[derive(Default)]
pub(super) struct Running {
    /// Never locked: the mutex only makes it possible to look at a worker from several threads.
    calls: Mutex<FuturesUnordered<Pin<Box<dyn Future<Output = Ended> + Send>>>>,
    ids: BTreeSet<Arc<str>>,
    /// The one under way has to be alone.
    is_alone: bool,
}

impl Running {
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn begin(&mut self, item: Item, call: Handling) {
        self.is_alone = item.is_suspect;
        self.ids.insert(Arc::clone(&item.record.id));
        let calls = self.calls.get_mut().unwrap_or_else(PoisonError::into_inner);
        calls.push(Box::pin(async move { (item, call.await) }));
    }

    /// The next that ends; never if there are none.
    async fn next(&mut self) -> Ended {
        let calls = self.calls.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(ended) = calls.next().await else {
            return std::future::pending().await;
        };
        self.ids.remove(&ended.0.record.id);
        self.is_alone = false;
        ended
    }
}

/// Where one session of unordered work stands.
struct Desk {
    board: Board,
    /// Where the history goes on, until all of it is read.
    history: Option<String>,
    looked: Instant,
    most: usize,
}

impl Worker {
    pub(super) async fn work_unordered(
        &mut self,
        reader: &mut Reader,
        most: usize,
    ) -> Result<(), Trouble> {
        let mut desk = Desk {
            board: Board::default(),
            history: Some("0".to_owned()),
            looked: Instant::now(),
            most,
        };
        while !self.duty.is_over() {
            self.refresh_if_due(reader).await?;
            desk.board.wake(Instant::now());
            self.fill(reader, &mut desk).await?;
            self.start_calls(reader, &mut desk).await?;
            self.await_something(reader, &mut desk).await?;
        }
        self.finish_running().await;
        self.acknowledge(reader).await
    }

    /// Reads if there is room: first what is pending, then what is new.
    async fn fill(&mut self, reader: &mut Reader, desk: &mut Desk) -> Result<(), Trouble> {
        let is_full = self.state.running.len() >= desk.most;
        if is_full || desk.board.has_ready() || desk.board.postponed() >= MOST_POSTPONED {
            return Ok(());
        }
        if let Some(after) = desk.history.take() {
            return self.fill_from_history(reader, desk, &after).await;
        }
        let is_idle = self.state.running.len() == 0;
        let entries = if is_idle {
            self.acknowledge(reader).await?;
            let now = Instant::now();
            let free = desk.board.next_due().map_or(self.settings.block, |due| {
                due.saturating_duration_since(now)
            });
            let block = free.clamp(Duration::from_millis(1), self.settings.block);
            self.read(reader, block).await?
        } else {
            let count = self.settings.read_count;
            let entries = self.stream.read_at_once(reader, count).await?;
            self.note_read(entries.len());
            entries
        };
        if entries.is_empty() {
            return self.look_for_leftovers(reader, desk, is_idle).await;
        }
        self.note_delivered(&entries);
        for Entry { id, fields } in entries {
            if let Some(record) = self.record(&id.into(), fields, None) {
                let (made, why, is_suspect) = (0, None, false);
                desk.board.push(
                    Item {
                        record,
                        made,
                        why,
                        is_suspect,
                    },
                    None,
                );
            }
        }
        Ok(())
    }

    async fn fill_from_history(
        &mut self,
        reader: &mut Reader,
        desk: &mut Desk,
        after: &str,
    ) -> Result<(), Trouble> {
        // What is done must not be read as pending (case C19).
        self.acknowledge(reader).await?;
        let (entries, known) = self.history(reader, after).await?;
        let Some(last) = entries.last() else {
            return Ok(());
        };
        desk.history = Some(last.id.clone());
        self.note_delivered(&entries);
        for (Entry { id, fields }, known) in entries.into_iter().zip(known) {
            let id: Arc<str> = id.into();
            if self.state.running.ids.contains(&id) {
                continue;
            }
            if let Some(record) = self.record(&id, fields, Some(known)) {
                let item = Item {
                    record,
                    made: known.before.made,
                    why: None,
                    is_suspect: true,
                };
                desk.board.push(item, known.before.due);
            }
        }
        Ok(())
    }

    /// Now and then, with nothing in hand: what is pending then was left by somebody else.
    async fn look_for_leftovers(
        &mut self,
        reader: &mut Reader,
        desk: &mut Desk,
        is_idle: bool,
    ) -> Result<(), Trouble> {
        let is_time = desk.looked.elapsed() >= self.settings.recheck;
        if !is_idle || !is_time || desk.board.postponed() > 0 || self.duty.is_over() {
            return Ok(());
        }
        desk.looked = Instant::now();
        if self.stream.has_pending(reader).await? {
            self.take_over(reader).await?;
            desk.history = Some("0".to_owned());
        }
        Ok(())
    }

    async fn start_calls(&mut self, reader: &mut Reader, desk: &mut Desk) -> Result<(), Trouble> {
        while self.state.running.len() < desk.most
            && !self.state.running.is_alone
            && !self.duty.is_over()
        {
            let Some(mut item) = desk.board.take(self.state.running.len()) else {
                return Ok(());
            };
            let (id, why) = (Arc::clone(&item.record.id), item.why.clone());
            let begin = self.begin(reader, &id, &mut item.made, why.as_deref());
            match begin.await? {
                Begin::Gone => self.counters.acks_unknown.increment(),
                Begin::Wait(pause) => desk.board.push(item, Some(Instant::now() + pause)),
                Begin::Instead(step) => self.carry_out(reader, desk, item, step).await?,
                Begin::Go if !self.duty.may_finish() => return Ok(()),
                Begin::Go => {
                    item.made = item.made.saturating_add(1);
                    item.record.attempt = item.made;
                    let call = (self.handler)(item.record.clone());
                    self.state.running.begin(item, call);
                }
            }
        }
        Ok(())
    }

    async fn await_something(
        &mut self,
        reader: &mut Reader,
        desk: &mut Desk,
    ) -> Result<(), Trouble> {
        let running = self.state.running.len();
        let may_read = desk.board.postponed() < MOST_POSTPONED;
        if running == 0 && (may_read || desk.board.has_ready()) {
            // The next read waits.
            return Ok(());
        }
        let now = Instant::now();
        let pause = if may_read && running < desk.most && !desk.board.has_ready() {
            POLL
        } else {
            self.settings.block
        };
        let moments = [
            Some(now + pause),
            desk.board.next_due(),
            self.state.acks.due_at(),
        ];
        let next = moments.into_iter().flatten().min().unwrap_or(now);
        tokio::select! {
            biased;
            () = self.duty.until(Order::Stop) => {}
            ended = self.state.running.next() => return self.take_end(reader, desk, ended).await,
            () = tokio::time::sleep_until(next) => {}
        }
        if self.state.acks.is_due() {
            self.acknowledge(reader).await?;
        }
        Ok(())
    }

    async fn take_end(
        &mut self,
        reader: &mut Reader,
        desk: &mut Desk,
        (item, outcome): Ended,
    ) -> Result<(), Trouble> {
        self.count(&outcome);
        let step = step::after(outcome, item.made, self.is_durable(), &self.settings);
        if self.settle(&step, &item.record) {
            if self.state.acks.is_due() {
                self.acknowledge(reader).await?;
            }
            return Ok(());
        }
        self.carry_out(reader, desk, item, step).await
    }

    async fn carry_out(
        &mut self,
        reader: &mut Reader,
        desk: &mut Desk,
        mut item: Item,
        step: Step,
    ) -> Result<(), Trouble> {
        match step {
            Step::Again { pause, why } => {
                let due = self.put_off(reader, &item.record, (pause, &why)).await?;
                (item.why, item.is_suspect) = (Some(why), false);
                desk.board.push(item, Some(due));
            }
            Step::GiveUp { reason } => self.bury(reader, &item.record, &reason).await?,
            Step::Halt { reason } => {
                self.finish_running().await;
                self.halt(reader, &item.record, &reason).await?;
            }
            Step::Acknowledge | Step::Delete => {}
        }
        Ok(())
    }

    /// Lets the calls under way end. What fails now stays pending.
    pub(super) async fn finish_running(&mut self) {
        while self.state.running.len() > 0 {
            let records = u32::try_from(self.state.running.len()).unwrap_or(u32::MAX);
            self.report(Event::InFlight {
                shard: self.shard,
                grant: self.grant,
                records,
            });
            let (item, outcome) = tokio::select! {
                biased;
                () = self.duty.until(Order::Abandon) => break,
                ended = self.state.running.next() => ended,
            };
            self.count(&outcome);
            let step = step::after(outcome, item.made, self.is_durable(), &self.settings);
            self.settle(&step, &item.record);
        }
        self.state.running = Running::default();
    }

    /// Waits, or until the worker is told to end; calls under way go on.
    pub(super) async fn let_run_for(&mut self, pause: Duration) {
        let until = Instant::now() + pause;
        loop {
            let (item, outcome) = tokio::select! {
                () = tokio::time::sleep_until(until) => return,
                () = self.duty.until(Order::Stop) => return,
                ended = self.state.running.next() => ended,
            };
            self.count(&outcome);
            let step = step::after(outcome, item.made, self.is_durable(), &self.settings);
            self.settle(&step, &item.record);
        }
    }
}
