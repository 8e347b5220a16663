//! Routed publishing to a sharded Redis Stream.
