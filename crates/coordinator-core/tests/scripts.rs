//! Runs the scripts in `fixtures/core`, one test each. With `REWRITE=1` it writes down what comes of them instead of comparing; whoever does that
//! reads what was written.

mod script;

use std::path::{Path, PathBuf};
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};
use script::Script;

const FOLDERS: [&str; 4] = ["assignment", "correction", "membership", "migration"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/core");
    let mut trials = Vec::new();
    for folder in FOLDERS {
        let found = scripts_in(&root.join(folder));
        trials.push(Trial::test(format!("{folder}_has_scripts"), {
            let count = found.len();
            move || ensure(count > 0, "there is none")
        }));
        trials.extend(found.into_iter().map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            Trial::test(format!("{folder}/{name}"), move || run(&path))
        }));
    }
    trials.extend(checks_of_the_checks());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn scripts_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut scripts: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "txt"))
        .collect();
    scripts.sort();
    scripts
}

fn run(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let script = Script::read(&text)?;
    if env::var_os("REWRITE").is_some_and(|value| value == "1") {
        fs::write(path, script.rewrite()?)?;
        return Ok(());
    }
    script
        .check()
        .map_err(|error| format!("{}: {error}", path.display()).into())
}

fn ensure(is_so: bool, otherwise: impl Into<String>) -> Result<(), Failed> {
    if is_so {
        Ok(())
    } else {
        Err(otherwise.into().into())
    }
}

const HEADER: &str = "# H7: a member joins.\n";
const JOIN: &str = "group shards=1\na joins\n----\n";
const JOINED: &str = "a: OK epoch=1 version=2 assigned=0\n  group RECONCILING epoch=1 version=2 shards=1\n  a ACTIVE epoch=1 seen=0 holds=0:granted@2 target=0 lease=15s\n";

/// Scripts that must fail do, and say where.
fn checks_of_the_checks() -> Vec<Trial> {
    let fails = |name: &str, text: String, message: &'static str| {
        Trial::test(name, move || {
            let outcome = Script::read(&text).and_then(|script| script.check());
            let found = outcome.map_or_else(|error| error.to_string(), |()| "nothing".to_owned());
            ensure(found == message, format!("found: {found}\nnot: {message}"))
        })
    };
    vec![
        Trial::test("a_right_script_is_accepted", || {
            Ok(Script::read(&format!("{HEADER}{JOIN}{JOINED}"))?.check()?)
        }),
        Trial::test("a_wrong_expectation_is_written_anew", || {
            let wrong = Script::read(&format!("{HEADER}{JOIN}wrong\n\n# The end.\n"))?;
            let rewritten = wrong.rewrite()?;
            let expected = format!("{HEADER}{JOIN}{JOINED}\n# The end.\n");
            ensure(rewritten == expected, rewritten)
        }),
        fails(
            "a_wrong_script_fails_with_a_line_and_a_difference",
            format!("{HEADER}{JOIN}{}", JOINED.replace("lease=15s", "lease=14s")),
            "line 3: something else comes of it:\n  a: OK epoch=1 version=2 assigned=0\n    group RECONCILING epoch=1 version=2 shards=1\n-   a ACTIVE epoch=1 seen=0 holds=0:granted@2 target=0 lease=14s\n+   a ACTIVE epoch=1 seen=0 holds=0:granted@2 target=0 lease=15s\n",
        ),
        fails(
            "an_unknown_command_is_named_with_its_line",
            format!("{HEADER}group\nnonsense\n----\n"),
            "line 3: `nonsense` is no command, and what it does is missing",
        ),
        fails(
            "an_unknown_argument_is_named_with_its_line",
            format!("{HEADER}group shards=1 leash=3s\n----\n"),
            "line 2: `leash=` means nothing here",
        ),
        fails(
            "a_command_without_dashes_is_named_with_its_line",
            format!("{HEADER}group\n\na joins\n----\n"),
            "line 2: no `----` follows `group`",
        ),
        fails(
            "a_script_says_what_it_is_about",
            "# Something.\ngroup\n----\n".to_owned(),
            "line 1: the header names no rule or case",
        ),
        fails(
            "a_script_is_short",
            format!("{HEADER}{}", "\n".repeat(149)),
            "line 150: a script has under 150 lines, this one has 150",
        ),
    ]
}
