//! A handle that binds itself at its first use.

use tokio::sync::OnceCell;

use super::{Handle, ShardRef};
use crate::error::LifecycleError;
use crate::wire::RedisLink;

/// Binds to the life that the shard is in at the first success, and never again to another. A failure leaves it unbound.
#[derive(Debug)]
pub struct LazyHandle<L> {
    shard: ShardRef<L>,
    cell: OnceCell<Handle<L>>,
}

impl<L: RedisLink> LazyHandle<L> {
    /// Not bound yet.
    #[must_use]
    pub fn new(shard: ShardRef<L>) -> Self {
        Self {
            shard,
            cell: OnceCell::new(),
        }
    }

    /// The handle. Many tasks may ask at once; all get the same one.
    ///
    /// # Errors
    /// As [`ShardRef::open`]; the next call tries again.
    pub async fn get(&self) -> Result<&Handle<L>, LifecycleError> {
        self.cell.get_or_try_init(|| self.shard.open()).await
    }

    /// The handle, if it is bound.
    pub fn bound(&self) -> Option<&Handle<L>> {
        self.cell.get()
    }
}
