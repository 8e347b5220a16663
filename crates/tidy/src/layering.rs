//! Which crate of the workspace may depend on which. Dependencies from outside the workspace are not its business.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

use crate::Violation;

/// Per crate: the workspace crates that it may have as normal dependencies. Every crate of the workspace has a row.
pub const ALLOWED: [(&str, &[&str]); 17] = [
    ("coordinator-core", &[]),
    ("protocol", &[]),
    ("store", &["coordinator-core"]),
    (
        "store-redis",
        &[
            "store",
            "coordinator-core",
            "stream-lifecycle",
            "projection",
        ],
    ),
    ("stream-lifecycle", &[]),
    ("projection", &[]),
    (
        "coordinator-server",
        &["coordinator-core", "protocol", "store", "projection"],
    ),
    ("coordinator-client", &["protocol"]),
    (
        "member-client",
        &["protocol", "coordinator-client", "stream-lifecycle"],
    ),
    // The routing of keys lives in the core once.
    (
        "producer-client",
        &[
            "protocol",
            "coordinator-client",
            "stream-lifecycle",
            "coordinator-core",
        ],
    ),
    (
        "coordinator-sim",
        &["coordinator-core", "store", "member-client"],
    ),
    ("testkit", &[]),
    ("openapi-check", &[]),
    ("tidy", &[]),
    (
        "coordinatord",
        &[
            "coordinator-server",
            "store",
            "store-redis",
            "coordinator-core",
        ],
    ),
    ("coordctl", &["coordinator-client", "protocol"]),
    (
        "xtask",
        &[
            "testkit",
            "coordinator-client",
            "coordinator-sim",
            "member-client",
            "producer-client",
            "protocol",
        ],
    ),
];

/// The crates that end as programs; no crate may depend on them in any way.
pub const BINS: [&str; 3] = ["coordinatord", "coordctl", "xtask"];

/// One dependency of one workspace crate on another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Who depends.
    pub from: String,
    /// On whom.
    pub to: String,
    /// Whether only its tests, examples and benches do.
    pub dev: bool,
}

/// The workspace's crates and the dependencies among them, as Cargo sees them.
///
/// # Errors
///
/// What Cargo says if it cannot read the manifests.
pub fn read(root: &std::path::Path) -> Result<(Vec<String>, Vec<Edge>), cargo_metadata::Error> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()?;
    Ok((names(&metadata), edges(&metadata)))
}

fn names(metadata: &Metadata) -> Vec<String> {
    metadata
        .packages
        .iter()
        .map(|package| package.name.to_string())
        .collect()
}

fn edges(metadata: &Metadata) -> Vec<Edge> {
    let mut found = Vec::new();
    for package in &metadata.packages {
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some())
        {
            found.push(Edge {
                from: package.name.to_string(),
                to: dependency.name.clone(),
                dev: dependency.kind == DependencyKind::Development,
            });
        }
    }
    found
}

/// Every crate has a row, and every edge is allowed.
#[must_use]
pub fn check(crates: &[String], edges: &[Edge]) -> Vec<Violation> {
    let mut found = Vec::new();
    for name in crates.iter().filter(|name| allowed_for(name).is_none()) {
        found.push(violation(
            name,
            format!("the crate has no row in {}", file!()),
        ));
    }
    for Edge { from, to, dev } in edges {
        if BINS.contains(&to.as_str()) {
            found.push(violation(
                from,
                format!("depends on the program {to}; nothing may"),
            ));
        } else if !dev && !allowed_for(from).is_some_and(|allowed| allowed.contains(&to.as_str())) {
            found.push(violation(
                from,
                format!("must not depend on {to} (allowed: {})", list(from)),
            ));
        }
    }
    found
}

fn allowed_for(name: &str) -> Option<&'static [&'static str]> {
    ALLOWED
        .iter()
        .find(|(from, _)| *from == name)
        .map(|(_, allowed)| *allowed)
}

fn list(name: &str) -> String {
    match allowed_for(name) {
        None | Some([]) => "none".to_owned(),
        Some(allowed) => allowed.join(", "),
    }
}

fn violation(name: &str, what: String) -> Violation {
    let folder = if BINS.contains(&name) {
        "bins"
    } else {
        "crates"
    };
    Violation::of_file(format!("{folder}/{name}/Cargo.toml"), what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(from: &str, to: &str, dev: bool) -> Vec<String> {
        let edge = Edge {
            from: from.into(),
            to: to.into(),
            dev,
        };
        check(&[], &[edge])
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn an_edge_that_is_not_listed_is_found() {
        assert_eq!(
            found("protocol", "coordinator-core", false),
            ["crates/protocol/Cargo.toml: must not depend on coordinator-core (allowed: none)"]
        );
        assert_eq!(
            found("store", "protocol", false),
            ["crates/store/Cargo.toml: must not depend on protocol (allowed: coordinator-core)"]
        );
        assert_eq!(
            found("store", "testkit", false).len(),
            1,
            "the test harness is no part of the product"
        );
    }

    #[test]
    fn listed_edges_and_edges_of_tests_are_allowed() {
        assert_eq!(found("store", "coordinator-core", false), [""; 0]);
        assert_eq!(
            found("coordinator-client", "coordinator-server", true),
            [""; 0]
        );
        assert_eq!(found("xtask", "testkit", false), [""; 0]);
    }

    #[test]
    fn nothing_may_depend_on_a_program_not_even_in_tests() {
        assert_eq!(found("member-client", "coordinatord", true).len(), 1);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        assert_eq!(check(&["stranger".into()], &[]).len(), 1);
    }

    #[test]
    fn the_rows_name_only_crates_that_have_rows() {
        for (from, allowed) in ALLOWED {
            for to in allowed {
                assert!(
                    allowed_for(to).is_some() && !BINS.contains(to),
                    "{from} → {to}"
                );
            }
        }
    }
}
