//! The rules of a coordinator for sharded Redis Streams: no I/O, no clock, no randomness.
