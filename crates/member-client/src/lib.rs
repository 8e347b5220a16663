//! Consumer membership: a pure state machine and the workers that read one shard each.
