//! Hashes a password as the coordinator's list of users wants it.

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;

use crate::failure::Failure;
use crate::output::Output;
use crate::secret;

/// Argon2id in the library's default strength, with a salt of its own each time.
pub(super) fn run(from_stdin: bool, output: Output) -> Result<(), Failure> {
    let password = secret::new_password(from_stdin)?;
    let hash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(|error| Failure::Hash(error.to_string()))?;
    output.answer(&hash.to_string(), || hash.to_string())
}
