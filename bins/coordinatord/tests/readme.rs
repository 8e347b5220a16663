//! The transcripts of the README: each `curl` in it is run against the built coordinator, and must print what the README says it prints.
//! The Rust examples are compiled elsewhere, as documentation tests.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The address that the README's commands speak to.
const PRINTED_ADDRESS: &str = "127.0.0.1:8080";

/// A coordinator in memory on a free port; ends with the test.
struct Coordinator {
    process: Child,
    address: String,
}

impl Coordinator {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_coordinatord"))
            .args(["--listen", "127.0.0.1:0"])
            .env_clear()
            .env("RUST_LOG", "off")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the coordinator is built");
        let stdout = process.stdout.take().expect("its output is piped");
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("it says where it listens");
        let address = line.trim().rsplit("http://").next().unwrap_or_default();
        let address = address.to_owned();
        Self { process, address }
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        // It may have ended by itself, and the test has failed then.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A command and what it prints.
#[derive(Debug, PartialEq, Eq)]
struct Exchange {
    command: String,
    printed: String,
}

/// The commands with `curl` in the console blocks of a page, in order.
fn exchanges(page: &str) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut in_console = false;
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            in_console = !in_console && language == "console";
        } else if !in_console {
        } else if let Some(command) = line.strip_prefix("$ ") {
            found.push(Exchange {
                command: command.to_owned(),
                printed: String::new(),
            });
        } else if let Some(last) = found.last_mut() {
            last.printed.push_str(line);
            last.printed.push('\n');
        }
    }
    found.retain(|exchange| exchange.command.starts_with("curl "));
    found
}

/// What a command prints, its last line ended.
fn run(command: &str) -> String {
    let output = Command::new("bash")
        .args(["-c", command])
        .output()
        .expect("bash is installed");
    assert!(
        output.status.success(),
        "{command} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let printed = String::from_utf8(output.stdout).expect("it prints text");
    format!("{}\n", printed.trim_end_matches('\n'))
}

#[test]
fn the_transcripts_of_the_readme_are_what_is_really_printed() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("there is a README");
    let exchanges = exchanges(&readme);
    assert!(exchanges.len() >= 7, "commands are missing: {exchanges:#?}");
    let coordinator = Coordinator::start();
    for Exchange { command, printed } in exchanges {
        assert!(
            command.contains(PRINTED_ADDRESS),
            "{command} speaks to somebody else"
        );
        let really = run(&command.replace(PRINTED_ADDRESS, &coordinator.address));
        assert_eq!(really, printed, "{command}");
    }
}

#[test]
fn only_commands_with_curl_in_console_blocks_are_taken() {
    let page = "```console\n$ cargo build\n$ curl one\n{\"a\": 1}\nmore\n$ curl two\n```\n$ curl three\n```text\n$ curl four\n```\n";
    let exchange = |command: &str, printed: &str| Exchange {
        command: command.to_owned(),
        printed: printed.to_owned(),
    };
    assert_eq!(
        exchanges(page),
        [
            exchange("curl one", "{\"a\": 1}\nmore\n"),
            exchange("curl two", "")
        ]
    );
}
