//! Who is asking, and what they may do. Roles are those of the protocol; which route needs which is said where routes are.

mod credentials;
mod token;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol::Role;

use crate::config::ServerConfig;
use credentials::Secret;
use token::{Issued, Tokens};

/// Somebody whose word was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Principal {
    pub(crate) username: String,
    pub(crate) roles: Vec<Role>,
}

impl Principal {
    /// Whether the roles allow what a route needs. ADMIN may everything, WRITE may what READ may.
    pub(crate) fn may(&self, needed: Role) -> bool {
        self.roles.iter().any(|role| {
            *role == Role::Admin
                || *role == needed
                || (*role == Role::Write && needed == Role::Read)
        })
    }
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AuthError {
    #[error("this needs credentials: send Authorization: Bearer <token> or Basic")]
    Missing,
    #[error("the Authorization header can't be read: send Bearer <token> or Basic")]
    Malformed,
    #[error("the user name or the password is wrong")]
    WrongPassword,
    #[error("the access token is not valid or has expired; log in again")]
    BadToken,
}

/// Checks credentials.
pub(crate) struct Authenticator {
    admin: Principal,
    secret: Secret,
    tokens: Tokens,
}

impl Authenticator {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        Self {
            admin: Principal {
                username: config.admin.username.clone(),
                roles: vec![Role::Admin],
            },
            secret: Secret::new(&config.admin.username, &config.admin.password),
            tokens: Tokens::new(config.limits.token_ttl),
        }
    }

    /// Who the headers say is asking; none where they carry no credentials.
    pub(crate) fn principal(&self, headers: &HeaderMap) -> Result<Option<Principal>, AuthError> {
        let Some(header) = headers.get(AUTHORIZATION) else {
            return Ok(None);
        };
        let header = header.to_str().map_err(|_| AuthError::Malformed)?;
        let (scheme, value) = header.trim().split_once(' ').ok_or(AuthError::Malformed)?;
        if scheme.eq_ignore_ascii_case("bearer") {
            self.tokens.check(value.trim()).map(Some)
        } else if scheme.eq_ignore_ascii_case("basic") {
            let decoded = STANDARD
                .decode(value.trim())
                .map_err(|_| AuthError::Malformed)?;
            let text = String::from_utf8(decoded).map_err(|_| AuthError::Malformed)?;
            let (username, password) = text.split_once(':').ok_or(AuthError::Malformed)?;
            self.check_password(username, password).map(Some)
        } else {
            Err(AuthError::Malformed)
        }
    }

    /// Exchanges a password for an access token.
    pub(crate) fn log_in(
        &self,
        username: &str,
        password: &str,
    ) -> Result<(Principal, Issued), AuthError> {
        let principal = self.check_password(username, password)?;
        let issued = self.tokens.issue(&principal)?;
        Ok((principal, issued))
    }

    fn check_password(&self, username: &str, password: &str) -> Result<Principal, AuthError> {
        if self.secret.matches(username, password) {
            Ok(self.admin.clone())
        } else {
            Err(AuthError::WrongPassword)
        }
    }
}
