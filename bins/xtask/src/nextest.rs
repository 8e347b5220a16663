//! Which test runner there is. It installs none: the built-in one does the same, only slower.

use std::ffi::OsString;

use crate::tools;

/// The arguments to cargo that run the tests of the workspace whose names contain one of `filters` (all, if there are none).
pub(crate) fn arguments(filters: &[String]) -> Vec<OsString> {
    if tools::output(tools::cargo(), &["nextest", "--version"]).is_some() {
        with_nextest(filters)
    } else {
        println!(
            "   cargo-nextest is not installed, so `cargo test` runs the tests, one crate after another"
        );
        with_cargo_test(filters)
    }
}

fn with_nextest(filters: &[String]) -> Vec<OsString> {
    let fixed = ["nextest", "run", "--workspace"].map(OsString::from);
    fixed
        .into_iter()
        .chain(filters.iter().map(OsString::from))
        .collect()
}

fn with_cargo_test(filters: &[String]) -> Vec<OsString> {
    let fixed = [
        "test",
        "--quiet",
        "--workspace",
        "--lib",
        "--bins",
        "--tests",
    ]
    .map(OsString::from);
    let filters = filters.iter().map(OsString::from);
    let separator = (filters.len() > 0).then(|| OsString::from("--"));
    fixed.into_iter().chain(separator).chain(filters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_reach_either_runner() {
        let filters = ["lease".to_owned(), "epoch".to_owned()];
        assert_eq!(
            with_nextest(&filters),
            ["nextest", "run", "--workspace", "lease", "epoch"]
        );
        assert!(with_cargo_test(&filters).ends_with(&[
            "--".into(),
            "lease".into(),
            "epoch".into()
        ]));
        assert_eq!(
            with_cargo_test(&[]).last(),
            Some(&OsString::from("--tests"))
        );
    }
}
