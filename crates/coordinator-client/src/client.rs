//! The client itself: what all calls share. The calls are in `calls`, one file per audience.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::builder::{BuildError, ClientBuilder};
use crate::credentials::Credentials;
use crate::endpoints::Endpoints;
use crate::observer::Observer;

/// A client of one or several coordinators that share a store.
///
/// Clones share connections. With several base URLs a call goes to the one that answered last; where that cannot be
/// reached, or answers 503, the next is tried within the same call. A call that was cut off in the middle is tried elsewhere
/// only if repeating it does no harm (reading, heartbeats). Dropping the future of a call abandons it: it may have been
/// carried out.
#[derive(Clone)]
pub struct CoordinatorClient {
    pub(crate) shared: Arc<Shared>,
    pub(crate) credentials: Option<Credentials>,
}

/// What clones have in common.
pub(crate) struct Shared {
    pub(crate) http: reqwest::Client,
    pub(crate) endpoints: Endpoints,
    pub(crate) request_timeout: Duration,
    pub(crate) observer: Option<Observer>,
}

impl CoordinatorClient {
    /// Settings for a client of the coordinators at `base_urls` (`http://host:port`, or with a path in front of the API's).
    ///
    /// ```
    /// use coordinator_client::CoordinatorClient;
    ///
    /// let client = CoordinatorClient::builder(["http://127.0.0.1:8080"]).build().expect("settings that work");
    /// # let _ = client;
    /// ```
    #[must_use]
    pub fn builder<I, U>(base_urls: I) -> ClientBuilder
    where
        I: IntoIterator<Item = U>,
        U: Into<String>,
    {
        ClientBuilder::new(base_urls.into_iter().map(Into::into).collect())
    }

    pub(crate) fn new(
        http: reqwest::Client,
        endpoints: Endpoints,
        credentials: Option<Credentials>,
        request_timeout: Duration,
        observer: Option<Observer>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                http,
                endpoints,
                request_timeout,
                observer,
            }),
            credentials,
        }
    }

    /// The same client as somebody else: after a log-in, with its token.
    ///
    /// ```no_run
    /// use coordinator_client::{CoordinatorClient, Credentials};
    /// use protocol::LoginRequest;
    ///
    /// # async fn example(client: CoordinatorClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let login = LoginRequest { username: "admin".to_owned(), password: "secret".to_owned() };
    /// let token = client.login(&login).await?.access_token;
    /// let client = client.with_credentials(Credentials::bearer(token))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The credentials cannot be sent.
    pub fn with_credentials(&self, credentials: Credentials) -> Result<Self, BuildError> {
        if let Some(reason) = credentials.problem() {
            return Err(BuildError::new("credentials", reason));
        }
        Ok(Self {
            shared: Arc::clone(&self.shared),
            credentials: Some(credentials),
        })
    }
}

impl fmt::Debug for CoordinatorClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoordinatorClient")
            .field("endpoints", &self.shared.endpoints)
            .field("credentials", &self.credentials)
            .field("request_timeout", &self.shared.request_timeout)
            .finish_non_exhaustive()
    }
}
