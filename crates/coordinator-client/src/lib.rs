//! The typed HTTP client of the coordinator.
