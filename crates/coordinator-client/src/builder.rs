//! Settings of a client, checked before it is built. It connects to nothing.

use std::fmt;
use std::time::Duration;

use reqwest::Url;

use crate::client::CoordinatorClient;
use crate::credentials::Credentials;
use crate::endpoints::Endpoints;
use crate::observer::{Exchange, Observer};
use crate::tls::TlsSettings;

const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// A setting that cannot work, by its name.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {reason}")]
pub struct BuildError {
    setting: &'static str,
    reason: String,
    #[source]
    source: Option<reqwest::Error>,
}

impl BuildError {
    /// The setting by the name of its builder method.
    #[must_use]
    pub const fn setting(&self) -> &'static str {
        self.setting
    }

    pub(crate) fn new(setting: &'static str, reason: impl Into<String>) -> Self {
        Self {
            setting,
            reason: reason.into(),
            source: None,
        }
    }

    pub(crate) fn failed(setting: &'static str, reason: &str, source: reqwest::Error) -> Self {
        Self {
            setting,
            reason: reason.to_owned(),
            source: Some(source),
        }
    }
}

/// Settings of a [`CoordinatorClient`].
///
/// ```
/// use std::time::Duration;
/// use coordinator_client::{CoordinatorClient, Credentials};
///
/// let client = CoordinatorClient::builder(["https://coord-a.example", "https://coord-b.example"])
///     .credentials(Credentials::bearer("token"))
///     .connect_timeout(Duration::from_secs(1))
///     .request_timeout(Duration::from_secs(3))
///     .build();
/// # let _ = client;
///
/// let error = CoordinatorClient::builder(["ftp://coord-a.example"]).build().expect_err("no HTTP");
/// assert_eq!(error.setting(), "base_urls");
/// ```
#[derive(Clone)]
pub struct ClientBuilder {
    base_urls: Vec<String>,
    credentials: Option<Credentials>,
    connect_timeout: Duration,
    request_timeout: Duration,
    tls: TlsSettings,
    observer: Option<Observer>,
}

impl ClientBuilder {
    pub(crate) fn new(base_urls: Vec<String>) -> Self {
        Self {
            base_urls,
            credentials: None,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
            tls: TlsSettings::default(),
            observer: None,
        }
    }

    /// Who to be; without this the client is nobody.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// How long to try to connect to one coordinator before the next is tried; 2 s unless set.
    #[must_use]
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// How long a call may take as a whole, other coordinators included; 5 s unless set. A watch may take this beyond its wait.
    #[must_use]
    pub const fn request_timeout(mut self, limit: Duration) -> Self {
        self.request_timeout = limit;
        self
    }

    /// Certificate authorities to trust instead of the system's: one or several certificates in PEM.
    #[must_use]
    pub fn root_certificates_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.tls.roots = Some(pem.into());
        self
    }

    /// Certificate authorities to trust beside the system's, or beside those of [`Self::root_certificates_pem`]: one or several
    /// certificates in PEM.
    #[must_use]
    pub fn extra_root_certificates_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.tls.extra_roots = Some(pem.into());
        self
    }

    /// The certificate to show to coordinators that ask for one, and its key, both in PEM. Certificates between it and its
    /// authority follow it.
    ///
    /// ```no_run
    /// use coordinator_client::CoordinatorClient;
    ///
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = CoordinatorClient::builder(["https://coord-a.example"])
    ///     .extra_root_certificates_pem(std::fs::read("ca.pem")?)
    ///     .client_identity_pem(std::fs::read("client.pem")?, std::fs::read("client.key")?)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn client_identity_pem(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.tls.identity = Some((certificate.into(), key.into()));
        self
    }

    /// Who is shown every answer of a coordinator, good or bad, before the call that it belongs to goes on: for logs, measurements, tests. What was answered
    /// 503 and is then asked of the next coordinator is shown, too; a stream of events is shown when it is opened, without a body. What was not answered
    /// whole is not shown. Clones of the client share it, and calls wait for it: let it be quick. A second one takes the place of the first.
    ///
    /// ```
    /// use coordinator_client::CoordinatorClient;
    ///
    /// let client = CoordinatorClient::builder(["http://127.0.0.1:8080"])
    ///     .observer(|seen| println!("{} {} -> {} in {:?}", seen.method, seen.path(), seen.status, seen.took))
    ///     .build()
    ///     .expect("settings that work");
    /// # let _ = client;
    /// ```
    #[must_use]
    pub fn observer(mut self, look: impl Fn(&Exchange<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Observer::new(look));
        self
    }

    /// Checks the settings and makes the client. TLS is by rustls with the ring provider, which becomes the process's
    /// default unless it has one.
    ///
    /// # Errors
    /// The first setting that cannot work, and why.
    pub fn build(self) -> Result<CoordinatorClient, BuildError> {
        check_limit("connect_timeout", self.connect_timeout)?;
        check_limit("request_timeout", self.request_timeout)?;
        if let Some(reason) = self.credentials.as_ref().and_then(Credentials::problem) {
            return Err(BuildError::new("credentials", reason));
        }
        let urls = self.checked_urls()?;
        let encrypted = urls.iter().any(|url| url.starts_with("https:"));
        let http = self.http_client(encrypted)?;
        Ok(CoordinatorClient::new(
            http,
            Endpoints::new(urls),
            self.credentials,
            self.request_timeout,
            self.observer,
        ))
    }

    fn checked_urls(&self) -> Result<Vec<String>, BuildError> {
        if self.base_urls.is_empty() {
            return Err(BuildError::new("base_urls", "at least one is needed"));
        }
        self.base_urls
            .iter()
            .map(|text| checked_url(text))
            .collect()
    }

    fn http_client(&self, encrypted: bool) -> Result<reqwest::Client, BuildError> {
        let _set_by_the_process = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder()
            .user_agent(concat!("coordinator-client/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connect_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true);
        let setting = self.tls.blamed();
        self.tls
            .apply(builder, encrypted)?
            .build()
            .map_err(|error| BuildError::failed(setting, "TLS cannot be set up", error))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URLs are not checked yet and may hold a password.
        f.debug_struct("ClientBuilder")
            .field("base_urls", &self.base_urls.len())
            .field("credentials", &self.credentials)
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .finish_non_exhaustive()
    }
}

fn check_limit(setting: &'static str, limit: Duration) -> Result<(), BuildError> {
    if limit.is_zero() {
        return Err(BuildError::new(setting, "must be longer than 0"));
    }
    Ok(())
}

/// The base URL without its last slashes. What is refused is not repeated: it may hold a password.
fn checked_url(text: &str) -> Result<String, BuildError> {
    let refuse = |reason: &str| BuildError::new("base_urls", reason);
    let url = Url::parse(text).map_err(|error| refuse(&format!("not a URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refuse("must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse(
            "must not hold a user or a password: use credentials",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("must not have a query or a fragment"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}
