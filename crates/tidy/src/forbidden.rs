//! Text that may stand in no file: paths of one particular machine. It reads text files of every kind.

use crate::{TextFile, Violation};

/// Written in two pieces, so that this file does not contain what it looks for.
const FORBIDDEN: [&str; 3] = [
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("../sh", "ared"),
];

/// No file names a folder of the machine it was written on.
#[must_use]
pub fn check(files: &[TextFile]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files {
        for (number, line) in file.lines() {
            for text in FORBIDDEN.iter().filter(|text| line.contains(*text)) {
                found.push(Violation::at(
                    &file.path,
                    number,
                    format!("`{text}` means nothing on another machine"),
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_forbidden_text_is_found_in_any_kind_of_file() {
        for text in FORBIDDEN {
            let found = check(&[TextFile::new("docs/a.md", format!("fine\nsee {text}\n"))]);
            assert_eq!(
                found
                    .iter()
                    .map(|violation| violation.line)
                    .collect::<Vec<_>>(),
                [Some(2)]
            );
        }
        assert_eq!(
            check(&[TextFile::new(
                "docs/a.md",
                "a working network/ and shared roots"
            )]),
            []
        );
    }
}
