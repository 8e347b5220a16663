//! Reads passwords: from standard input, the environment, or the terminal without echo. Never from the command line.

use std::env;
use std::io::{self, BufRead, IsTerminal};
use std::os::fd::AsFd;

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

use crate::failure::Failure;

/// Where a user's password may stand.
const PASSWORD_VARIABLE: &str = "COORDCTL_PASSWORD";

/// Where a password is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The first line of standard input.
    Stdin,
    /// The environment; else the terminal.
    EnvironmentOrTerminal,
}

/// A password that exists.
pub(crate) fn password(source: Source, prompt: &str) -> Result<String, Failure> {
    match source {
        Source::Stdin => first_line(),
        Source::EnvironmentOrTerminal => match env::var(PASSWORD_VARIABLE) {
            Ok(password) => Ok(password),
            Err(_) => ask(
                prompt,
                "give --password-stdin, COORDCTL_PASSWORD, or a token",
            ),
        },
    }
}

/// A new password: from standard input, or twice from the terminal.
pub(crate) fn new_password(stdin: bool) -> Result<String, Failure> {
    let password = if stdin {
        first_line()?
    } else {
        let first = ask("New password: ", "give --stdin")?;
        if ask("The same again: ", "give --stdin")? != first {
            return Err(Failure::usage(
                "the two passwords differ",
                "begin again; nothing was printed",
            ));
        }
        first
    };
    if password.is_empty() {
        return Err(Failure::usage(
            "the password is empty",
            "anybody could guess it: give one",
        ));
    }
    Ok(password)
}

/// The name of a user, asked on the terminal.
pub(crate) fn user() -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(
            "who is to log in is not said, and there is no terminal to ask",
            "give --user NAME",
        ));
    }
    eprint!("User: ");
    first_line()
}

fn ask(prompt: &str, instead: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(
            "there is no terminal to ask for the password",
            instead,
        ));
    }
    // Before it is asked for: whoever types at once is not shown what is typed.
    let answer = silently(io::stdin(), || rpassword::prompt_password(prompt));
    answer.map_err(|source| Failure::Io {
        what: "could not read the password from the terminal".to_owned(),
        source,
    })
}

/// Does something while a terminal shows nothing of what is typed.
fn silently<T>(terminal: impl AsFd, doing: impl FnOnce() -> T) -> T {
    let silent = Silent::begin(&terminal);
    let done = doing();
    drop(silent);
    done
}

/// A terminal that shows nothing of what is typed, until this value is dropped.
struct Silent<'a, F: AsFd> {
    terminal: &'a F,
    before: Termios,
}

impl<'a, F: AsFd> Silent<'a, F> {
    /// Nothing where there is no terminal that can be told to.
    fn begin(terminal: &'a F) -> Option<Self> {
        let before = tcgetattr(terminal).ok()?;
        let mut silent = before.clone();
        silent.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(terminal, SetArg::TCSANOW, &silent).ok()?;
        Some(Self { terminal, before })
    }
}

impl<F: AsFd> Drop for Silent<'_, F> {
    fn drop(&mut self) {
        // There is nobody left to tell: the terminal is gone.
        let _ = tcsetattr(self.terminal, SetArg::TCSANOW, &self.before);
    }
}

fn first_line() -> Result<String, Failure> {
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|source| Failure::Io {
            what: "could not read standard input".to_owned(),
            source,
        })?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// What is typed before the prompt has been read is not shown either.
    #[test]
    fn the_terminal_is_silent_before_the_password_is_asked_for_and_not_after() {
        let pair = nix::pty::openpty(None, None).unwrap();
        let shows = || {
            let now = tcgetattr(&pair.slave).unwrap();
            now.local_flags.contains(LocalFlags::ECHO)
        };
        assert!(shows());
        assert!(!silently(&pair.slave, shows));
        assert!(shows());
        // Where there is none, what is to be done is done.
        assert_eq!(silently(std::fs::File::open("/dev/null").unwrap(), || 7), 7);
    }
}
