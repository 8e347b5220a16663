//! What may stand at the root of the repository. Hidden entries and the build folder are not its business.

use crate::Violation;

const ALLOWED: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    "crates",
    "bins",
    "fixtures",
    "docs",
    "deny.toml",
    "rust-toolchain.toml",
];

/// Only the entries of the agreed layout are visible at the root.
#[must_use]
pub fn check(root_entries: &[String]) -> Vec<Violation> {
    let strays = root_entries.iter().filter(|name| !is_allowed(name));
    strays
        .map(|name| Violation::of_file(name, "is not part of the root's layout"))
        .collect()
}

fn is_allowed(name: &str) -> bool {
    name.starts_with('.')
        || name == "target"
        || name == "README.md"
        || name.starts_with("LICENSE")
        || ALLOWED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stray_entry_at_the_root_is_found() {
        let entries = ["Cargo.toml", "notes.txt", ".github", "LICENSE", "src"].map(str::to_owned);
        let found: Vec<String> = check(&entries)
            .into_iter()
            .map(|violation| violation.path)
            .collect();
        assert_eq!(found, ["notes.txt", "src"]);
    }
}
