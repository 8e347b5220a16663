//! Rule and case ids: the pages that list them, and the tests that must name them. It does not know what a rule says.

use std::collections::{BTreeMap, BTreeSet};

use crate::{TestCode, TextFile, Violation};

/// The pages whose tables list ids, with the status of each in the last column.
pub const PAGES: [&str; 2] = ["docs/invariants.md", "docs/cases.md"];
/// The status of what is not built yet; that of what the rules decide and nothing carries out yet; and that of what works.
const LATER: &str = "later";
const DECIDED: &str = "decided";
const BUILT: &str = "built";
/// The folder of the scripts that are run as tests.
const SCRIPTS: &str = "fixtures/core/";

/// Where an id is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed {
    path: String,
    line: usize,
    later: bool,
}

/// Ids listed by the pages.
#[derive(Debug, Default)]
pub struct Ids {
    listed: BTreeMap<String, Listed>,
    violations: Vec<Violation>,
}

impl Ids {
    /// Reads the tables of the pages. An id listed twice, or a row without a status, is a violation.
    #[must_use]
    pub fn read(files: &[TextFile]) -> Self {
        let mut ids = Self::default();
        for file in files
            .iter()
            .filter(|file| PAGES.contains(&file.path.as_str()))
        {
            for (number, line) in file.lines() {
                ids.read_row(file, number, line);
            }
        }
        ids
    }

    fn read_row(&mut self, file: &TextFile, number: usize, line: &str) {
        let Some(row) = line
            .strip_prefix('|')
            .and_then(|rest| rest.strip_suffix('|'))
        else {
            return;
        };
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [id, .., status] = cells[..] else { return };
        if !is_id(id) {
            return;
        }
        if !matches!(status, BUILT | DECIDED | LATER) {
            self.violations.push(Violation::at(
                &file.path,
                number,
                format!(
                    "the status of {id} is `{status}`, not `{BUILT}`, `{DECIDED}` or `{LATER}`"
                ),
            ));
        }
        let listed = Listed {
            path: file.path.clone(),
            line: number,
            later: status == LATER,
        };
        if let Some(first) = self.listed.insert(id.to_owned(), listed) {
            self.violations.push(Violation::at(
                &file.path,
                number,
                format!("{id} is listed before, in {}:{}", first.path, first.line),
            ));
        }
    }
}

/// Every listed id that is built, or at least decided, is named by a test.
#[must_use]
pub fn check_named(ids: &Ids, files: &[TextFile]) -> Vec<Violation> {
    let mut named = BTreeSet::new();
    // This crate's own tests use ids as planted input, which pins nothing.
    for (_, _, line) in TestCode::find(files)
        .lines()
        .filter(|(path, ..)| !path.starts_with("crates/tidy/"))
    {
        named.extend(named_in(line));
    }
    named.extend(cited_by_scripts(files).map(|(.., id)| id.to_owned()));
    let mut found = ids.violations.clone();
    let open = ids
        .listed
        .iter()
        .filter(|(id, listed)| !listed.later && !named.contains(*id));
    found.extend(open.map(|(id, listed)| {
        Violation::at(&listed.path, listed.line, format!("no test names {id}"))
    }));
    found
}

/// No source names a rule (as in "Rule O5a"), and no script an id, that no page lists.
#[must_use]
pub fn check_known(ids: &Ids, files: &[TextFile]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for (number, line) in file
            .lines()
            .filter(|(_, line)| line.trim_start().starts_with("//"))
        {
            for id in cited_in(line).filter(|id| !ids.listed.contains_key(*id)) {
                found.push(Violation::at(
                    &file.path,
                    number,
                    format!("rule {id} is in none of {}", PAGES.join(", ")),
                ));
            }
        }
    }
    let by_scripts = cited_by_scripts(files).filter(|(.., id)| !ids.listed.contains_key(*id));
    found.extend(by_scripts.map(|(path, line, id)| {
        Violation::at(
            path,
            line,
            format!("{id} is in none of {}", PAGES.join(", ")),
        )
    }));
    found
}

/// The ids in the comments of scripts, each with its place: what a script is about stands there.
fn cited_by_scripts(files: &[TextFile]) -> impl Iterator<Item = (&str, usize, &str)> {
    let scripts = files
        .iter()
        .filter(|file| file.path.starts_with(SCRIPTS) && file.path.ends_with(".txt"));
    let comments = scripts.flat_map(|file| {
        let lines = file.lines().filter(|(_, line)| line.starts_with('#'));
        lines.map(|(number, line)| (file.path.as_str(), number, line))
    });
    comments.flat_map(|(path, number, line)| {
        let ids = words(line).filter(|word| is_id(word));
        ids.map(move |id| (path, number, id))
    })
}

/// The ids a line of test code names: as words anywhere, or in lower case as a part of a function's name.
fn named_in(line: &str) -> Vec<String> {
    let mut ids: Vec<String> = words(line)
        .filter(|word| is_id(word))
        .map(str::to_owned)
        .collect();
    if let Some((_, rest)) = line.split_once("fn ") {
        let name = rest.split('(').next().unwrap_or_default();
        let candidates = name
            .split('_')
            .filter(|word| word.starts_with(|first: char| first.is_ascii_lowercase()));
        let ids_of_name = candidates.map(|word| word[..1].to_ascii_uppercase() + &word[1..]);
        ids.extend(ids_of_name.filter(|word| is_id(word)));
    }
    ids
}

