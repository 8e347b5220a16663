//! Who is asking, and what they may do. Roles are those of the protocol; which route needs which is said where routes are.

mod key;
mod password;
mod token;
mod user;
mod users;
mod verifier;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol::Role;

use crate::config::ServerConfig;
pub use key::{MIN_TOKEN_SECRET_BYTES, ShortSecret, TokenSecret};
pub use password::{BadPasswordHash, PasswordHash};
use token::{Issued, Tokens};
pub use user::{Password, User, UserError};
pub use users::{DuplicateUser, Users};
use verifier::Verifier;

/// Somebody whose word was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Principal {
    pub(crate) username: String,
    pub(crate) roles: Vec<Role>,
}

impl Principal {
    /// Whether the roles allow what a route needs.
    pub(crate) fn may(&self, needed: Role) -> bool {
        self.roles.iter().any(|role| role.allows(needed))
    }

    fn of(user: &User) -> Self {
        Self {
            username: user.name().to_owned(),
            roles: user.roles().to_vec(),
        }
    }
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AuthError {
    #[error("this needs credentials: send Authorization: Bearer <token> or Basic")]
    Missing,
    #[error("the Authorization header can't be read: send one, Bearer <token> or Basic")]
    Malformed,
    #[error("the user name or the password is wrong")]
    WrongPassword,
    #[error("the access token is not valid or has expired; log in again")]
    BadToken,
    #[error("too many passwords wait to be checked; try again, or use an access token")]
    Busy,
}

/// Checks credentials.
pub(crate) struct Authenticator {
    users: Users,
    verifier: Verifier,
    tokens: Tokens,
}

impl Authenticator {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        Self {
            users: config.users.clone(),
            verifier: Verifier::new(),
            tokens: Tokens::new(config.token_secret.as_ref(), config.limits.token_ttl),
        }
    }

    /// Who the headers say is asking; none where they carry no credentials.
    pub(crate) async fn principal(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<Principal>, AuthError> {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let Some(header) = all.next() else {
            return Ok(None);
        };
        if all.next().is_some() {
            return Err(AuthError::Malformed);
        }
        let header = header.to_str().map_err(|_| AuthError::Malformed)?;
        let (scheme, value) = header.trim().split_once(' ').ok_or(AuthError::Malformed)?;
        if scheme.eq_ignore_ascii_case("bearer") {
            self.bearer(value.trim()).map(Some)
        } else if scheme.eq_ignore_ascii_case("basic") {
            let decoded = STANDARD
                .decode(value.trim())
                .map_err(|_| AuthError::Malformed)?;
            let text = String::from_utf8(decoded).map_err(|_| AuthError::Malformed)?;
            let (username, password) = text.split_once(':').ok_or(AuthError::Malformed)?;
            let users = self.users.now();
            let user = self.verifier.check(&users, username, password).await?;
            Ok(Some(Principal::of(&user)))
        } else {
            Err(AuthError::Malformed)
        }
    }

    /// Exchanges a password for an access token.
    pub(crate) async fn log_in(
        &self,
        username: &str,
        password: &str,
    ) -> Result<(Principal, Issued), AuthError> {
        let users = self.users.now();
        let user = self.verifier.check(&users, username, password).await?;
        let issued = self.tokens.issue(&user)?;
        Ok((Principal::of(&user), issued))
    }

    /// Whose token it is: of a user that is still there, and still the same.
    fn bearer(&self, token: &str) -> Result<Principal, AuthError> {
        let claims = self.tokens.read(token)?;
        let users = self.users.now();
        let user = users.get(&claims.sub).ok_or(AuthError::BadToken)?;
        if !self.tokens.is_of(&claims, user) {
            return Err(AuthError::BadToken);
        }
        Ok(Principal::of(user))
    }
}
