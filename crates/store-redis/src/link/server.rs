//! What a server says of itself when a connection is made: its version, and whether it throws keys away when it is full.

use std::collections::BTreeMap;

use redis::RedisError;
use redis::aio::ConnectionLike;
use store::{Eviction, StoreError};

use crate::classify::classify;

/// What a server says of itself.
#[derive(Debug, Default)]
pub(super) struct Server {
    pub(super) eviction: Eviction,
}

impl Server {
    /// Asks the server, and refuses one that is too old. A user that may not ask is trusted: scripts fail clearly on an old server.
    ///
    /// `is_cluster` is what the server is taken for: a node of a cluster has a part of the keys only.
    pub(super) async fn ask(
        link: &mut (impl ConnectionLike + Send),
        is_cluster: bool,
    ) -> Result<Self, StoreError> {
        let server = match info(link, "server").await {
            Ok(fields) => fields,
            Err(error) if error.code() == Some("NOPERM") => {
                tracing::warn!(
                    "the user of Redis may not run INFO: neither version nor eviction policy are checked"
                );
                return Ok(Self::default());
            }
            Err(error) => return Err(classify(error)),
        };
        check_version(&server)?;
        check_mode(&server, is_cluster)?;
        let memory = info(link, "memory").await.map_err(classify)?;
        let policy = memory.get("maxmemory_policy").cloned();
        Ok(Self {
            eviction: policy.map_or(Eviction::Unknown, Eviction::Policy),
        })
    }
}

async fn info(
    link: &mut (impl ConnectionLike + Send),
    section: &str,
) -> Result<BTreeMap<String, String>, RedisError> {
    let text: String = match redis::cmd("INFO").arg(section).query_async(link).await? {
        // A cluster answers for each node; the first stands for all.
        redis::Value::Map(nodes) => match nodes.into_iter().next() {
            Some((_, text)) => redis::from_redis_value(text)?,
            None => String::new(),
        },
        value => redis::from_redis_value(value)?,
    };
    Ok(fields(&text))
}

fn fields(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .map(|(name, value)| (name.to_owned(), value.trim_end().to_owned()))
        .collect()
}

/// Redis from 7.0 and Valkey from 7.2 on have what the scripts need.
fn check_version(server: &BTreeMap<String, String>) -> Result<(), StoreError> {
    let (name, found, least) = match (server.get("valkey_version"), server.get("redis_version")) {
        (Some(found), _) => ("Valkey", found, (7, 2)),
        (None, Some(found)) => ("Redis", found, (7, 0)),
        (None, None) => return Ok(()),
    };
    let mut numbers = found.split('.').map(|part| part.parse::<u32>().ok());
    let version = (numbers.next().flatten(), numbers.next().flatten());
    match version {
        (Some(major), Some(minor)) if (major, minor) < least => Err(StoreError::Refused {
            reason: format!(
                "{name} {found} is too old; at least {}.{} is needed",
                least.0, least.1
            ),
            source: None,
        }),
        _ => Ok(()),
    }
}

fn check_mode(server: &BTreeMap<String, String>, is_cluster: bool) -> Result<(), StoreError> {
    let mode = server.get("redis_mode").map(String::as_str);
    let reason = match (mode, is_cluster) {
        (Some("cluster"), false) => "Redis is a node of a cluster; give the URLs of several nodes",
        (Some("standalone"), true) => "Redis is no cluster; give one URL",
        _ => return Ok(()),
    };
    Err(StoreError::Refused {
        reason: reason.to_owned(),
        source: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lines: &str) -> String {
        match check_version(&fields(lines)) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_server_that_is_too_old_is_refused_with_the_reason() {
        let table = [
            ("redis_version:7.0.0\r\n", "ok"),
            ("redis_version:7.0.15\r\nredis_mode:standalone\r\n", "ok"),
            ("redis_version:8.2.1\r\n", "ok"),
            ("redis_version:255.255.255\r\n", "ok"),
            (
                "redis_version:6.2.14\r\n",
                "the store refuses: Redis 6.2.14 is too old; at least 7.0 is needed",
            ),
            (
                "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:7.2.5\r\n",
                "ok",
            ),
            (
                "redis_version:7.2.4\r\nvalkey_version:7.1.9\r\n",
                "the store refuses: Valkey 7.1.9 is too old; at least 7.2 is needed",
            ),
            ("something:else\r\n", "ok"),
        ];
        for (lines, expected) in table {
            assert_eq!(outcome(lines), expected, "{lines:?}");
        }
    }
}
