//! Hashes of passwords: read, made, and held against a password. How much of that work is done at once is not known here.

use std::fmt;

use argon2::password_hash::phc::{Output, PasswordHash as Phc, Salt};
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params};

/// The most memory that one check of a password may take, in KiB.
const MAX_MEMORY_KIB: u32 = 256 * 1024;
/// The most passes over that memory.
const MAX_PASSES: u32 = 16;
/// The most lanes.
const MAX_LANES: u32 = 16;

/// An argon2id hash of a password. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(Box<Phc>);

/// A text that is no hash that is taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPasswordHash {
    /// Another form.
    #[error("is no hash of the form $argon2id$v=19$m=…,t=…,p=…$<salt>$<hash>")]
    Form,
    /// Another algorithm.
    #[error("is made with {algorithm}, only argon2id is taken")]
    Algorithm {
        /// Its name in the hash.
        algorithm: String,
    },
    /// A check would cost too much.
    #[error(
        "asks for {memory_kib} KiB, {passes} passes and {lanes} lanes; at most {MAX_MEMORY_KIB}, {MAX_PASSES} and {MAX_LANES} are taken"
    )]
    TooCostly {
        /// KiB of memory.
        memory_kib: u32,
        /// Passes over it.
        passes: u32,
        /// Lanes.
        lanes: u32,
    },
}

impl PasswordHash {
    /// Reads a hash in PHC form: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`.
    ///
    /// # Errors
    /// [`BadPasswordHash`] says what about it is not taken.
    pub fn parse(text: &str) -> Result<Self, BadPasswordHash> {
        let phc = Phc::new(text.trim()).map_err(|_| BadPasswordHash::Form)?;
        if phc.algorithm != Algorithm::Argon2id.ident() {
            return Err(BadPasswordHash::Algorithm {
                algorithm: phc.algorithm.to_string(),
            });
        }
        let params = Params::try_from(&phc).map_err(|_| BadPasswordHash::Form)?;
        if phc.salt.is_none() || phc.hash.is_none() || phc.version != Some(0x13) {
            return Err(BadPasswordHash::Form);
        }
        let (memory_kib, passes, lanes) = (params.m_cost(), params.t_cost(), params.p_cost());
        if memory_kib > MAX_MEMORY_KIB || passes > MAX_PASSES || lanes > MAX_LANES {
            return Err(BadPasswordHash::TooCostly {
                memory_kib,
                passes,
                lanes,
            });
        }
        Ok(Self(Box::new(phc)))
    }

    /// Hashes a password with a salt of chance and the usual cost (19 MiB, 2 passes). Takes some 20 ms of one processor.
    #[must_use]
    pub fn of(password: &str) -> Self {
        let salt: [u8; 16] = rand::random();
        let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
        Self(Box::new(hash.expect(
            "the usual cost and a salt of 16 bytes are in argon2's bounds",
        )))
    }

    /// The hash in PHC form. Whoever has it can try passwords: it is a secret too.
    #[must_use]
    pub fn to_phc(&self) -> String {
        self.0.to_string()
    }

    /// Whether the hash is of this password. Costs what the hash asks for.
    pub(super) fn is_of(&self, password: &str) -> bool {
        Argon2::default()
            .verify_password(password.as_bytes(), &*self.0)
            .is_ok()
    }

    /// A hash of no password whose check costs what is usual.
    pub(super) fn usual_decoy() -> Self {
        let form = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        Self::parse(form).expect("the form that is taken").decoy()
    }

    /// A hash of no password whose check costs the same.
    pub(super) fn decoy(&self) -> Self {
        let fits = "32 bytes of output and 16 of salt are in the bounds of the form";
        Self(Box::new(Phc {
            salt: Some(Salt::new(&rand::random::<[u8; 16]>()).expect(fits)),
            hash: Some(Output::new(&rand::random::<[u8; 32]>()).expect(fits)),
            ..(*self.0).clone()
        }))
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `password`, by the reference implementation.
    const FOREIGN: &str =
        "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";

    #[test]
    fn the_hash_of_another_program_is_understood() {
        let hash = PasswordHash::parse(FOREIGN).expect("the usual form");
        assert!(hash.is_of("password"));
        assert!(!hash.is_of("passwort"));
    }

    #[test]
    fn a_hash_is_of_its_password_alone_and_survives_being_written() {
        let hash = PasswordHash::of("secret");
        let read = PasswordHash::parse(&hash.to_phc()).expect("its own form");
        assert_eq!(read, hash);
        assert!(read.is_of("secret"));
        assert!(!read.is_of("Secret"));
        assert!(!read.decoy().is_of("secret"));
        let params = |hash: &PasswordHash| hash.0.params.to_string();
        assert_eq!(params(&PasswordHash::usual_decoy()), params(&hash));
        assert!(!format!("{read:?}").contains("argon2"));
        assert_ne!(PasswordHash::of("secret"), hash, "salts differ");
    }

    #[test]
    fn hashes_that_are_not_taken_are_named() {
        let salt_and_hash = "c29tZXNhbHQxMjM$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";
        for (text, says) in [
            (String::new(), "no hash of the form"),
            ("secret".to_owned(), "no hash of the form"),
            (
                "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ".to_owned(),
                "no hash of the form",
            ),
            (
                format!("$argon2i$v=19$m=64,t=1,p=1${salt_and_hash}"),
                "made with argon2i,",
            ),
            (
                format!("$scrypt$ln=4,r=8,p=1${salt_and_hash}"),
                "made with scrypt",
            ),
            (
                format!("$argon2id$v=16$m=64,t=1,p=1${salt_and_hash}"),
                "no hash of the form",
            ),
            (
                format!("$argon2id$v=19$m=1048576,t=1,p=1${salt_and_hash}"),
                "asks for 1048576 KiB",
            ),
            (
                format!("$argon2id$v=19$m=64,t=17,p=1${salt_and_hash}"),
                "17 passes",
            ),
        ] {
            let error = PasswordHash::parse(&text).expect_err(&text).to_string();
            assert!(
                error.contains(says),
                "{text}: {error:?} should say {says:?}"
            );
        }
    }
}
