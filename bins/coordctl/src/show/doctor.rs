//! What the doctor found.

use super::Look;
use super::numbers::many;
use super::text::{printable, wire};
use crate::doctor::{Diagnosis, Finding};

/// The findings, the worst first.
pub(crate) fn diagnosis(diagnosis: &Diagnosis, _: &Look) -> String {
    let mut parts: Vec<String> = diagnosis.findings.iter().map(one).collect();
    for what in &diagnosis.not_checked {
        parts.push(format!("not checked: {}", printable(what)));
    }
    let (coordinators, groups) = (diagnosis.coordinators, diagnosis.groups);
    let seen = format!(
        "looked at: {} and {}",
        many(coordinators, "coordinator"),
        many(groups, "group")
    );
    parts.push(match diagnosis.findings.len() {
        0 => format!("{seen}; nothing was found"),
        count => format!("{seen}; {}", many(count, "finding")),
    });
    parts.join("\n\n")
}

fn one(finding: &Finding) -> String {
    format!(
        "{} {} {}\n  {}\n  do: {}\n  see: {}",
        wire(finding.severity),
        wire(finding.kind),
        printable(&finding.place),
        printable(&finding.what),
        printable(&finding.to_do),
        finding.runbook
    )
}
