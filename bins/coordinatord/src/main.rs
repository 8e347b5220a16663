//! The coordinator for sharded Redis Streams.

fn main() {}
