//! Access tokens: signed, good for a while, and for as long as the user stays what it was. Who the users are is not known here.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::{Algorithm, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

use super::AuthError;
use super::key::{Key, TokenSecret};
use super::user::{User, same};

/// A token and when it ends. The token is not shown.
#[derive(Clone)]
pub(crate) struct Issued {
    pub(crate) token: String,
    /// Milliseconds since the Unix epoch.
    pub(crate) expires_at_ms: i64,
    pub(crate) expires_in: Duration,
}

impl fmt::Debug for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issued")
            .field("expires_at_ms", &self.expires_at_ms)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Claims {
    /// The user's name.
    pub(super) sub: String,
    /// A digest, under the secret, of the user's record: the token ends with it.
    record: String,
    /// Seconds since the Unix epoch.
    exp: u64,
}

/// Issues tokens and checks them.
pub(super) struct Tokens {
    ttl: Duration,
    key: Key,
}

impl Tokens {
    /// Tokens under a secret; without one, under a key of this process' own.
    pub(super) fn new(secret: Option<&TokenSecret>, ttl: Duration) -> Self {
        Self {
            ttl,
            key: secret.map_or_else(Key::random, Key::of),
        }
    }

    pub(super) fn issue(&self, user: &User) -> Result<Issued, AuthError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.issue_at(user, now.unwrap_or_default())
    }

    fn issue_at(&self, user: &User, now: Duration) -> Result<Issued, AuthError> {
        let ends = now + self.ttl;
        let claims = Claims {
            sub: user.name().to_owned(),
            record: self.record(user),
            exp: ends.as_secs(),
        };
        let header = Header::new(Algorithm::HS256);
        let token = encode(&header, &claims, &self.key.signing).map_err(|_| AuthError::BadToken)?;
        let expires_at_ms = i64::try_from(ends.as_secs().saturating_mul(1_000)).unwrap_or(i64::MAX);
        Ok(Issued {
            token,
            expires_at_ms,
            expires_in: self.ttl,
        })
    }

    /// What a token says, if it is one of ours and has not ended.
    pub(super) fn read(&self, token: &str) -> Result<Claims, AuthError> {
        let validation = Validation {
            leeway: 0,
            ..Validation::new(Algorithm::HS256)
        };
        decode::<Claims>(token, &self.key.checking, &validation)
            .map(|read| read.claims)
            .map_err(|_| AuthError::BadToken)
    }

    /// Whether a token was issued to this user as it is now.
    pub(super) fn is_of(&self, claims: &Claims, user: &User) -> bool {
        same(&claims.record, &self.record(user))
    }

    fn record(&self, user: &User) -> String {
        let texts = [user.name(), &user.password().material(), &user.roles_text()];
        self.key.digest("user record", &texts)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::super::user::Password;
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn secret(text: &str) -> TokenSecret {
        TokenSecret::new(text.repeat(32)).expect("long enough")
    }

    fn user(password: &str) -> User {
        User::admin("admin", Password::Plain(password.to_owned())).expect("a user")
    }

    fn issued(tokens: &Tokens) -> String {
        tokens.issue(&user("secret")).expect("a token").token
    }

    #[test]
    fn a_token_is_good_where_the_secret_is_the_same() {
        let (one, same) = (secret("a"), secret("a"));
        let token = issued(&Tokens::new(Some(&one), HOUR));
        let fellow = Tokens::new(Some(&same), HOUR);
        let claims = fellow.read(&token).expect("the same secret");
        assert_eq!(claims.sub, "admin");
        assert!(fellow.is_of(&claims, &user("secret")));
        for stranger in [
            Tokens::new(Some(&secret("b")), HOUR),
            Tokens::new(None, HOUR),
        ] {
            assert!(stranger.read(&token).is_err());
        }
        assert!(
            Tokens::new(None, HOUR)
                .read(&issued(&Tokens::new(None, HOUR)))
                .is_err()
        );
    }

    #[test]
    fn a_token_ends_with_its_time_and_with_the_user_it_was_issued_to() {
        let tokens = Tokens::new(None, HOUR);
        let claims = tokens.read(&issued(&tokens)).expect("a token");
        assert!(tokens.is_of(&claims, &user("secret")));
        assert!(!tokens.is_of(&claims, &user("changed")));
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a clock after 1970");
        let old = tokens.issue_at(&user("secret"), now - HOUR - Duration::from_secs(1));
        assert!(tokens.read(&old.expect("a token").token).is_err());
    }

    #[test]
    fn a_token_of_another_algorithm_or_with_another_content_is_refused() {
        let tokens = Tokens::new(Some(&secret("a")), HOUR);
        let token = issued(&tokens);
        let parts: Vec<&str> = token.split('.').collect();
        let [header, claims, signature] = parts[..] else {
            panic!("a token has three parts: {token}");
        };
        let b64 = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let none = b64(r#"{"alg":"none","typ":"JWT"}"#);
        let other = encode(
            &Header::new(Algorithm::HS512),
            &tokens.read(&token).expect("good"),
            &tokens.key.signing,
        );
        let forged = b64(r#"{"sub":"root","record":"x","exp":99999999999}"#);
        for bad in [
            format!("{none}.{claims}."),
            format!("{none}.{claims}.{signature}"),
            format!("{header}.{claims}."),
            format!("{header}.{forged}.{signature}"),
            other.expect("signed with the same secret"),
            String::new(),
            "a.b.c".to_owned(),
        ] {
            assert_eq!(
                tokens.read(&bad).map(|_| ()),
                Err(AuthError::BadToken),
                "{bad}"
            );
        }
    }

    #[test]
    fn neither_a_token_nor_what_it_carries_shows_a_secret() {
        let tokens = Tokens::new(Some(&secret("a")), HOUR);
        let issued = tokens.issue(&user("hunter2")).expect("a token");
        assert!(!format!("{issued:?}").contains(&issued.token));
        let claims = issued.token.split('.').nth(1).expect("three parts");
        let claims = URL_SAFE_NO_PAD.decode(claims).expect("base64");
        assert!(!String::from_utf8_lossy(&claims).contains("hunter2"));
    }
}
