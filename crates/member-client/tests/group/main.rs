//! Members under the real coordinator and on a real Redis: whatever comes and goes, every record is handled and no shard is
//! ever in two hands.
#![allow(clippy::unwrap_used)]

mod changes;
mod conformity;
mod world;
