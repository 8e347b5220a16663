//! The tables of the page on configuration, made from the program: flags, variables and help from the command line, defaults from the
//! configuration, the rest from a list that stands beside them. `REWRITE=1` writes them anew. No part of the program that runs.

mod settings;

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Arg, CommandFactory};

use crate::cli::Cli;
use crate::config::{Config, UserEntry};
use settings::{NOT_IN_FILE, SETTINGS, Setting, USER_FIELDS};

/// The flags there are, in the order of the help.
fn arguments() -> Vec<Arg> {
    let command = Cli::command();
    let own = command
        .get_arguments()
        .filter(|argument| argument.get_id() != "help" && argument.get_id() != "version");
    own.cloned().collect()
}

fn argument_of(setting: &Setting) -> Arg {
    let arguments = arguments().into_iter();
    let mut named = arguments.filter(|argument| flag(argument) == setting.flag);
    named
        .next()
        .unwrap_or_else(|| panic!("{} is no flag", setting.flag))
}

fn flag(argument: &Arg) -> String {
    format!(
        "--{}",
        argument.get_long().expect("every flag has a long name")
    )
}

/// The default that the configuration starts with.
fn real_default(setting: &Setting) -> Option<String> {
    let defaults = toml::Table::try_from(Config::default()).expect("defaults can be written");
    let value = defaults.get(setting.flag.trim_start_matches("--"))?;
    Some(match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(list) => {
            let texts: Vec<_> = list.iter().filter_map(toml::Value::as_str).collect();
            texts.join(",")
        }
        other => other.to_string(),
    })
}

/// The default that the help tells.
fn told_default(argument: &Arg) -> Option<String> {
    let help = argument
        .get_help()
        .expect("every flag has a help")
        .to_string();
    let (_, rest) = help.rsplit_once("[default: ")?;
    Some(rest.strip_suffix(']')?.to_owned())
}

fn quoted(text: Option<&str>) -> String {
    text.map_or("–".to_owned(), |text| format!("`{text}`"))
}

fn row(setting: &Setting) -> String {
    let argument = argument_of(setting);
    let variable = argument.get_env().and_then(|name| name.to_str());
    let default = real_default(setting).or_else(|| told_default(&argument));
    format!(
        "| `{}` | {} | {} | {} | {} |\n",
        setting.flag,
        quoted(variable),
        quoted(default.as_deref()),
        setting.form,
        setting.meaning
    )
}

fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    let columns = head.matches(" | ").count() + 1;
    let rule = "|---".repeat(columns);
    format!("{head}\n{rule}|\n{}", rows.collect::<String>())
}

/// The tables by the names of their marks.
fn tables() -> [(&'static str, String); 4] {
    let head = "| flag | environment | default | unit or form | meaning, and what is refused |";
    let all = SETTINGS.iter().chain(NOT_IN_FILE);
    let refused = all.flat_map(|setting| setting.refused);
    let refused = refused.map(|(arguments, says)| format!("| `{arguments}` | `{says}` |\n"));
    let users = USER_FIELDS
        .iter()
        .map(|(name, form, meaning)| format!("| `{name}` | {form} | {meaning} |\n"));
    [
        ("settings", table(head, SETTINGS.iter().map(row))),
        (
            "users",
            table("| field | form | meaning, and what is refused |", users),
        ),
        ("not-in-file", table(head, NOT_IN_FILE.iter().map(row))),
        ("refused", table("| arguments | message |", refused)),
    ]
}

/// The page with the tables between their marks.
fn with_tables(page: &str) -> String {
    let mut page = page.to_owned();
    for (name, table) in tables() {
        let start = format!("<!-- {name}: generated -->\n");
        let (before, rest) = page
            .split_once(&start)
            .unwrap_or_else(|| panic!("no {start}"));
        let (_, after) = rest.split_once("<!-- end -->").expect("a mark has an end");
        page = format!("{before}{start}{table}<!-- end -->{after}");
    }
    page
}

#[test]
fn the_tables_of_the_page_are_those_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = std::fs::read_to_string(&path).expect("there is a page on configuration");
    let right = with_tables(&page);
    if std::env::var_os("REWRITE").is_some() {
        std::fs::write(&path, right).expect("the page can be written");
        return;
    }
    assert!(
        page == right,
        "docs/configuration.md is not of this program: run this test with REWRITE=1"
    );
}

#[test]
fn every_flag_is_told_once_and_in_the_order_of_the_help() {
    let told = SETTINGS.iter().chain(NOT_IN_FILE);
    let told = told.map(|setting| setting.flag.to_owned());
    let told: Vec<String> = told.collect();
    let real: Vec<_> = arguments().iter().map(flag).collect();
    assert_eq!(told, real);
}

#[test]
fn the_help_tells_the_defaults_that_are_real() {
    for setting in SETTINGS {
        if let Some(real) = real_default(setting) {
            assert_eq!(
                told_default(&argument_of(setting)),
                Some(real),
                "{}",
                setting.flag
            );
        }
    }
}

#[test]
fn all_keys_of_the_file_are_told() {
    // Each flag but those that are not in the file is a key, and the users are the only key that is no flag.
    let message = toml::from_str::<Config>("nothing = 1").expect_err("there is no such key");
    let message = message.message().to_owned();
    let known: BTreeSet<_> = message.split('`').skip(3).step_by(2).collect();
    let flags = SETTINGS
        .iter()
        .map(|setting| setting.flag.trim_start_matches("--"));
    assert_eq!(known, flags.chain(["users"]).collect());
    let user = UserEntry {
        name: String::new(),
        password_hash: String::new(),
        roles: Vec::new(),
    };
    let fields = toml::Table::try_from(&user).expect("a user can be written");
    let told: BTreeSet<_> = USER_FIELDS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(
        fields.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        told
    );
}
