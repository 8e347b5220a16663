//! Writes the manifest of fixtures anew; `cargo xtask fixtures --accept` runs it. It never changes a fixture.

use std::process::ExitCode;

use tidy::{Repository, fixtures};

fn main() -> ExitCode {
    let outcome = Repository::open()
        .map_err(std::io::Error::other)
        .and_then(|repository| fixtures::accept(repository.root()));
    match outcome {
        Ok(count) => {
            println!("{} now lists {count} fixtures", fixtures::MANIFEST);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{} was not written: {error}", fixtures::MANIFEST);
            ExitCode::FAILURE
        }
    }
}
