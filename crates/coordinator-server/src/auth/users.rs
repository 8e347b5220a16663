//! All users, replaced as a whole while the server runs. Files are not read here.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

use super::password::PasswordHash;
use super::user::{Password, User};

/// The users of a server. Clones are the same users.
#[derive(Clone)]
pub struct Users {
    admin: Arc<User>,
    current: watch::Sender<Arc<Directory>>,
}

/// Two users of one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the user {name} is there twice")]
pub struct DuplicateUser {
    /// The name.
    pub name: String,
    /// Which of the users beside the admin it is the second time, from 0 on.
    pub position: usize,
}

impl Users {
    /// The admin alone.
    #[must_use]
    pub fn new(admin: User) -> Self {
        let admin = Arc::new(admin);
        let alone = HashMap::from([(admin.name().to_owned(), Arc::clone(&admin))]);
        Self {
            admin,
            current: watch::Sender::new(Arc::new(Directory::new(alone))),
        }
    }

    /// Replaces all users but the admin. Who is gone, or has another password or other roles, has no valid token any more.
    ///
    /// # Errors
    /// [`DuplicateUser`]; nothing has changed then.
    pub fn replace(&self, others: Vec<User>) -> Result<(), DuplicateUser> {
        let mut users = HashMap::from([(self.admin.name().to_owned(), Arc::clone(&self.admin))]);
        for (position, user) in others.into_iter().enumerate() {
            let name = user.name().to_owned();
            if users.insert(name.clone(), Arc::new(user)).is_some() {
                return Err(DuplicateUser { name, position });
            }
        }
        self.current.send_replace(Arc::new(Directory::new(users)));
        Ok(())
    }

    pub(crate) fn admin(&self) -> &User {
        &self.admin
    }

    /// The users of this moment.
    pub(super) fn now(&self) -> Arc<Directory> {
        Arc::clone(&self.current.borrow())
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.now();
        let mut names: Vec<_> = now.users.keys().collect();
        names.sort_unstable();
        f.debug_tuple("Users").field(&names).finish()
    }
}

/// The users at one moment.
pub(super) struct Directory {
    users: HashMap<String, Arc<User>>,
    /// What a password is held against where nothing else is: costs what that of a user costs.
    decoy: PasswordHash,
}

impl Directory {
    fn new(users: HashMap<String, Arc<User>>) -> Self {
        let hashed = users.values().find_map(|user| match user.password() {
            Password::Plain(_) => None,
            Password::Hashed(hash) => Some(hash.decoy()),
        });
        Self {
            users,
            decoy: hashed.unwrap_or_else(PasswordHash::usual_decoy),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<User>> {
        self.users.get(name)
    }

    pub(super) const fn decoy(&self) -> &PasswordHash {
        &self.decoy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> User {
        User::admin(name, Password::Plain("secret".to_owned())).expect("a user")
    }

    #[test]
    fn users_are_replaced_as_a_whole_or_not_at_all() {
        let users = Users::new(user("admin"));
        let same = users.clone();
        users
            .replace(vec![user("a"), user("b")])
            .expect("two users");
        assert!(same.now().get("b").is_some());
        let twice = DuplicateUser {
            name: "c".to_owned(),
            position: 1,
        };
        assert_eq!(users.replace(vec![user("c"), user("c")]), Err(twice));
        assert!(users.replace(vec![user("admin")]).is_err());
        assert!(same.now().get("b").is_some() && same.now().get("c").is_none());
        users.replace(Vec::new()).expect("nobody else");
        assert!(same.now().get("b").is_none() && same.now().get("admin").is_some());
        assert!(!format!("{users:?}").contains("secret"));
    }
}
