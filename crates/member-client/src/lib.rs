//! Consumer membership for sharded Redis Streams: [`machine::MemberMachine`], the pure rules of being a member, and the workers that read one
//! shard each. It knows nothing about how the coordinator decides.

pub mod machine;
