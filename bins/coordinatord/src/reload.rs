//! Files that are read again while the coordinator runs: users and certificates on SIGHUP, certificates also when they change. What is
//! in them is not known here.

use std::time::Duration;

use tokio::signal::unix::Signal;

use crate::access::{TlsSource, UsersSource};

/// How often certificates are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// What is read again.
#[derive(Debug)]
pub(crate) struct Reload {
    users: UsersSource,
    tls: Option<TlsSource>,
    look_every: Duration,
}

impl Reload {
    pub(crate) const fn new(users: UsersSource, tls: Option<TlsSource>) -> Self {
        Self {
            users,
            tls,
            look_every: LOOK_EVERY,
        }
    }

    /// Reads files again, on each signal and from time to time, until it is dropped.
    pub(crate) async fn run(mut self, mut hangups: Signal) {
        loop {
            let is_told = tokio::select! {
                signal = hangups.recv() => signal.is_some(),
                () = tokio::time::sleep(self.look_every) => false,
            };
            // Files may be on a disk that is slow or gone.
            let reading = tokio::task::spawn_blocking(move || {
                if is_told {
                    self.read_users();
                }
                self.read_certificates(is_told);
                self
            });
            match reading.await {
                Ok(reload) => self = reload,
                Err(error) => {
                    tracing::error!(%error, "files are not read again any more");
                    return;
                }
            }
        }
    }

    fn read_users(&self) {
        let Some(file) = &self.users.file else {
            tracing::info!("there is no users-file to read again");
            return;
        };
        let file = file.display();
        match self.users.read() {
            Ok(users) => tracing::info!(%file, users, "users were read again"),
            Err(error) => {
                tracing::error!(%error, "users were not read again, those before stay");
            }
        }
    }

    fn read_certificates(&mut self, is_told: bool) {
        let Some(tls) = &mut self.tls else {
            return;
        };
        match tls.read(is_told) {
            Ok(true) => tracing::info!("certificates were read again"),
            Ok(false) => {}
            Err(error) => {
                tracing::error!(%error, "certificates were not read again, those before stay");
            }
        }
    }
}
