//! Checks of single Rust files: a first line that explains, a bounded length, nothing ignored or unfinished, no sleeping for
//! luck in tests. Formatting and lints are left to rustfmt and clippy.

use crate::{TestCode, TextFile, Violation};

/// The most lines a Rust file may have, tests included.
pub const MOST_LINES: usize = 500;

/// Written in two pieces, so that this file does not contain what it looks for.
const UNFINISHED: [&str; 4] = [
    concat!("#[", "ignore"),
    concat!("todo", "!("),
    concat!("todo", "!["),
    concat!("unimplemented", "!("),
];
const SLEEPS: [&str; 4] = [
    concat!("thread::", "sleep("),
    concat!("time::", "sleep("),
    concat!(" sle", "ep("),
    concat!("sleep_", "until("),
];
const EXPLANATION: &str = "// waits: ";

/// Every Rust file starts with a line that says what it is for.
#[must_use]
pub fn check_module_docs(files: &[TextFile]) -> Vec<Violation> {
    let bare = files
        .iter()
        .filter(|file| file.is_rust() && !file.text.starts_with("//! "));
    bare.map(|file| {
        Violation::at(
            &file.path,
            1,
            "the first line is not a `//!` line that says what the file is for",
        )
    })
    .collect()
}

/// No Rust file is longer than [`MOST_LINES`].
#[must_use]
pub fn check_length(files: &[TextFile]) -> Vec<Violation> {
    let lengths = files
        .iter()
        .filter(|file| file.is_rust())
        .map(|file| (file, file.text.lines().count()));
    let long = lengths.filter(|(_, length)| *length > MOST_LINES);
    long.map(|(file, length)| {
        Violation::of_file(
            &file.path,
            format!("{length} lines, at most {MOST_LINES} are allowed"),
        )
    })
    .collect()
}

/// No ignored test, no unfinished code.
#[must_use]
pub fn check_unfinished(files: &[TextFile]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for (number, line) in file.lines() {
            for word in UNFINISHED.iter().filter(|word| line.contains(*word)) {
                found.push(Violation::at(
                    &file.path,
                    number,
                    format!("`{word}` is not allowed"),
                ));
            }
        }
    }
    found
}

/// A sleep in test code says, on its line or the one above, what it waits for.
#[must_use]
pub fn check_sleeps(files: &[TextFile]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut explained = false;
    for (path, number, line) in TestCode::find(files).lines() {
        let explains = line.contains(EXPLANATION);
        if SLEEPS.iter().any(|sleep| line.contains(sleep)) && !explains && !explained {
            let what = format!(
                "a sleep in a test: wait for a condition, or explain it with `{EXPLANATION}…`"
            );
            found.push(Violation::at(path, number, what));
        }
        explained = explains;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust(text: &str) -> [TextFile; 1] {
        [TextFile::new("crates/a/tests/it.rs", text)]
    }

    #[test]
    fn a_file_without_a_module_line_is_found() {
        assert_eq!(check_module_docs(&rust("use a;\n//! late\n")).len(), 1);
        assert_eq!(
            check_module_docs(&rust("//!\n")).len(),
            1,
            "an empty line says nothing"
        );
        assert_eq!(check_module_docs(&rust("//! Says something.\n")), []);
    }

    #[test]
    fn a_file_of_501_lines_is_too_long_and_one_of_500_is_not() {
        assert_eq!(check_length(&rust(&"\n".repeat(501))).len(), 1);
        assert_eq!(check_length(&rust(&"\n".repeat(500))), []);
    }

    #[test]
    fn ignored_tests_and_unfinished_code_are_found_where_they_stand() {
        for word in UNFINISHED {
            let found = check_unfinished(&rust(&format!("fine\n    {word} \"later\")]\n")));
            assert_eq!(
                found
                    .iter()
                    .map(|violation| violation.line)
                    .collect::<Vec<_>>(),
                [Some(2)],
                "{word}"
            );
        }
        assert_eq!(
            check_unfinished(&[TextFile::new("docs/a.md", UNFINISHED[0])]),
            []
        );
    }

    #[test]
    fn a_sleep_in_a_test_needs_its_explanation() {
        for sleep in SLEEPS {
            assert_eq!(
                check_sleeps(&rust(&format!("    a.{sleep}x);\n"))).len(),
                1,
                "{sleep}"
            );
            assert_eq!(
                check_sleeps(&rust(&format!(
                    "    {sleep}x); {EXPLANATION}for a reason\n"
                ))),
                []
            );
            assert_eq!(
                check_sleeps(&rust(&format!(
                    "    {EXPLANATION}for a reason\n    {sleep}x);\n"
                ))),
                []
            );
            assert_eq!(
                check_sleeps(&rust(&format!(
                    "    {EXPLANATION}for a reason\n\n    {sleep}x);\n"
                )))
                .len(),
                1
            );
        }
    }

    #[test]
    fn a_sleep_outside_tests_is_not_this_checks_business() {
        assert_eq!(
            check_sleeps(&[TextFile::new("crates/a/src/lib.rs", SLEEPS[0])]),
            []
        );
    }
}
