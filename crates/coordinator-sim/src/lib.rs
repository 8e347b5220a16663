//! The rules of the coordinator in a world that fails on purpose, from one seed: the real core, the real member machine, and a store, a
//! network and clocks that misbehave. For development only; nothing of the product depends on it.

pub mod model;
