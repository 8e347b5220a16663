//! Who the client says it is. Secrets are kept here and nowhere shown.

use std::fmt;

use reqwest::RequestBuilder;
use reqwest::header::HeaderValue;

/// What is sent as `Authorization`. Debug output shows the kind and the user, never a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    Basic { username: String, password: String },
    Bearer { token: String },
}

impl Credentials {
    /// A user name and its password.
    #[must_use]
    pub fn basic(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self(Kind::Basic {
            username: username.into(),
            password: password.into(),
        })
    }

    /// The token of a log-in.
    #[must_use]
    pub fn bearer(token: impl Into<String>) -> Self {
        Self(Kind::Bearer {
            token: token.into(),
        })
    }

    /// What makes these credentials impossible to send.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match &self.0 {
            Kind::Basic { username, .. } if username.contains(':') => {
                Some("a user name must not contain a colon")
            }
            Kind::Basic { username, .. } if username.is_empty() => Some("the user name is empty"),
            Kind::Basic { .. } => None,
            Kind::Bearer { token } if token.is_empty() => Some("the token is empty"),
            Kind::Bearer { token } if HeaderValue::from_str(token).is_err() => {
                Some("a token must not contain control characters")
            }
            Kind::Bearer { .. } => None,
        }
    }

    pub(crate) fn apply(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.0 {
            Kind::Basic { username, password } => request.basic_auth(username, Some(password)),
            Kind::Bearer { token } => request.bearer_auth(token),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Basic { username, .. } => f
                .debug_struct("Basic")
                .field("username", username)
                .finish_non_exhaustive(),
            Kind::Bearer { .. } => f.debug_struct("Bearer").finish_non_exhaustive(),
        }
    }
}
