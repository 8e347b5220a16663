//! What a worker has been told, and whether it may go on. It decides nothing.

use std::sync::Arc;

use tokio::sync::watch;

use crate::driver::clock::Lease;

/// What the member tells its worker. Only ever goes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    /// Read and handle.
    Work,
    /// End the read, finish the record in hand, acknowledge, end.
    Stop,
    /// End at once; handle and acknowledge nothing more.
    Abandon,
}

/// The worker's end of it.
#[derive(Debug, Clone)]
pub(crate) struct Duty {
    orders: watch::Receiver<Order>,
    lease: Arc<Lease>,
}

impl Duty {
    pub(crate) fn new(orders: watch::Receiver<Order>, lease: Arc<Lease>) -> Self {
        Self { orders, lease }
    }

    /// Whether what is in hand may be finished and acknowledged.
    pub(crate) fn may_finish(&self) -> bool {
        *self.orders.borrow() < Order::Abandon && self.lease.is_valid()
    }

    /// Whether nothing new may be begun.
    pub(crate) fn is_over(&self) -> bool {
        *self.orders.borrow() > Order::Work || !self.lease.is_valid()
    }

    /// Returns once the order is at least this, or the member is gone.
    pub(crate) async fn until(&self, order: Order) {
        let mut orders = self.orders.clone();
        // The only error is that the sender is gone.
        let _ = orders.wait_for(|current| *current >= order).await;
    }
}
