//! Checking passwords without harm to the rest: away from the threads that serve requests, a few at a time, and not again for each
//! request. Who the users are is not known here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::AuthError;
use super::key::Key;
use super::password::PasswordHash;
use super::user::{Password, User, same};
use super::users::Directory;

/// How many passwords wait to be checked before further ones are refused.
const WAITING: usize = 64;
/// How long a password that was right is taken without being checked anew.
const REMEMBERED: Duration = Duration::from_secs(60);
/// How many passwords that were right are remembered.
const REMEMBERED_MOST: usize = 1_024;

/// Checks passwords.
pub(super) struct Verifier {
    /// Half the processors, so that heartbeats get the other.
    working: Arc<Semaphore>,
    waiting: Semaphore,
    key: Key,
    /// Digests, under a key of this process, of names with passwords that were right, and until when they are taken.
    right: Mutex<HashMap<String, Instant>>,
}

impl Verifier {
    pub(super) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            working: Arc::new(Semaphore::new((processors / 2).max(1))),
            waiting: Semaphore::new(WAITING),
            key: Key::random(),
            right: Mutex::default(),
        }
    }

    /// The user of that name, if the password is its. A name that nobody has costs what a wrong password costs, and so does a wrong
    /// password of a user without a hash: nobody can try passwords faster than they are computed.
    pub(super) async fn check(
        &self,
        directory: &Directory,
        name: &str,
        password: &str,
    ) -> Result<Arc<User>, AuthError> {
        let user = directory.get(name);
        let (hash, digest) = match user.map(|user| user.password()) {
            Some(Password::Hashed(hash)) => {
                let digest = self.key.digest("basic", &[name, &hash.to_phc(), password]);
                if self.remembers(&digest) {
                    return user.cloned().ok_or(AuthError::WrongPassword);
                }
                (hash, Some(digest))
            }
            Some(Password::Plain(right)) if same(right, password) => {
                return user.cloned().ok_or(AuthError::WrongPassword);
            }
            Some(Password::Plain(_)) | None => (directory.decoy(), None),
        };
        let is_right = self.compute(hash.clone(), password.to_owned()).await?;
        match (user, digest) {
            (Some(user), Some(digest)) if is_right => {
                self.remember(digest);
                Ok(Arc::clone(user))
            }
            _ => Err(AuthError::WrongPassword),
        }
    }

    async fn compute(&self, hash: PasswordHash, password: String) -> Result<bool, AuthError> {
        let _waiting = self.waiting.try_acquire().map_err(|_| AuthError::Busy)?;
        let working = Arc::clone(&self.working).acquire_owned().await;
        let working = working.map_err(|_| AuthError::Busy)?;
        // The right to work goes along: it ends with the work, even if nobody waits for the outcome any more.
        let work = tokio::task::spawn_blocking(move || {
            let is_right = hash.is_of(&password);
            drop(working);
            is_right
        });
        work.await.map_err(|_| AuthError::Busy)
    }

    fn remembers(&self, digest: &str) -> bool {
        let right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        right
            .get(digest)
            .is_some_and(|until| Instant::now() < *until)
    }

    fn remember(&self, digest: String) {
        let now = Instant::now();
        let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        if right.len() >= REMEMBERED_MOST {
            right.retain(|_, until| now < *until);
        }
        if right.len() < REMEMBERED_MOST {
            right.insert(digest, now + REMEMBERED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::users::Users;
    use super::*;

    fn users() -> Users {
        let admin = User::admin("admin", Password::Plain("plain".to_owned())).expect("a user");
        let users = Users::new(admin);
        users.replace(vec![hashed("secret")]).expect("one more");
        users
    }

    fn hashed(password: &str) -> User {
        let hash = PasswordHash::of(password).to_phc();
        User::new("ann", &hash, &["READ".to_owned()]).expect("a user")
    }

    #[tokio::test]
    async fn the_right_password_of_the_right_user_is_taken_and_no_other() {
        let (verifier, users) = (Verifier::new(), users());
        let directory = users.now();
        for (name, password, is_right) in [
            ("admin", "plain", true),
            ("ann", "secret", true),
            ("ann", "secret", true),
            ("ann", "plain", false),
            ("ann", "", false),
            ("admin", "secret", false),
            ("bob", "secret", false),
            ("", "", false),
        ] {
            let outcome = verifier.check(&directory, name, password).await;
            assert_eq!(outcome.is_ok(), is_right, "{name} {password}");
        }
    }

    #[tokio::test]
    async fn a_right_password_is_remembered_only_for_the_record_it_was_right_for() {
        let (verifier, users) = (Verifier::new(), users());
        let check = async |password: &str| {
            let outcome = verifier.check(&users.now(), "ann", password).await;
            outcome.map(|user| user.name().to_owned())
        };
        check("secret").await.expect("the password");
        let digests = |verifier: &Verifier| verifier.right.lock().expect("not poisoned").len();
        assert_eq!(digests(&verifier), 1);
        check("wrong").await.expect_err("not the password");
        assert_eq!(digests(&verifier), 1, "what is wrong is not remembered");
        // No work can be done: what is remembered is taken all the same, nothing else is.
        let working = u32::try_from(verifier.working.available_permits()).expect("few");
        let _none = verifier.working.acquire_many(working).await.expect("open");
        check("secret").await.expect("remembered");
        users
            .replace(vec![hashed("other")])
            .expect("another password");
        let asking = tokio::time::timeout(Duration::from_millis(50), check("secret"));
        asking.await.expect_err("it has to be checked anew");
    }

    #[tokio::test]
    async fn a_name_that_nobody_has_is_checked_like_a_wrong_password() {
        let (verifier, users) = (Verifier::new(), users());
        let directory = users.now();
        let working = u32::try_from(verifier.working.available_permits()).expect("few");
        let none = verifier.working.acquire_many(working).await.expect("open");
        for name in ["ann", "nobody", "admin"] {
            let asking = verifier.check(&directory, name, "wrong");
            let asking = tokio::time::timeout(Duration::from_millis(20), asking);
            assert!(asking.await.is_err(), "{name} should wait for its turn");
        }
        drop(none);
        let outcome = verifier.check(&directory, "nobody", "wrong").await;
        assert_eq!(outcome.map(|_| ()), Err(AuthError::WrongPassword));
    }

    #[tokio::test]
    async fn a_flood_is_refused_beyond_what_may_wait() {
        let (verifier, users) = (Verifier::new(), users());
        let directory = users.now();
        let _all = verifier.waiting.acquire_many(64).await.expect("open");
        let outcome = verifier.check(&directory, "ann", "secret").await;
        assert_eq!(outcome.map(|_| ()), Err(AuthError::Busy));
        verifier
            .check(&directory, "admin", "plain")
            .await
            .expect("what costs nothing is not refused");
    }
}
