//! Comparing passwords in a time that tells nothing about them.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A user name and password, kept as digests of equal length.
pub(super) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn new(username: &str, password: &str) -> Self {
        Self(digest(username, password))
    }

    pub(super) fn matches(&self, username: &str, password: &str) -> bool {
        self.0.ct_eq(&digest(username, password)).into()
    }
}

fn digest(username: &str, password: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update((username.len() as u64).to_be_bytes());
    hasher.update(username);
    hasher.update(password);
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn name_and_password_do_not_run_into_each_other() {
        let secret = Secret::new("admin", "secret");
        assert!(secret.matches("admin", "secret"));
        assert!(!secret.matches("admins", "ecret"));
        assert!(!secret.matches("admin", "Secret"));
        assert!(!secret.matches("", "adminsecret"));
    }
}
