//! The coordinator's engine and HTTP face, as a library.
