//! Checks of this repository, run as tests: layering, documentation of modules, fixtures, rule ids, dependencies, layout. It
//! knows nothing about what the product does, and changes nothing except, when asked, the manifest of fixtures.
//!
//! Every check is a function from file contents to [`Violation`]s, so that its own tests can show it bad input.
//!
//! ```
//! let file = tidy::TextFile::new("crates/a/src/lib.rs", "pub fn a() {}\n");
//! let found = tidy::source::check_module_docs(&[file]);
//! assert_eq!(found[0].to_string(), "crates/a/src/lib.rs:1: the first line is not a `//!` line that says what the file is for");
//! ```

pub mod dependencies;
pub mod fixtures;
pub mod forbidden;
pub mod layering;
pub mod layout;
mod repository;
pub mod rules;
pub mod source;
mod test_code;
mod violation;

pub use repository::{ReadError, Repository, TextFile};
pub use test_code::TestCode;
pub use violation::{Violation, report};

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
