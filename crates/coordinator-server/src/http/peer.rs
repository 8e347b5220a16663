//! The connection that a request came by: where from, and how it is cut. What is asked on it is not known here.

use std::net::SocketAddr;

use tokio_util::sync::CancellationToken;

/// The connection that a request came by.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    address: SocketAddr,
    cut: CancellationToken,
    gone: CancellationToken,
}

impl Peer {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            cut: CancellationToken::new(),
            gone: CancellationToken::new(),
        }
    }

    /// Where it comes from.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it, whatever is under way on it.
    pub(crate) fn cut(&self) {
        self.cut.cancel();
    }

    /// Resolves when it is to be ended.
    pub(crate) async fn is_cut(&self) {
        self.cut.cancelled().await;
    }

    /// It has ended.
    pub(crate) fn note_end(&self) {
        self.gone.cancel();
    }

    /// Resolves when it has ended.
    pub(crate) async fn is_gone(&self) {
        self.gone.cancelled().await;
    }
}
