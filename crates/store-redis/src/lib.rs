//! The coordinator's store and shard plane on Redis.
