//! One user: a name, what proves it, and roles. Where users are kept is not known here.

use std::fmt;

use protocol::{Role, UnknownRole};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::password::{BadPasswordHash, PasswordHash};
use crate::config::DEFAULT_ADMIN_PASSWORD;

/// The most bytes of a user's name.
const MAX_NAME_BYTES: usize = 256;

/// What proves that a user is who it says.
#[derive(Clone)]
pub enum Password {
    /// The password itself.
    Plain(String),
    /// Its hash.
    Hashed(PasswordHash),
}

impl Password {
    /// Whether this is the password that exists out of the box. Costs a check of the hash where there is one.
    pub(crate) fn is_default(&self) -> bool {
        match self {
            Self::Plain(password) => password == DEFAULT_ADMIN_PASSWORD,
            Self::Hashed(hash) => hash.is_of(DEFAULT_ADMIN_PASSWORD),
        }
    }

    /// A text that changes with the password. A secret.
    pub(super) fn material(&self) -> String {
        match self {
            Self::Plain(password) => format!("plain:{password}"),
            Self::Hashed(hash) => hash.to_phc(),
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain(…)",
            Self::Hashed(_) => "Hashed(…)",
        })
    }
}

/// Whether two secrets are equal, in a time that does not depend on where they differ.
pub(super) fn same(one: &str, other: &str) -> bool {
    Sha256::digest(one).ct_eq(&Sha256::digest(other)).into()
}

/// A user.
#[derive(Clone, Debug)]
pub struct User {
    name: String,
    password: Password,
    roles: Vec<Role>,
}

/// What about a user is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// A name that can't be sent as Basic credentials, or that nobody could read.
    #[error(
        "must be 1 to {MAX_NAME_BYTES} bytes without colon, control characters and white space at its ends, not {name:?}"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A hash that is not taken. It is not repeated.
    #[error(transparent)]
    PasswordHash(#[from] BadPasswordHash),
    /// A user who may nothing.
    #[error("must name at least one of READ (or MONITOR), WRITE, MEMBER, ADMIN")]
    NoRoles,
    /// A word that is no role.
    #[error(transparent)]
    Role(#[from] UnknownRole),
}

impl UserError {
    /// The field of the user's record that is not taken.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Name { .. } => "name",
            Self::PasswordHash(_) => "password-hash",
            Self::NoRoles | Self::Role(_) => "roles",
        }
    }
}

impl User {
    /// A user as files have it: a hash in PHC form, roles by their names.
    ///
    /// # Errors
    /// [`UserError`] for the first field that is not taken.
    pub fn new(name: &str, password_hash: &str, roles: &[String]) -> Result<Self, UserError> {
        let name = checked_name(name)?;
        let password = Password::Hashed(PasswordHash::parse(password_hash)?);
        let mut roles = roles
            .iter()
            .map(|role| role.parse())
            .collect::<Result<Vec<Role>, UnknownRole>>()?;
        if roles.is_empty() {
            return Err(UserError::NoRoles);
        }
        roles.sort_unstable();
        roles.dedup();
        Ok(Self {
            name,
            password,
            roles,
        })
    }

    /// A user who may everything.
    ///
    /// # Errors
    /// [`UserError::Name`] for a name that is not taken.
    pub fn admin(name: &str, password: Password) -> Result<Self, UserError> {
        Ok(Self {
            name: checked_name(name)?,
            password,
            roles: vec![Role::Admin],
        })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn password(&self) -> &Password {
        &self.password
    }

    pub(super) fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The roles by their names, in one text.
    pub(super) fn roles_text(&self) -> String {
        let names: Vec<_> = self.roles.iter().map(|role| role.as_str()).collect();
        names.join(",")
    }
}

fn checked_name(name: &str) -> Result<String, UserError> {
    let is_odd = name.is_empty()
        || name.len() > MAX_NAME_BYTES
        || name.trim() != name
        || name.contains(|c: char| c == ':' || c.is_control());
    if is_odd {
        return Err(UserError::Name {
            name: name.to_owned(),
        });
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_that_is_not_taken_is_told_by_its_field() {
        let hash = PasswordHash::of("secret").to_phc();
        let of = |name: &str, hash: &str, roles: &[&str]| {
            let roles: Vec<_> = roles.iter().map(|role| (*role).to_owned()).collect();
            User::new(name, hash, &roles)
        };
        for (made, field, says) in [
            (of("", &hash, &["READ"]), "name", "1 to 256 bytes"),
            (of("a:b", &hash, &["READ"]), "name", "without colon"),
            (of(" a", &hash, &["READ"]), "name", "white space"),
            (of("a", "secret", &["READ"]), "password-hash", "no hash"),
            (of("a", &hash, &[]), "roles", "at least one"),
            (
                of("a", &hash, &["READ", "ROOT"]),
                "roles",
                "`ROOT` is no role",
            ),
        ] {
            let error = made.expect_err(says);
            assert_eq!(error.field(), field);
            assert!(error.to_string().contains(says), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let user = of("a", &hash, &["WRITE", "MONITOR", "READ"]).expect("a user");
        assert_eq!(user.roles(), [Role::Read, Role::Write]);
        assert!(!format!("{user:?}").contains("argon2"));
    }

    #[test]
    fn the_default_password_is_known_in_either_form() {
        for (password, is_default) in [
            (Password::Plain("admin".to_owned()), true),
            (Password::Hashed(PasswordHash::of("admin")), true),
            (Password::Plain("other".to_owned()), false),
            (Password::Hashed(PasswordHash::of("other")), false),
        ] {
            assert_eq!(password.is_default(), is_default, "{password:?}");
        }
    }
}
