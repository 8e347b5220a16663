//! The member machine by tables and scripts, without any I/O: every answer, every way out, and random lives of members.
#![allow(clippy::unwrap_used)]

mod bench;
mod joining;
mod lease;
mod leaving;
mod ownership;
mod properties;
mod settings;
