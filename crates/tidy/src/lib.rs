//! Checks of this repository, as tests.
