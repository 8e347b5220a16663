//! The wire protocol of the coordinator, version 1.
