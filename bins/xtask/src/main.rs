//! The commands of this repository: demo and test.

fn main() {}
