//! The help of every command is the one that is kept in a file. `REWRITE=1` writes the files anew.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::{compare, folder};

fn help(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_coordctl"))
        .args(words)
        .arg("--help")
        .env_clear()
        .output()
        .unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

/// The commands below one, as its help lists them.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Every command with its help, the ones that have commands below them included.
fn all() -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(words) = open.pop() {
        let text = help(&words.iter().map(String::as_str).collect::<Vec<_>>());
        for name in commands(&text) {
            let below = words.iter().cloned().chain([name]);
            open.push(below.collect());
        }
        found.push((words, text));
    }
    found
}

#[test]
fn the_help_of_every_command_is_the_one_that_was_agreed_on() {
    let mut names = BTreeSet::new();
    for (words, text) in all() {
        let name = ["coordctl".to_owned()].into_iter().chain(words);
        let name = name.collect::<Vec<_>>().join("-") + ".txt";
        compare("help", &name, &text);
        names.insert(name);
    }
    for entry in std::fs::read_dir(folder("help")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&name), "{name} is of no command");
    }
    assert!(names.len() >= 27, "commands are missing: {names:?}");
}
