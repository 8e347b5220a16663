//! What the coordinator needs of a store, an in-memory store, and the suite every store must pass.
