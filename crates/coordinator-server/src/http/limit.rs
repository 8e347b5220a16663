//! How often one principal may change the same. What is the same is said in the table of access. Heartbeats and reads are not counted.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use protocol::ErrorCode;

use super::ApiError;
use crate::config::ChangeRate;

/// How many principals, with what they change, are told apart; what is beyond shares one allowance.
const KEYS: usize = 10_000;
const MINUTE: Duration = Duration::from_secs(60);

/// Whose changes of what are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) principal: String,
    pub(super) of: Of,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Of {
    /// A group of a stream.
    Group(String, String),
    /// A stream with all its groups.
    Stream(String),
    /// Everything.
    Fleet,
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(stream, group) => write!(f, "group {group} of {stream}"),
            Self::Stream(stream) => write!(f, "stream {stream}"),
            Self::Fleet => f.write_str("all groups"),
        }
    }
}

/// The allowances of everybody.
pub(super) struct ChangeLimit {
    rate: Option<Rate>,
    keys: usize,
    /// When each allowance is whole again. None is for whoever there was no room for.
    whole_at: Mutex<HashMap<Option<Key>, Instant>>,
}

#[derive(Clone, Copy)]
struct Rate {
    /// What one change costs.
    cost: Duration,
    /// How far from whole an allowance may be for one more change.
    most: Duration,
}

impl ChangeLimit {
    /// Allowances of a rate; without one nothing is limited.
    pub(super) fn new(rate: Option<ChangeRate>) -> Self {
        Self::with_keys(rate, KEYS)
    }

    fn with_keys(rate: Option<ChangeRate>, keys: usize) -> Self {
        let rate = rate.filter(|rate| rate.per_minute > 0).map(|rate| {
            let cost = MINUTE / rate.per_minute;
            let most = cost.saturating_mul(rate.burst.saturating_sub(1));
            Rate { cost, most }
        });
        Self {
            rate,
            keys,
            whole_at: Mutex::default(),
        }
    }

    /// Takes one change from an allowance, or says when there is one again.
    pub(super) fn check(&self, key: Key) -> Result<(), ApiError> {
        let message = format!("{} changes {} too often", key.principal, key.of);
        self.take(key, Instant::now())
            .map_err(|wait| ApiError::new(ErrorCode::RateLimitExceeded, message).retry_after(wait))
    }

    fn take(&self, key: Key, now: Instant) -> Result<(), Duration> {
        let Some(rate) = self.rate else {
            return Ok(());
        };
        let mut all = self.whole_at.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = Some(key);
        if all.len() >= self.keys && !all.contains_key(&key) {
            // Whoever has its whole allowance again need not be remembered.
            all.retain(|_, whole_at| *whole_at > now);
            if all.len() >= self.keys {
                key = None;
            }
        }
        let whole_at = all.get(&key).map_or(now, |whole_at| (*whole_at).max(now));
        let missing = whole_at - now;
        if missing > rate.most {
            return Err(missing - rate.most);
        }
        all.insert(key, whole_at + rate.cost);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(principal: &str, group: &str) -> Key {
        Key {
            principal: principal.to_owned(),
            of: Of::Group("orders".to_owned(), group.to_owned()),
        }
    }

    fn limit(per_minute: u32, burst: u32) -> ChangeLimit {
        ChangeLimit::with_keys(Some(ChangeRate { per_minute, burst }), 3)
    }

    #[test]
    fn each_principal_has_an_allowance_for_each_group() {
        let (limit, now) = (limit(6, 2), Instant::now());
        for key in [key("a", "g"), key("b", "g"), key("a", "h")] {
            assert_eq!(limit.take(key.clone(), now), Ok(()));
            assert_eq!(limit.take(key.clone(), now), Ok(()));
            let wait = Duration::from_secs(10);
            assert_eq!(limit.take(key.clone(), now), Err(wait));
            let early = now + wait - Duration::from_millis(1);
            assert_eq!(limit.take(key.clone(), early), Err(now + wait - early));
            assert_eq!(limit.take(key.clone(), now + wait), Ok(()));
            assert_eq!(limit.take(key, now + wait), Err(wait));
        }
    }

    #[test]
    fn an_allowance_does_not_grow_beyond_its_burst() {
        let (limit, now) = (limit(60, 2), Instant::now());
        let later = now + Duration::from_secs(3_600);
        for moment in [now, later] {
            assert_eq!(limit.take(key("a", "g"), moment), Ok(()));
            assert_eq!(limit.take(key("a", "g"), moment), Ok(()));
            assert!(limit.take(key("a", "g"), moment).is_err());
        }
    }

    #[test]
    fn beyond_the_keys_that_are_told_apart_all_share_one_allowance() {
        let (limit, now) = (limit(1, 1), Instant::now());
        for name in ["a", "b", "c"] {
            assert_eq!(limit.take(key(name, "g"), now), Ok(()));
        }
        assert_eq!(limit.take(key("d", "g"), now), Ok(()), "the shared one");
        for name in ["a", "d", "e"] {
            assert_eq!(limit.take(key(name, "g"), now), Err(MINUTE), "{name}");
        }
        assert_eq!(limit.whole_at.lock().expect("not poisoned").len(), 4);
        // Once the others have theirs again they are forgotten.
        assert_eq!(limit.take(key("e", "g"), now + MINUTE), Ok(()));
        assert_eq!(limit.whole_at.lock().expect("not poisoned").len(), 1);
    }

    #[test]
    fn nothing_is_limited_without_a_rate() {
        let none = ChangeRate {
            per_minute: 0,
            burst: 1,
        };
        for rate in [None, Some(none)] {
            let limit = ChangeLimit::new(rate);
            for _ in 0..100 {
                assert!(limit.check(key("a", "g")).is_ok());
            }
        }
    }
}
