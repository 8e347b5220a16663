//! The manifest of fixtures: a hash per file, so that a released fixture cannot change unnoticed. What the fixtures mean is
//! the business of the crates whose tests read them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{ReadError, Violation};

/// The manifest's path from the root.
pub const MANIFEST: &str = "fixtures/HASHES";
/// The command that takes over new and changed fixtures.
pub const ACCEPT: &str = "cargo xtask fixtures --accept";

/// Path from the root → SHA-256 in hexadecimal.
pub type Hashes = BTreeMap<String, String>;

/// Hashes every file below `fixtures`, except the manifest and what begins with a dot or ends with `.tmp`.
///
/// # Errors
///
/// [`ReadError`] for the first file or folder that cannot be read.
pub fn hash_all(root: &Path) -> Result<Hashes, ReadError> {
    let mut hashes = Hashes::new();
    hash_folder(&root.join("fixtures"), "fixtures", &mut hashes)?;
    hashes.remove(MANIFEST);
    Ok(hashes)
}

fn hash_folder(folder: &Path, prefix: &str, hashes: &mut Hashes) -> Result<(), ReadError> {
    let wrap = |source| ReadError::new(folder, source);
    for entry in fs::read_dir(folder).map_err(wrap)? {
        let entry = entry.map_err(wrap)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name.ends_with(".tmp") {
            continue;
        }
        let (path, name) = (entry.path(), format!("{prefix}/{name}"));
        if path.is_dir() {
            hash_folder(&path, &name, hashes)?;
        } else {
            let content = fs::read(&path).map_err(|source| ReadError::new(&path, source))?;
            hashes.insert(name, hex(&Sha256::digest(&content)));
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// The manifest's text: a line per file, sorted by path, in the form that `sha256sum --check` reads too.
#[must_use]
pub fn to_text(hashes: &Hashes) -> String {
    hashes
        .iter()
        .map(|(path, hash)| format!("{hash}  {path}\n"))
        .collect()
}

/// Compares the files with the manifest's text.
#[must_use]
pub fn check(manifest: &str, found: &Hashes) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut listed = Hashes::new();
    for (number, line) in (1..).zip(manifest.lines()) {
        match line.split_once("  ") {
            Some((hash, path)) => {
                listed.insert(path.to_owned(), hash.to_owned());
            }
            None => violations.push(Violation::at(MANIFEST, number, "is not `<sha256>  <path>`")),
        }
    }
    for (path, hash) in found {
        match listed.remove(path) {
            None => violations.push(Violation::of_file(
                path,
                format!("is not listed in {MANIFEST}; add it with `{ACCEPT}`"),
            )),
            Some(old) if old != *hash => {
                let what = format!(
                    "has changed (was {old}, is {hash}). A released fixture never does; if it is not released yet: `{ACCEPT}`"
                );
                violations.push(Violation::of_file(path, what));
            }
            Some(_) => {}
        }
    }
    for path in listed.into_keys() {
        violations.push(Violation::of_file(path, format!("is listed in {MANIFEST} but gone. A released fixture stays; if it was not released: `{ACCEPT}`")));
    }
    if violations.is_empty() && to_text(found) != manifest {
        violations.push(Violation::of_file(
            MANIFEST,
            format!("is not sorted by path; write it with `{ACCEPT}`"),
        ));
    }
    violations
}

/// Writes the manifest anew from the files as they are.
///
/// # Errors
///
/// If a fixture cannot be read or the manifest cannot be written.
pub fn accept(root: &Path) -> io::Result<usize> {
    let hashes = hash_all(root).map_err(io::Error::other)?;
    fs::write(root.join(MANIFEST), to_text(&hashes))?;
    Ok(hashes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(entries: &[(&str, &str)]) -> Hashes {
        entries
            .iter()
            .map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned()))
            .collect()
    }

    fn places(violations: &[Violation]) -> Vec<&str> {
        violations
            .iter()
            .map(|violation| violation.path.as_str())
            .collect()
    }

    #[test]
    fn changed_new_and_vanished_fixtures_are_found_with_the_command_that_accepts_them() {
        let found = hashes(&[
            ("fixtures/a", "1"),
            ("fixtures/b", "changed"),
            ("fixtures/new", "3"),
        ]);
        let violations = check("1  fixtures/a\n2  fixtures/b\n4  fixtures/gone\n", &found);
        assert_eq!(
            places(&violations),
            ["fixtures/b", "fixtures/new", "fixtures/gone"]
        );
        assert!(
            violations
                .iter()
                .all(|violation| violation.what.contains(ACCEPT))
        );
    }

    #[test]
    fn a_manifest_written_from_the_files_is_accepted_and_a_shuffled_one_is_not() {
        let found = hashes(&[("fixtures/a", "1"), ("fixtures/b", "2")]);
        assert_eq!(check(&to_text(&found), &found), []);
        assert_eq!(
            places(&check("2  fixtures/b\n1  fixtures/a\n", &found)),
            [MANIFEST]
        );
        assert_eq!(places(&check("nonsense\n", &hashes(&[]))), [MANIFEST]);
    }

    #[test]
    fn the_hash_is_that_of_the_content() {
        assert_eq!(
            hex(&Sha256::digest(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
