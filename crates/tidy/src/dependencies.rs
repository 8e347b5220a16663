//! Declarations of dependencies: once, in the root manifest, each with a reason and a user. Versions, licences and sources
//! are cargo-deny's business.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::{TextFile, Violation};

const ROOT: &str = "Cargo.toml";
const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// A member's manifest takes every dependency from the workspace.
#[must_use]
pub fn check_inherited(files: &[TextFile]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in member_manifests(files) {
        match file.text.parse::<Table>() {
            Err(error) => found.push(Violation::of_file(&file.path, error.to_string())),
            Ok(manifest) => {
                for (name, declaration) in declared(&manifest) {
                    if declaration.get("workspace") != Some(&Value::Boolean(true)) {
                        found.push(Violation::of_file(
                            &file.path,
                            format!("{name} must be declared as `{name}.workspace = true`"),
                        ));
                    }
                }
            }
        }
    }
    found
}

/// Every entry of the root manifest that comes from outside is used by a member.
#[must_use]
pub fn check_used(files: &[TextFile]) -> Vec<Violation> {
    let manifests: Vec<Table> = member_manifests(files)
        .filter_map(|file| file.text.parse().ok())
        .collect();
    let used: BTreeSet<&str> = manifests
        .iter()
        .flat_map(declared)
        .map(|(name, _)| name)
        .collect();
    let Some(root) = root_manifest(files) else {
        return vec![Violation::of_file(ROOT, "is missing or unreadable")];
    };
    let entries = root
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table);
    let unused = entries
        .into_iter()
        .flatten()
        .filter(|(name, value)| value.get("path").is_none() && !used.contains(name.as_str()));
    unused
        .map(|(name, _)| Violation::of_file(ROOT, format!("no crate uses {name}")))
        .collect()
}

/// Every entry of the root manifest stands below a comment that gives its reason; neighbours may share one.
#[must_use]
pub fn check_reasons(files: &[TextFile]) -> Vec<Violation> {
    let mut found = Vec::new();
    let Some(root) = files.iter().find(|file| file.path == ROOT) else {
        return found;
    };
    let mut lines = root
        .lines()
        .skip_while(|(_, line)| line.trim() != "[workspace.dependencies]")
        .skip(1)
        .peekable();
    let mut explained = false;
    while let Some((number, line)) = lines.next_if(|(_, line)| !line.starts_with('[')) {
        if line.starts_with('#') {
            explained = true;
        } else if line.trim().is_empty() {
            explained = false;
        } else if let Some((name, _)) = line.split_once('=')
            && !line.starts_with([' ', ']', '}'])
            && !explained
        {
            found.push(Violation::at(
                ROOT,
                number,
                format!(
                    "{} has no comment above it that gives the reason",
                    name.trim()
                ),
            ));
        }
    }
    found
}

fn root_manifest(files: &[TextFile]) -> Option<Table> {
    files
        .iter()
        .find(|file| file.path == ROOT)?
        .text
        .parse()
        .ok()
}

fn member_manifests(files: &[TextFile]) -> impl Iterator<Item = &TextFile> {
    files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"))
}

/// Every dependency of every kind, those of single targets included.
fn declared(manifest: &Table) -> Vec<(&str, &Value)> {
    let targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    let tables =
        std::iter::once(manifest).chain(targets.filter_map(|(_, target)| target.as_table()));
    let sections =
        tables.flat_map(|table| KINDS.iter().filter_map(|kind| table.get(*kind)?.as_table()));
    sections
        .flatten()
        .map(|(name, declaration)| (name.as_str(), declaration))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(violations: &[Violation]) -> Vec<&str> {
        violations
            .iter()
            .map(|violation| violation.what.as_str())
            .collect()
    }

    fn member(text: &str) -> TextFile {
        TextFile::new("crates/a/Cargo.toml", text)
    }

    #[test]
    fn a_member_with_its_own_version_is_found_in_every_kind_of_section() {
        for section in [
            "dependencies",
            "dev-dependencies",
            "build-dependencies",
            "target.'cfg(unix)'.dependencies",
        ] {
            let good = member(&format!(
                "[{section}]\nserde.workspace = true\ntokio = {{ workspace = true, features = [] }}\n"
            ));
            assert_eq!(check_inherited(&[good]), []);
            let bad = member(&format!("[{section}]\nserde = \"1\"\n"));
            assert_eq!(
                messages(&check_inherited(&[bad])),
                ["serde must be declared as `serde.workspace = true`"]
            );
        }
    }

    #[test]
    fn an_entry_that_no_member_uses_is_found() {
        let root = TextFile::new(
            ROOT,
            "[workspace.dependencies]\nown = { path = \"x\" }\nserde = \"1\"\ntoml = \"1\"\n",
        );
        let files = [root, member("[dev-dependencies]\ntoml.workspace = true\n")];
        assert_eq!(messages(&check_used(&files)), ["no crate uses serde"]);
    }

    #[test]
    fn an_entry_without_a_reason_is_found_and_neighbours_share_one() {
        let text = "[workspace.dependencies]\n# The wire.\nserde = \"1\"\nserde_json = \"1\"\n\ntoml = { version = \"1\", features = [\n    \"x=y\",\n] }\n[profile.dev]\na = 1\n";
        let found = check_reasons(&[TextFile::new(ROOT, text)]);
        assert_eq!(
            messages(&found),
            ["toml has no comment above it that gives the reason"]
        );
        assert_eq!(found[0].line, Some(6));
    }
}
