//! Commands that ask no coordinator.

use argon2::Argon2;
use argon2::password_hash::PasswordVerifier;
use argon2::password_hash::phc::PasswordHash;

use crate::support::Ctl;

fn nowhere() -> Ctl {
    Ctl::bare("http://127.0.0.1:1")
}

#[tokio::test]
async fn a_password_is_hashed_so_that_it_and_no_other_is_accepted() {
    let first = nowhere()
        .fed("hash-password --stdin", "hunter2\nmore\n")
        .await
        .printed();
    let hash = PasswordHash::new(first.trim()).unwrap();
    assert!(
        first.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
        "{first}"
    );
    let verify = |password: &str| Argon2::default().verify_password(password.as_bytes(), &hash);
    assert!(verify("hunter2").is_ok());
    assert!(verify("hunter3").is_err());
    let second = nowhere()
        .fed("hash-password --stdin", "hunter2")
        .await
        .printed();
    assert_ne!(first, second, "each hash has a salt of its own");
    // The flag of all other commands says the same.
    let third = nowhere()
        .fed("hash-password --password-stdin", "hunter2\n")
        .await
        .printed();
    let hash = PasswordHash::new(third.trim()).unwrap();
    assert!(Argon2::default().verify_password(b"hunter2", &hash).is_ok());
}

#[tokio::test]
async fn a_password_is_neither_taken_from_the_command_line_nor_empty() {
    let said = nowhere().run("hash-password hunter2").await.failed(2);
    assert!(said.contains("unexpected argument"), "{said}");
    let said = nowhere().fed("hash-password --stdin", "\n").await.failed(2);
    assert_eq!(
        said,
        "coordctl: the password is empty\n  anybody could guess it: give one\n"
    );
    let said = nowhere().run("hash-password").await.failed(2);
    assert_eq!(
        said,
        "coordctl: there is no terminal to ask for the password\n  give --stdin\n"
    );
}

#[tokio::test]
async fn completions_know_the_commands_in_every_shell() {
    for (shell, sign) in [
        ("bash", "complete -F _coordctl"),
        ("zsh", "#compdef coordctl"),
        ("fish", "complete -c coordctl"),
    ] {
        let script = nowhere()
            .run(&format!("completions {shell}"))
            .await
            .printed();
        for word in [sign, "hash-password", "rollback", "assignments"] {
            assert!(script.contains(word), "{shell}: {word} is missing");
        }
    }
}
