//! Access tokens: signed, and good for a while. The key lives as long as the process.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::{DecodingKey, EncodingKey, Header, Validation, decode, encode};
use protocol::Role;
use serde::{Deserialize, Serialize};

use super::{AuthError, Principal};

/// A token and when it ends.
#[derive(Clone, Debug)]
pub(crate) struct Issued {
    pub(crate) token: String,
    /// Milliseconds since the Unix epoch.
    pub(crate) expires_at_ms: i64,
    pub(crate) expires_in: Duration,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    sub: String,
    roles: Vec<Role>,
    exp: u64,
}

/// Issues tokens and checks them.
pub(super) struct Tokens {
    ttl: Duration,
    encoding: EncodingKey,
    decoding: DecodingKey,
}

impl Tokens {
    /// Tokens under a key of this process' own.
    pub(super) fn new(ttl: Duration) -> Self {
        let key: [u8; 32] = rand::random();
        let fits = "any 32 bytes are a key of HMAC-SHA256";
        Self {
            ttl,
            encoding: EncodingKey::from_secret(&key).expect(fits),
            decoding: DecodingKey::from_secret(&key).expect(fits),
        }
    }

    pub(super) fn issue(&self, principal: &Principal) -> Result<Issued, AuthError> {
        self.issue_at(
            principal,
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
        )
    }

    fn issue_at(&self, principal: &Principal, now: Duration) -> Result<Issued, AuthError> {
        let ends = now + self.ttl;
        let claims = Claims {
            sub: principal.username.clone(),
            roles: principal.roles.clone(),
            exp: ends.as_secs(),
        };
        let token =
            encode(&Header::default(), &claims, &self.encoding).map_err(|_| AuthError::BadToken)?;
        let expires_at_ms = i64::try_from(ends.as_secs().saturating_mul(1_000)).unwrap_or(i64::MAX);
        Ok(Issued {
            token,
            expires_at_ms,
            expires_in: self.ttl,
        })
    }

    pub(super) fn check(&self, token: &str) -> Result<Principal, AuthError> {
        let validation = Validation {
            leeway: 0,
            ..Validation::default()
        };
        let claims = decode::<Claims>(token, &self.decoding, &validation)
            .map_err(|_| AuthError::BadToken)?
            .claims;
        Ok(Principal {
            username: claims.sub,
            roles: claims.roles,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal() -> Principal {
        Principal {
            username: "admin".to_owned(),
            roles: vec![Role::Admin],
        }
    }

    #[test]
    fn a_token_is_good_for_its_issuer_only() {
        let tokens = Tokens::new(Duration::from_secs(60));
        let issued = tokens.issue(&principal()).expect("a token");
        assert_eq!(tokens.check(&issued.token), Ok(principal()));
        assert_eq!(
            Tokens::new(Duration::from_secs(60)).check(&issued.token),
            Err(AuthError::BadToken)
        );
    }

    #[test]
    fn a_token_ends() {
        let tokens = Tokens::new(Duration::from_secs(60));
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a clock after 1970");
        let issued = tokens
            .issue_at(&principal(), now - Duration::from_secs(62))
            .expect("a token");
        assert_eq!(tokens.check(&issued.token), Err(AuthError::BadToken));
    }
}
