//! Texts that are kept in files. `REWRITE=1` writes the files anew.

use std::path::PathBuf;

use super::{Ctl, Done};

/// The folder of a kind of snapshots.
pub(crate) fn folder(kind: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots")).join(kind)
}

/// Compares a text with the one that is kept.
#[track_caller]
pub(crate) fn compare(kind: &str, name: &str, text: &str) {
    let path = folder(kind).join(name);
    if std::env::var_os("REWRITE").is_some() {
        std::fs::create_dir_all(folder(kind)).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        text, kept,
        "{kind}/{name} differs: is that wanted? REWRITE=1 keeps it"
    );
}

/// What was said to the program, and everything that it answered.
#[derive(Default)]
pub(crate) struct Session(String);

impl Session {
    /// Runs a line and writes down how that went.
    pub(crate) async fn run(&mut self, ctl: &Ctl, line: &str) -> Done {
        let done = ctl.run(line).await;
        self.note(ctl, line, &done);
        done
    }

    /// Writes down how a line went.
    pub(crate) fn note(&mut self, ctl: &Ctl, line: &str, done: &Done) {
        let line = ctl.normal(line);
        let Done { code, out, err } = done;
        self.0.push_str(&format!("$ coordctl {line}{out}"));
        let errors = err.lines().map(|line| format!("! {line}\n"));
        self.0.extend(errors);
        if *code != 0 {
            self.0.push_str(&format!("exit {code}\n"));
        }
        self.0.push('\n');
    }

    /// Says what happens beside the program.
    pub(crate) fn meanwhile(&mut self, what: &str) {
        self.0.push_str(&format!("# {what}\n\n"));
    }

    /// Compares all of it with what is kept under a name.
    #[track_caller]
    pub(crate) fn compare(&self, name: &str) {
        compare("sessions", &format!("{name}.txt"), &self.0);
    }
}
