//! The page on configuration against the program: its flags, variables, keys of the file, defaults and refusals are the real ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

/// What is known of one flag.
#[derive(Debug, Default, PartialEq, Eq)]
struct Flag {
    variable: Option<String>,
    default: Option<String>,
}

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    std::fs::read_to_string(page).expect("there is a page on configuration")
}

fn coordinatord(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coordinatord"))
        .env_clear()
        .args(arguments)
        .output()
        .expect("the coordinator is built")
}

fn stdout(arguments: &[&str]) -> String {
    let output = coordinatord(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("it prints text")
}

/// The rows of the page's table below a heading, as cells without their quotes.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, section) = page.split_once(heading).expect("the page has the heading");
    let section = section.split("\n## ").next().unwrap_or(section);
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"))
        .map(|row| {
            row.split(" | ")
                .map(|cell| cell.trim().trim_matches('`'))
                .collect()
        })
        .collect()
}

/// What stands between two marks in a text.
fn between(text: &str, from: &str, to: &str) -> Option<String> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0.to_owned())
}

/// The flags that the program knows, as its help tells them.
fn flags_of_help(help: &str) -> BTreeMap<String, Flag> {
    let (_, options) = help.split_once("Options:").expect("there are options");
    let is_start = |line: &&str| {
        line.trim_start().starts_with("--")
            || line.trim_start().starts_with("-h,")
            || line.trim_start().starts_with("-V,")
    };
    let mut flags = BTreeMap::new();
    let lines: Vec<&str> = options.lines().collect();
    let starts: Vec<usize> = (0..lines.len())
        .filter(|at| is_start(&lines[*at]))
        .collect();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        let name = lines[*start]
            .split_whitespace()
            .find(|word| word.starts_with("--"));
        let name = name.expect("every flag has a long name");
        let name = name.trim_start_matches("--").trim_end_matches([',', '[']);
        let text = lines[*start..end]
            .iter()
            .map(|line| line.trim())
            .collect::<Vec<_>>()
            .join(" ");
        let variable = between(&text, "[env: ", "]");
        let flag = Flag {
            variable: variable.map(|text| text.split('=').next().unwrap_or_default().to_owned()),
            default: between(&text, "[default: ", "]"),
        };
        flags.insert(name.to_owned(), flag);
    }
    flags.retain(|name, _| name != "help" && name != "version");
    flags
}

#[test]
fn every_flag_stands_on_the_page_with_its_variable_and_default() {
    let page = page();
    let some = |cell: &str| (cell != "–").then(|| cell.to_owned());
    let told: BTreeMap<String, Flag> = rows(&page, "## Settings")
        .into_iter()
        .chain(rows(&page, "## What is not in the file"))
        .map(|cells| {
            let [flag, variable, default, ..] = cells[..] else {
                panic!("a row is too short: {cells:?}");
            };
            let flag_name = flag.trim_start_matches("--").to_owned();
            let (variable, default) = (some(variable), some(default));
            (flag_name, Flag { variable, default })
        })
        .collect();
    let real = flags_of_help(&stdout(&["--help"]));
    assert!(real.len() > 15, "the help was not understood: {real:?}");
    assert_eq!(told, real);
}

#[test]
fn the_keys_of_the_file_are_the_flags_and_start_with_the_defaults_told() {
    let printed: toml::Table = stdout(&["--print-config"]).parse().expect("it prints TOML");
    let page = page();
    let told: BTreeMap<&str, &str> = rows(&page, "## Settings")
        .into_iter()
        .map(|cells| (cells[0].trim_start_matches("--"), cells[2]))
        .collect();
    for (key, value) in &printed {
        let default = told.get(key.as_str()).copied();
        let value = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Array(list) if list.len() == 1 => {
                list[0].as_str().unwrap_or_default().to_owned()
            }
            other => other.to_string(),
        };
        if key == "admin-password" {
            assert_eq!(value, "***", "a secret is printed");
        } else {
            assert_eq!(default, Some(value.as_str()), "{key}");
        }
    }
    let unset: Vec<&str> = told
        .keys()
        .copied()
        .filter(|key| !printed.contains_key(*key))
        .collect();
    assert_eq!(
        unset,
        [
            "admin-password-hash",
            "coordinator-id",
            "streams",
            "tls-cert",
            "tls-client-auth",
            "tls-client-ca",
            "tls-key",
            "token-secret",
            "users-file",
        ]
    );
}

/// Rule H21: what cannot work is refused at the start, and the page says in which words.
#[test]
fn h21_the_refusals_on_the_page_are_the_real_ones() {
    let page = page();
    let refusals = rows(&page, "## What is refused");
    assert!(refusals.len() > 8, "refusals are missing");
    for cells in refusals {
        let [arguments, message, ..] = cells[..] else {
            panic!("a row is too short: {cells:?}");
        };
        let mut words: Vec<&str> = arguments.split(' ').collect();
        words.push("--check-config");
        let output = coordinatord(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(
            said.contains(message),
            "{arguments}: {said:?} should say {message:?}"
        );
    }
}

#[test]
fn the_example_files_on_the_page_are_accepted() {
    let page = page();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("configuration-example.toml");
    let files: Vec<_> = page.split("```toml\n").skip(1).collect();
    assert_eq!(files.len(), 2, "the page shows files");
    for file in files {
        let (file, _) = file.split_once("```").expect("a file has an end");
        std::fs::write(&path, file).expect("the folder for tests can be written");
        let path = path.to_str().expect("the path is text");
        let printed = stdout(&["--config", path, "--check-config"]);
        assert!(
            printed.starts_with("the configuration is valid"),
            "{printed}"
        );
    }
}

#[test]
fn a_mistake_in_the_file_is_told_with_the_file_and_the_setting() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("configuration-mistaken.toml");
    let path = path.to_str().expect("the path is text");
    for (text, message) in [
        (
            "listn = \"127.0.0.1:9000\"",
            "there is no setting listn; there are listen, store,",
        ),
        (
            "member-lease-ttl = 30",
            "member-lease-ttl: invalid type: found signed int `30`",
        ),
        (
            "member-lease-ttl = \"30 x\"",
            "member-lease-ttl: \"30 x\" is not a duration",
        ),
        (
            "[[users]]\nname = \"ann\"\npassword-hash = \"x\"\nroles = \"READ\"",
            "users[0].roles: invalid type: found string \"READ\"",
        ),
        (
            "[[users]]\nname = \"ann\"\npasswort = \"x\"\n",
            "users[0]: there is no setting passwort; there are name, password-hash, roles",
        ),
        (
            "listen = \"x\"\nadmin-password = \"hunter2",
            "TOML parse error at line 2, column 26: invalid basic string",
        ),
    ] {
        std::fs::write(path, text).expect("the folder for tests can be written");
        let output = coordinatord(&["--config", path]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}: {said}");
        let start = format!("coordinatord: {path}: {message}");
        assert!(
            said.starts_with(&start),
            "{said:?} should begin with {start:?}"
        );
        assert!(!said.contains("hunter2"), "{said:?}");
    }
}

#[test]
fn a_log_that_nobody_sees_on_a_terminal_has_no_colours() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it listens").to_string();
    let output = coordinatord(&["--listen", &address]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("WARN") && !said.contains('\u{1b}'),
        "{said:?}"
    );
}
