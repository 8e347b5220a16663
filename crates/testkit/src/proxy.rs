//! A TCP proxy that misbehaves on demand: cuts, refuses, stalls, delays, loses answers, turns to another server. It forwards
//! bytes and understands none of them.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use crate::port::free_port;

/// What all connections of one proxy look at.
#[derive(Debug)]
struct Faults {
    /// Where connections lead that are opened from now on.
    target: RwLock<String>,
    /// Raised by one to end every connection that was opened under a lower number.
    cuts: watch::Sender<u64>,
    stalled: watch::Sender<bool>,
    delay_ms: AtomicU64,
    replies_to_drop: AtomicUsize,
}

/// A proxy in front of one server. Dropping it ends it and its connections.
#[derive(Debug)]
pub struct TcpProxy {
    port: u16,
    faults: Arc<Faults>,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

impl TcpProxy {
    /// Starts a proxy on a free loopback port in front of `target` (`host:port`). The target need not exist yet.
    ///
    /// # Errors
    ///
    /// If no port can be bound.
    pub async fn start(target: impl Into<String>) -> io::Result<Self> {
        let listener = bind_free().await?;
        let port = listener.local_addr()?.port();
        let faults = Arc::new(Faults {
            target: RwLock::new(target.into()),
            cuts: watch::Sender::new(0),
            stalled: watch::Sender::new(false),
            delay_ms: AtomicU64::new(0),
            replies_to_drop: AtomicUsize::new(0),
        });
        let acceptor = tokio::spawn(accept(listener, Arc::clone(&faults)));
        Ok(Self {
            port,
            faults,
            acceptor: Mutex::new(Some(acceptor)),
        })
    }

    /// The port clients connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `host:port` of the proxy.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// From now on new connections lead to `target` (`host:port`), as after a failover behind one address. Open ones stay where
    /// they are.
    pub fn turn_to(&self, target: impl Into<String>) {
        let mut current = self
            .faults
            .target
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = target.into();
    }

    /// Ends every open connection; new ones are accepted.
    pub fn cut(&self) {
        self.faults.cuts.send_modify(|count| *count += 1);
    }

    /// Closes the listening socket, so that new connections are refused by the system. Open ones stay.
    pub async fn refuse(&self) {
        if let Some(acceptor) = self.acceptor.lock().await.take() {
            acceptor.abort();
            // Its end is awaited so that the socket is closed on return; that it was cancelled is no news.
            let _ = acceptor.await;
        }
    }

    /// Forwards nothing in either direction until [`heal`](Self::heal); connections stay open and are accepted.
    pub fn stall(&self) {
        self.faults.stalled.send_replace(true);
    }

    /// Delays every piece of an answer by `milliseconds`.
    pub fn delay(&self, milliseconds: u64) {
        self.faults.delay_ms.store(milliseconds, Ordering::SeqCst);
    }

    /// For the next `count` times that the server answers: the request has been delivered, but the answer is swallowed and
    /// the connection is cut.
    pub fn drop_replies(&self, count: usize) {
        self.faults.replies_to_drop.store(count, Ordering::SeqCst);
    }

    /// How many of the answers given to [`drop_replies`](Self::drop_replies) are still to be swallowed.
    #[must_use]
    pub fn replies_left_to_drop(&self) -> usize {
        self.faults.replies_to_drop.load(Ordering::SeqCst)
    }

    /// Ends every fault.
    ///
    /// # Errors
    ///
    /// If the proxy refused connections and its port can't be bound again.
    pub async fn heal(&self) -> io::Result<()> {
        self.faults.stalled.send_replace(false);
        self.delay(0);
        self.drop_replies(0);
        let mut acceptor = self.acceptor.lock().await;
        if acceptor.is_none() {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await?;
            *acceptor = Some(tokio::spawn(accept(listener, Arc::clone(&self.faults))));
        }
        Ok(())
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        if let Some(acceptor) = self.acceptor.get_mut().take() {
            acceptor.abort();
        }
        self.cut();
    }
}

async fn bind_free() -> io::Result<TcpListener> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match TcpListener::bind((Ipv4Addr::LOCALHOST, free_port())).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && attempts < 10 => {}
            outcome => return outcome,
        }
    }
}

async fn accept(listener: TcpListener, faults: Arc<Faults>) {
    while let Ok((client, _)) = listener.accept().await {
        let faults = Arc::clone(&faults);
        // Subscribed before the first byte, so that a cut from now on is seen.
        let cuts = faults.cuts.subscribe();
        tokio::spawn(serve(client, faults, cuts));
    }
}

/// One connection. It ends, both sides at once, when either side closes, at a cut, or after a swallowed answer.
async fn serve(client: TcpStream, faults: Arc<Faults>, mut cuts: watch::Receiver<u64>) {
    let target = faults
        .target
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let Ok(server) = TcpStream::connect(&target).await else {
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    tokio::select! {
        _ = forward_requests(from_client, to_server, &faults) => {}
        _ = forward_answers(from_server, to_client, &faults) => {}
        _ = cuts.changed() => {}
    }
}

async fn forward_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    faults: &Faults,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        until_not_stalled(faults).await;
        to.write_all(&buffer[..length]).await?;
    }
}

async fn forward_answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    faults: &Faults,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 || take_one(&faults.replies_to_drop) {
            return Ok(());
        }
        let delay = faults.delay_ms.load(Ordering::SeqCst);
        if delay > 0 {
            // waits: the delay that the test asked for
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        until_not_stalled(faults).await;
        to.write_all(&buffer[..length]).await?;
    }
}

fn take_one(counter: &AtomicUsize) -> bool {
    counter
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            left.checked_sub(1)
        })
        .is_ok()
}

async fn until_not_stalled(faults: &Faults) {
    // The sender lives in `faults`, so it cannot be gone while this waits.
    let _ = faults
        .stalled
        .subscribe()
        .wait_for(|stalled| !stalled)
        .await;
}

/// Where a proxy's clients connect, as a socket address.
impl From<&TcpProxy> for SocketAddr {
    fn from(proxy: &TcpProxy) -> Self {
        Self::from((Ipv4Addr::LOCALHOST, proxy.port))
    }
}
