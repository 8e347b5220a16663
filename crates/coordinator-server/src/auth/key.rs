//! Digests under a key: what is remembered or handed out without what it stands for. What they are for is said by who makes them.

use std::fmt;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};

/// The fewest bytes of a secret for tokens: as many as HMAC-SHA256 makes use of.
pub const MIN_TOKEN_SECRET_BYTES: usize = 32;

/// The secret that access tokens are signed under. Coordinators with the same one take each other's tokens. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret(Vec<u8>);

/// A secret that is too short.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be at least {MIN_TOKEN_SECRET_BYTES} bytes of chance, not {bytes}; openssl rand -base64 48 makes one"
)]
pub struct ShortSecret {
    bytes: usize,
}

impl TokenSecret {
    /// A secret of somebody's choice.
    ///
    /// # Errors
    /// [`ShortSecret`] below [`MIN_TOKEN_SECRET_BYTES`].
    pub fn new(secret: impl Into<Vec<u8>>) -> Result<Self, ShortSecret> {
        let secret = secret.into();
        if secret.len() < MIN_TOKEN_SECRET_BYTES {
            return Err(ShortSecret {
                bytes: secret.len(),
            });
        }
        Ok(Self(secret))
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(…)")
    }
}

/// A key of HMAC-SHA256.
pub(super) struct Key {
    pub(super) signing: EncodingKey,
    pub(super) checking: DecodingKey,
}

impl Key {
    /// A key that nobody else has, and that ends with this value.
    pub(super) fn random() -> Self {
        Self::from_bytes(&rand::random::<[u8; 32]>())
    }

    /// The key that a secret stands for.
    pub(super) fn of(secret: &TokenSecret) -> Self {
        Self::from_bytes(&secret.0)
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let fits = "bytes that are not none are a key of HMAC-SHA256";
        Self {
            signing: EncodingKey::from_secret(bytes).expect(fits),
            checking: DecodingKey::from_secret(bytes).expect(fits),
        }
    }

    /// The digest of some texts for one purpose. Texts do not run into each other, nor purposes into those of signed tokens.
    pub(super) fn digest(&self, purpose: &str, texts: &[&str]) -> String {
        let mut message = Vec::new();
        for text in std::iter::once(&purpose).chain(texts) {
            message.extend((text.len() as u64).to_be_bytes());
            message.extend(text.as_bytes());
        }
        jsonwebtoken::crypto::sign(&message, &self.signing, Algorithm::HS256)
            .expect("HMAC-SHA256 takes any message under a key of its own family")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_purposes_do_not_run_into_each_other_and_keys_differ() {
        let key = Key::random();
        let digest = key.digest("a", &["admin", "secret"]);
        assert_eq!(digest, key.digest("a", &["admin", "secret"]));
        for other in [
            key.digest("a", &["admins", "ecret"]),
            key.digest("a", &["admin", "secret", ""]),
            key.digest("b", &["admin", "secret"]),
            Key::random().digest("a", &["admin", "secret"]),
        ] {
            assert_ne!(digest, other);
        }
    }

    #[test]
    fn a_short_secret_is_refused_and_none_is_shown() {
        let error = TokenSecret::new("x".repeat(31)).expect_err("too short");
        assert!(error.to_string().starts_with("must be at least 32 bytes"));
        let secret = TokenSecret::new("hunter2-".repeat(4)).expect("long enough");
        assert!(!format!("{secret:?}").contains("hunter2"));
    }
}
