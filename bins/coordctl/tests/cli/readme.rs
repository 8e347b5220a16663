//! The README's session: its commands are ones that the program takes.

use std::collections::BTreeSet;

use crate::support::{Ctl, folder};

/// The lines of `coordctl` in the console blocks of a page, each as its words.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut in_console = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            in_console = !in_console && language == "console";
        } else if in_console && let Some(command) = line.strip_prefix("$ coordctl ") {
            found.push(words(command));
        }
    }
    found
}

/// A line's words, where what stands between quotes is one.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// A command line that is taken is one that is then asked: with nobody there that ends with 6.
#[tokio::test]
async fn every_command_of_the_readme_is_one_that_is_taken() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let commands = commands(&readme);
    let named: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
    for part in [
        "stream create ",
        "group list",
        "group show ",
        "members ",
        "assignments ",
        "shards ",
        "lag ",
        "stream scale orders 6 --execute",
        "migration show ",
        "stream delete orders --execute",
        "audit",
        "health",
    ] {
        let is_there = named.iter().any(|line| line.contains(part));
        assert!(is_there, "{part} is not in the session: {named:#?}");
    }
    let ctl = Ctl::at("http://127.0.0.1:1").with("COORDCTL_PASSWORD", "admin");
    for words in commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = ctl.words(&words).await;
        assert_eq!(done.code, 6, "{words:?}: {done:?}");
    }
}

/// A text without its numbers and without how far apart its columns stand.
fn plain(line: &str) -> String {
    let squeezed = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let digits = |letter: char| if letter.is_ascii_digit() { 'N' } else { letter };
    squeezed.chars().map(digits).collect()
}

/// Headings of tables and what plans say in sentences: they do not depend on what was done.
fn fixed(page: &str) -> Vec<String> {
    let is_heading = |line: &str| {
        let words = line.split_whitespace();
        words.clone().count() > 2
            && words
                .flat_map(str::chars)
                .all(|letter| letter.is_ascii_uppercase() || letter == '-')
    };
    let session = page.split("### From a terminal").nth(1).unwrap_or_default();
    let session = session.split("\n### ").next().unwrap_or_default();
    let lines = session.lines();
    let fixed = lines.filter(|line| {
        let said = ["note: ", "Nothing was changed"];
        is_heading(line) || said.iter().any(|word| line.starts_with(word))
    });
    fixed.map(plain).collect()
}

/// A session that was printed once is one that would be printed today: what is fixed in it stands in the sessions that are compared with each run.
#[test]
fn what_the_readme_shows_is_what_is_printed_today() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let fixed = fixed(&std::fs::read_to_string(readme).unwrap());
    assert!(fixed.len() > 15, "{fixed:#?}");
    let mut printed = BTreeSet::new();
    for entry in std::fs::read_dir(folder("sessions")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        printed.extend(text.lines().map(plain));
    }
    for line in fixed {
        assert!(printed.contains(&line), "{line}");
    }
}

#[test]
fn only_commands_in_console_blocks_are_taken_and_quotes_keep_words_together() {
    let page = "```console\n$ coordctl a --b \"c d\"\nprinted\n$ curl one\n```\n$ coordctl two\n```text\n$ coordctl three\n```\n";
    assert_eq!(commands(page), [["a", "--b", "c d"]]);
}
