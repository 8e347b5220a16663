//! The right to change a group: taking it, waiting for it, giving it back.

use std::time::{Duration, Instant};

use coordinator_core::names::GroupId;
use coordinator_core::time::Timestamp;
use store::{Begun, Etag, GroupLock, Snapshot, StoreError};

use super::RedisStore;
use super::open::in_ms;
use super::read::{known_etag, read_group};
use crate::script;

/// The first and the longest pause between two attempts to take a right that somebody has. Each is drawn at random up to that, so that
/// those who wait do not all come at once.
const FIRST_PAUSE: Duration = Duration::from_millis(4);
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// A group that was read, or why it can't be.
pub(super) type Found = Result<Option<Snapshot>, StoreError>;

impl RedisStore {
    /// Takes the right and reads the group, waiting while somebody else has the right.
    pub(super) async fn begin_group(
        &self,
        group: &GroupId,
        known: Option<&Snapshot>,
    ) -> Result<Begun, StoreError> {
        let lock = GroupLock {
            group: group.clone(),
            token: Etag::fresh(),
        };
        let (now, found) = self.take_right(&lock, known).await?;
        match found {
            Ok(snapshot) => Ok(Begun {
                lock,
                snapshot,
                now,
            }),
            Err(error) => {
                // Nobody can change what nobody can read.
                self.release_right(&lock).await;
                Err(error)
            }
        }
    }

    /// Takes the right, waiting while somebody else has it. Gives the time, and the group or why it can't be read.
    pub(super) async fn take_right(
        &self,
        lock: &GroupLock,
        known: Option<&Snapshot>,
    ) -> Result<(Timestamp, Found), StoreError> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(taken) = self.try_begin(lock, known).await? {
                return Ok(taken);
            }
            let Some(left) = self.limits.wait.checked_sub(started.elapsed()) else {
                return Err(StoreError::Locked {
                    waited_ms: in_ms(started.elapsed()),
                });
            };
            let drawn = pause.mul_f64(rand::random_range(0.5..=1.0));
            tokio::time::sleep(drawn.min(left)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn try_begin(
        &self,
        lock: &GroupLock,
        known: Option<&Snapshot>,
    ) -> Result<Option<(Timestamp, Found)>, StoreError> {
        let keys = self.keys.of(&lock.group);
        let keys = [
            keys.metadata.as_str(),
            keys.leases.as_str(),
            keys.mutex.as_str(),
        ];
        let call = script::BEGIN
            .call(&keys)
            .arg(lock.token.as_str())
            .number(self.lock_ttl_ms())
            .arg(known_etag(known));
        let mut reply = self.redis.run_again(&call).await?;
        match reply.status() {
            "locked" => Ok(None),
            "begun" => {
                let now = Timestamp::from_ms(reply.number()?);
                let group = reply.nested()?;
                Ok(Some((now, read_group(group, &lock.group, known, now))))
            }
            _ => Err(reply.unknown()),
        }
    }

    /// Gives the right back. A failure is left to the right's own end.
    pub(super) async fn release_right(&self, lock: &GroupLock) {
        self.release_token(lock, lock.token.as_str()).await;
    }

    pub(super) async fn release_token(&self, lock: &GroupLock, token: &str) {
        let keys = self.keys.of(&lock.group);
        let keys = [keys.mutex.as_str()];
        let call = script::RELEASE.call(&keys).arg(token);
        if let Err(error) = self.redis.run_again(&call).await {
            tracing::debug!(group = %lock.group, %error, "a right could not be given back and runs out by itself");
        }
    }
}
