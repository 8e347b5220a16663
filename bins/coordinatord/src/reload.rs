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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use coordinator_client::{CoordinatorClient, Credentials};
    use coordinator_server::{Deps, ServerConfig, serve};
    use store::MemoryStore;
    use testkit::wait_until_async;
    use tokio::net::TcpListener;

    use super::*;
    use crate::access;
    use crate::config::Config;
    use crate::signals;

    /// Puts a certificate of its own authority into a folder.
    fn certify(folder: &Path) -> String {
        let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]);
        let made = made.expect("a certificate");
        let write = |name: &str, text: String| {
            std::fs::write(folder.join(name), text).expect("the folder can be written");
        };
        write("cert.pem", made.cert.pem());
        write("key.pem", made.signing_key.serialize_pem());
        made.cert.pem()
    }

    fn client(address: std::net::SocketAddr, authority: &str) -> CoordinatorClient {
        CoordinatorClient::builder([format!("https://{address}")])
            .credentials(Credentials::basic("admin", "admin"))
            .root_certificates_pem(authority)
            .build()
            .expect("settings that work")
    }

    #[tokio::test]
    async fn certificates_that_change_are_taken_over_without_being_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = certify(folder.path());
        let path = |name: &str| Some(folder.path().join(name).display().to_string());
        let config = Config {
            tls_cert: path("cert.pem"),
            tls_key: path("key.pem"),
            ..Config::default()
        };
        let mut server = ServerConfig::new("test");
        let mut reload = access::give(&config, &mut server).expect("files that can be used");
        reload.look_every = Duration::from_millis(5);
        let running = tokio::spawn(reload.run(signals::hangups().expect("signals")));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let store = Arc::new(MemoryStore::new());
        let deps = Deps::new(store);
        let serving = tokio::spawn(serve(listener, deps, server, std::future::pending()));

        client(address, &first)
            .groups()
            .await
            .expect("the first certificate");
        std::fs::write(folder.path().join("key.pem"), "nothing").expect("it can be written");
        let second = certify(folder.path());
        let client = client(address, &second);
        let is_taken_over = async || client.groups().await.is_ok();
        let waiting = wait_until_async(Duration::from_secs(20), is_taken_over).await;
        waiting.expect("the second certificate");
        running.abort();
        serving.abort();
    }
}
