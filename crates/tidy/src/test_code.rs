//! Which lines of the repository are test code: files in `tests` folders, files named `tests.rs`, modules behind
//! `#[cfg(test)]` (inline or in files of their own). It goes by text and relies on rustfmt's indentation.

use std::collections::BTreeSet;

use crate::TextFile;

/// The test code of a set of files.
#[derive(Debug)]
pub struct TestCode<'a> {
    parts: Vec<TestPart<'a>>,
}

#[derive(Debug)]
struct TestPart<'a> {
    path: &'a str,
    lines: Vec<(usize, &'a str)>,
}

impl<'a> TestCode<'a> {
    /// Finds the test code among `files`.
    #[must_use]
    pub fn find(files: &'a [TextFile]) -> Self {
        let modules: BTreeSet<String> = files
            .iter()
            .filter(|file| file.is_rust())
            .flat_map(test_module_files)
            .collect();
        let parts = files
            .iter()
            .filter(|file| file.is_rust())
            .map(|file| TestPart {
                path: &file.path,
                lines: if is_test_path(&file.path) || is_below(&file.path, &modules) {
                    file.lines().collect()
                } else {
                    inline_test_modules(file)
                },
            });
        Self {
            parts: parts.filter(|part| !part.lines.is_empty()).collect(),
        }
    }

    /// Every line of test code: path, line number, text.
    pub fn lines(&self) -> impl Iterator<Item = (&'a str, usize, &'a str)> {
        self.parts.iter().flat_map(|part| {
            part.lines
                .iter()
                .map(|&(number, text)| (part.path, number, text))
        })
    }
}

fn is_test_path(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// `modules` holds both `a/b.rs` and `a/b/`, for the file and for what is below the module's folder.
fn is_below(path: &str, modules: &BTreeSet<String>) -> bool {
    modules
        .iter()
        .any(|module| path == module || (module.ends_with('/') && path.starts_with(module)))
}

fn test_module_files(file: &TextFile) -> Vec<String> {
    let folder = match file.path.rsplit_once('/') {
        Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder,
        _ => file.path.trim_end_matches(".rs"),
    };
    let declared = gated_items(file).filter_map(|(_, item)| module_name(item)?.strip_suffix(';'));
    declared
        .flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/")])
        .collect()
}

fn inline_test_modules(file: &TextFile) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    for (start, item) in gated_items(file) {
        if module_name(item).is_some_and(|rest| rest.ends_with('{')) {
            let indent = &item[..item.len() - item.trim_start().len()];
            let end = format!("{indent}}}");
            lines.extend(
                file.lines()
                    .skip(start - 1)
                    .take_while(|(_, line)| *line != end),
            );
        }
    }
    lines
}

/// The items behind `#[cfg(test)]`: line number and text of the first line that is not an attribute.
fn gated_items(file: &TextFile) -> impl Iterator<Item = (usize, &str)> {
    file.lines()
        .filter(|(_, line)| line.trim() == "#[cfg(test)]")
        .filter_map(|(number, _)| {
            file.lines()
                .skip(number)
                .find(|(_, line)| !line.trim_start().starts_with("#["))
        })
}

/// `name;` or `name {` of a line that opens or declares a module.
fn module_name(item: &str) -> Option<&str> {
    let item = item.trim();
    let item = item
        .strip_prefix("pub ")
        .or_else(|| item.strip_prefix("pub(crate) "))
        .unwrap_or(item);
    item.strip_prefix("mod ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(files: &[TextFile]) -> Vec<(&str, usize)> {
        TestCode::find(files)
            .lines()
            .map(|(path, line, _)| (path, line))
            .collect()
    }

    #[test]
    fn an_inline_module_is_test_code_up_to_its_closing_brace() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        let files = [TextFile::new("crates/a/src/lib.rs", text)];
        assert_eq!(
            lines_of(&files),
            [3, 4, 5].map(|line| ("crates/a/src/lib.rs", line))
        );
    }

    #[test]
    fn a_module_in_a_file_of_its_own_is_test_code_as_a_whole() {
        let files = [
            TextFile::new(
                "crates/a/src/lib.rs",
                "#[cfg(test)]\n#[allow(x)]\nmod scripts;\nmod other;\n",
            ),
            TextFile::new("crates/a/src/scripts.rs", "one\n"),
            TextFile::new("crates/a/src/scripts/deep.rs", "two\n"),
            TextFile::new("crates/a/src/other.rs", "#[cfg(test)]\nmod inner;\n"),
            TextFile::new("crates/a/src/other/inner.rs", "three\n"),
        ];
        let expected = ["scripts.rs", "scripts/deep.rs", "other/inner.rs"]
            .map(|name| format!("crates/a/src/{name}"));
        assert_eq!(
            lines_of(&files),
            expected.each_ref().map(|path| (path.as_str(), 1))
        );
    }

    #[test]
    fn files_in_tests_folders_and_files_named_tests_are_test_code() {
        let files = [
            TextFile::new("crates/a/tests/it.rs", "one\n"),
            TextFile::new("crates/a/src/tests.rs", "two\n"),
            TextFile::new("crates/a/src/latests.rs", "three\n"),
        ];
        assert_eq!(
            lines_of(&files),
            [("crates/a/tests/it.rs", 1), ("crates/a/src/tests.rs", 1)]
        );
    }
}