/// The ids after "Rule" or "Rules" in a comment: one, or several with commas and "and" between them.
fn cited_in(line: &str) -> impl Iterator<Item = &str> {
    let after: Vec<&str> = line.split("Rule").skip(1).collect();
    after.into_iter().flat_map(|rest| {
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let parts = rest
            .split([' ', ','])
            .filter(|part| !matches!(*part, "" | "and" | "or"));
        parts
            .map(|part| part.trim_end_matches([':', '.', ')', ';']))
            .take_while(|part| is_id(part))
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_ascii_alphanumeric())
}

/// A capital letter, a number of one or two digits, perhaps a small letter: `O5a`, `C01`.
fn is_id(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(|first: char| first.is_ascii_uppercase()) else {
        return false;
    };
    let digits = rest.trim_end_matches(|last: char| last.is_ascii_lowercase());
    rest.len() - digits.len() <= 1
        && (1..=2).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "| id | rule | status |\n|---|---|---|\n| Q1 | one | built |\n| Q2a | two | built |\n| Q3 | three | later |\n";

    fn page(text: &str) -> TextFile {
        TextFile::new(PAGES[0], text)
    }

    fn messages(violations: &[Violation]) -> Vec<&str> {
        violations
            .iter()
            .map(|violation| violation.what.as_str())
            .collect()
    }

    #[test]
    fn a_decided_rule_that_no_test_names_is_found() {
        let ids = Ids::read(&[page(
            "| id | rule | status |\n|---|---|---|\n| Q1 | one | decided |\n",
        )]);
        assert_eq!(check_named(&ids, &[]).len(), 1);
    }

    #[test]
    fn a_built_rule_that_no_test_names_is_found() {
        let ids = Ids::read(&[page(PAGE)]);
        assert_eq!(
            messages(&check_named(&ids, &[])),
            ["no test names Q1", "no test names Q2a"]
        );
    }

    #[test]
    fn a_rule_counts_as_named_in_a_word_or_a_function_name_of_test_code_only() {
        let ids = Ids::read(&[page(PAGE)]);
        let test =
            |text: &str| check_named(&ids, &[TextFile::new("crates/a/tests/it.rs", text)]).len();
        assert_eq!(test("/// Rules Q1, Q2a.\n"), 0);
        assert_eq!(test("fn q2a_and_q1_hold() {\n"), 0);
        assert_eq!(test("let q1 = q2a;\n"), 2);
        assert_eq!(test("/// Q10 Q2 XQ1 Q2ab\n"), 2);
        let source = TextFile::new("crates/a/src/lib.rs", "/// Rule Q1, Q2a.\n");
        assert_eq!(check_named(&ids, &[source]).len(), 2);
    }

    #[test]
    fn a_rule_counts_as_named_in_a_comment_of_a_script_only() {
        let ids = Ids::read(&[page(PAGE)]);
        let script = |path: &str, text: &str| check_named(&ids, &[TextFile::new(path, text)]).len();
        assert_eq!(script("fixtures/core/a/b.txt", "# Q1, Q2a: as said.\n"), 0);
        assert_eq!(
            script("fixtures/core/a/b.txt", "Q1 joins\n----\nQ2a: OK\n"),
            2
        );
        assert_eq!(script("fixtures/other/b.txt", "# Q1, Q2a.\n"), 2);
    }

    #[test]
    fn a_rule_that_a_script_cites_and_no_page_lists_is_found() {
        let ids = Ids::read(&[page(PAGE)]);
        let script = TextFile::new("fixtures/core/a/b.txt", "# Q1, Q9: as said.\nQ8 joins\n");
        let found: Vec<String> = check_known(&ids, &[script])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            found,
            ["fixtures/core/a/b.txt:1: Q9 is in none of docs/invariants.md, docs/cases.md"]
        );
    }

    #[test]
    fn correction_rules_and_cases_are_told_apart_by_their_digits() {
        let ids = Ids::read(&[page("| C1 | one | built |\n| C01 | two | built |\n")]);
        let test = TextFile::new("crates/a/tests/it.rs", "/// C1\n");
        assert_eq!(messages(&check_named(&ids, &[test])), ["no test names C01"]);
    }

    #[test]
    fn an_id_listed_twice_and_a_row_without_status_are_found() {
        let ids = Ids::read(&[page(
            "| Q3 | three | later |\n| Q3 | again | later |\n| Q4 | four | soon |\n| Q5 | later |\n",
        )]);
        let found = check_named(&ids, &[TextFile::new("a/tests/b.rs", "Q4")]);
        assert_eq!(
            messages(&found),
            [
                "Q3 is listed before, in docs/invariants.md:1",
                "the status of Q4 is `soon`, not `built`, `decided` or `later`"
            ]
        );
    }

    #[test]
    fn a_cited_rule_that_no_page_lists_is_found() {
        let ids = Ids::read(&[page(PAGE)]);
        let source =
            |text: &str| check_known(&ids, &[TextFile::new("crates/a/src/lib.rs", text)]).len();
        // In two pieces, so that this file does not itself cite unknown rules.
        let rule = concat!("/// Ru", "le");
        assert_eq!(
            source(&format!(
                "{rule} Q1: fine.\n{rule}s Q1, Q2a and Q3 too.\n{rule} of thumb\n"
            )),
            0
        );
        assert_eq!(source(&format!("{rule} Q9: unknown.\n")), 1);
        assert_eq!(source(&format!("{rule}s Q1, Q8 and Q9.\n")), 2);
    }
}
