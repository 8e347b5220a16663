//! The worker of one shard, step by step: it takes over what is pending, reads, handles, acknowledges, until it is told to end or the lease is
//! over. It looks at its orders and at the lease before every step, as the driver's does.

use member_client::machine::GrantId;

use crate::streams::Streams;

/// What the member tells its worker. Only ever goes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Work,
    Stop,
    Abandon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It has not run yet.
    Starting,
    /// It takes over what earlier owners left.
    Recovering,
    /// Its read waits.
    Reading,
    /// It has an entry in hand.
    Handling(usize),
}

/// After so many reads that brought nothing it looks for what somebody left pending.
const RECHECK: u32 = 3;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) grant: GrantId,
    pub(crate) order: Order,
    /// When it was told to stop, in true time.
    pub(crate) told_at: Option<u64>,
    phase: Phase,
    has_said_in_flight: bool,
    empty_reads: u32,
}

/// What a step comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerDid {
    /// It runs.
    Started,
    /// It was told to stop and has something in hand.
    SaidInFlight,
    /// It went on.
    Something,
    /// It has ended.
    Ended,
}

impl Worker {
    pub(crate) const fn new(grant: GrantId) -> Self {
        Self {
            grant,
            order: Order::Work,
            told_at: None,
            phase: Phase::Starting,
            has_said_in_flight: false,
            empty_reads: 0,
        }
    }

    pub(crate) fn tell(&mut self, order: Order, true_ms: u64) {
        self.order = self.order.max(order);
        self.told_at.get_or_insert(true_ms);
    }

    /// Goes on by one step.
    pub(crate) fn step(
        &mut self,
        streams: &mut Streams,
        shard: u32,
        group: usize,
        has_lease: bool,
    ) -> WorkerDid {
        let is_over = self.order > Order::Work || !has_lease;
        let may_finish = self.order < Order::Abandon && has_lease;
        match self.phase {
            Phase::Starting => {
                self.phase = Phase::Recovering;
                WorkerDid::Started
            }
            Phase::Recovering if is_over => WorkerDid::Ended,
            Phase::Recovering => {
                let pending = streams.first_pending(shard, group);
                self.phase = pending.map_or(Phase::Reading, Phase::Handling);
                WorkerDid::Something
            }
            Phase::Reading if is_over => {
                // The wait is ended at the server; what it brings then stays pending for the next owner.
                streams.read(shard, group);
                WorkerDid::Ended
            }
            Phase::Reading => {
                self.read(streams, shard, group);
                WorkerDid::Something
            }
            Phase::Handling(_) if !may_finish => WorkerDid::Ended,
            Phase::Handling(_) if self.order == Order::Stop && !self.has_said_in_flight => {
                self.has_said_in_flight = true;
                WorkerDid::SaidInFlight
            }
            Phase::Handling(entry) => {
                streams.handle(group, entry);
                streams.acknowledge(shard, group, entry);
                self.phase = Phase::Recovering;
                WorkerDid::Something
            }
        }
    }

    fn read(&mut self, streams: &mut Streams, shard: u32, group: usize) {
        if let Some(entry) = streams.read(shard, group) {
            self.phase = Phase::Handling(entry);
            return;
        }
        self.empty_reads += 1;
        if self.empty_reads.is_multiple_of(RECHECK) {
            self.phase = Phase::Recovering;
        }
    }
}
