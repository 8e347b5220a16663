//! What the doctor can find: each kind with its severity and the runbook that says what to do.

use serde::Serialize;

use crate::show::text::word;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Severity {
    /// Something does not work, or may lose work.
    Error,
    /// It works, and somebody should look.
    Warning,
    /// Worth knowing.
    Info,
}

/// A kind of finding. The words are for programs and do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Kind {
    CoordinatorUnreachable,
    CoordinatorNotReady,
    StoreDown,
    PeriodicWorkFails,
    VersionNotSupported,
    DefaultPassword,
    InvariantViolated,
    MetadataCorrupt,
    GroupHalfMade,
    StreamMissing,
    ConsumerGroupMissing,
    ShardUnreadable,
    StoreDegraded,
    ClocksDiffer,
    ShardCountsDiffer,
    MembersUnknown,
    HeartbeatsFenced,
    MemberFenced,
    MembersExpired,
    ShardWithoutOwner,
    ChangeStandsStill,
    TrimmedUnread,
    NobodyReads,
    IndexNotAnswering,
    LagUnknown,
    StoreUncertain,
    NoGroup,
    HeartbeatsWereFenced,
}

impl Kind {
    /// Every kind, the worst first.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 28] = [
        Self::CoordinatorUnreachable,
        Self::CoordinatorNotReady,
        Self::StoreDown,
        Self::PeriodicWorkFails,
        Self::VersionNotSupported,
        Self::DefaultPassword,
        Self::InvariantViolated,
        Self::MetadataCorrupt,
        Self::GroupHalfMade,
        Self::StreamMissing,
        Self::ConsumerGroupMissing,
        Self::ShardUnreadable,
        Self::StoreDegraded,
        Self::ClocksDiffer,
        Self::ShardCountsDiffer,
        Self::MembersUnknown,
        Self::HeartbeatsFenced,
        Self::MemberFenced,
        Self::MembersExpired,
        Self::ShardWithoutOwner,
        Self::ChangeStandsStill,
        Self::TrimmedUnread,
        Self::NobodyReads,
        Self::IndexNotAnswering,
        Self::LagUnknown,
        Self::StoreUncertain,
        Self::NoGroup,
        Self::HeartbeatsWereFenced,
    ];

    pub(crate) const fn severity(self) -> Severity {
        match self {
            Self::CoordinatorUnreachable
            | Self::CoordinatorNotReady
            | Self::StoreDown
            | Self::PeriodicWorkFails
            | Self::VersionNotSupported
            | Self::DefaultPassword
            | Self::InvariantViolated
            | Self::MetadataCorrupt
            | Self::GroupHalfMade
            | Self::StreamMissing
            | Self::ConsumerGroupMissing
            | Self::ShardUnreadable
            | Self::StoreDegraded => Severity::Error,
            Self::ClocksDiffer
            | Self::ShardCountsDiffer
            // Where members need no credentials, anybody may send heartbeats for any name.
            | Self::MembersUnknown
            | Self::HeartbeatsFenced
            | Self::MemberFenced
            | Self::MembersExpired
            | Self::ShardWithoutOwner
            | Self::ChangeStandsStill
            | Self::TrimmedUnread
            | Self::NobodyReads
            | Self::IndexNotAnswering => Severity::Warning,
            Self::LagUnknown
            | Self::StoreUncertain
            | Self::NoGroup
            | Self::HeartbeatsWereFenced => Severity::Info,
        }
    }

    /// Where the operations page says what to do.
    pub(crate) const fn anchor(self) -> &'static str {
        match self {
            Self::CoordinatorUnreachable | Self::CoordinatorNotReady => "coordinator-unreachable",
            Self::StoreDown | Self::PeriodicWorkFails => "what-is-answered-meanwhile",
            Self::StoreDegraded | Self::StoreUncertain => "a-store-that-is-degraded",
            Self::VersionNotSupported => "upgrade",
            Self::DefaultPassword => "access",
            Self::InvariantViolated => "invariant-violation",
            Self::MetadataCorrupt
            | Self::ShardCountsDiffer
            | Self::MembersUnknown
            | Self::NoGroup => "metadata-lost-or-rolled-back",
            Self::GroupHalfMade => "a-group-that-is-half-made",
            Self::StreamMissing | Self::ConsumerGroupMissing | Self::ShardUnreadable => {
                "a-stream-or-its-consumer-group-is-missing"
            }
            Self::ClocksDiffer => "clocks",
            Self::HeartbeatsFenced
            | Self::HeartbeatsWereFenced
            | Self::MemberFenced
            | Self::MembersExpired => "member-fenced-again-and-again",
            Self::ShardWithoutOwner | Self::NobodyReads => "a-shard-that-nobody-reads",
            Self::ChangeStandsStill => "a-drain-that-does-not-end",
            Self::TrimmedUnread => "entries-that-were-trimmed-unread",
            Self::LagUnknown => "lag-that-is-not-known",
            Self::IndexNotAnswering => "an-index-that-does-not-answer",
        }
    }

    /// What to do first.
    pub(crate) const fn to_do(self) -> &'static str {
        match self {
            Self::CoordinatorUnreachable => "see whether the process runs and is reached from here",
            Self::CoordinatorNotReady => "its Redis, or its end, keeps it: the reason is named",
            Self::StoreDown => {
                "mend Redis, or give its user the right that is named; nobody is expired meanwhile"
            }
            Self::MembersUnknown => {
                "put lost groups back from a snapshot (coordctl snapshot restore FILE), make those that were never made, and stop the members of deleted ones"
            }
            Self::NoGroup => {
                "nothing, where none was made yet; what was lost is put back from a snapshot: coordctl snapshot restore FILE"
            }
            Self::HeartbeatsFenced => {
                "see whether two processes run as one member, and give each an id of its own"
            }
            Self::StoreDegraded => "mend what is named: it works, and may lose or refuse something",
            Self::PeriodicWorkFails => "read its log; without ticks nothing ends by time",
            Self::VersionNotSupported => "use a coordctl of the coordinator's release",
            Self::DefaultPassword => "set COORDINATORD_ADMIN_PASSWORD_HASH and restart it",
            Self::InvariantViolated => {
                "a defect: keep the record and the log before anything is changed"
            }
            Self::MetadataCorrupt => "restore this group from a snapshot",
            Self::GroupHalfMade => "send its creation again, or delete it",
            Self::StreamMissing => "see who deleted it; make it again, empty, if it is to be used",
            Self::ConsumerGroupMissing => "start a member of the group: it makes it again",
            Self::ShardUnreadable => "the reason is named; the other shards go on",
            Self::ClocksDiffer => "set this machine's clock; decisions go by the store's",
            Self::ShardCountsDiffer => {
                "wait for a change to end; else scale the stream to the right count"
            }
            Self::MemberFenced => "give each process an id of its own; look for pauses in its log",
            Self::MembersExpired => "see whether they were stopped, or cut off, or slow",
            Self::ShardWithoutOwner => "wait for one lease; then see who has not let go",
            Self::ChangeStandsStill => "see what each shard waits for",
            Self::TrimmedUnread => {
                "they are lost: look at what trims the stream, and at the readers' pace"
            }
            Self::NobodyReads => "start a member of the group",
            Self::IndexNotAnswering => {
                "read its log for the reason; its user of Redis needs the keys ~{pj:*"
            }
            Self::StoreUncertain => "see for yourself, or give its user the right that is named",
            Self::HeartbeatsWereFenced => "nothing, where that is over; see whether it comes back",
            Self::LagUnknown => {
                "nothing is wrong with reading; drains may need --drain-proof entries"
            }
        }
    }
}

/// Something that was found.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) kind: Kind,
    /// A coordinator's URL, or a stream, its group, its shard, its member.
    pub(crate) place: String,
    /// What is so.
    pub(crate) what: String,
    pub(crate) to_do: String,
    /// The part of the documentation that says more.
    pub(crate) runbook: String,
}

impl Finding {
    pub(crate) fn new(kind: Kind, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            severity: kind.severity(),
            kind,
            place: place.into(),
            what: what.into(),
            to_do: kind.to_do().to_owned(),
            runbook: format!("docs/operations.md#{}", kind.anchor()),
        }
    }

    /// The same with the command of `coordctl` that shows more, or does it.
    pub(crate) fn look(mut self, command: &[&str]) -> Self {
        // Flags are this program's own words.
        let of = |it: &&str| match it.starts_with("--") {
            true => (*it).to_owned(),
            false => word(it),
        };
        let words: Vec<String> = command.iter().map(of).collect();
        self.to_do = format!("{}: coordctl {}", self.to_do, words.join(" "));
        self
    }
}

#[cfg(test)]
mod tests {
    //! What is named as a runbook is one.
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use super::*;

    /// The anchors of a page, as they are made from its headings.
    fn anchors() -> BTreeSet<String> {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
        let page = std::fs::read_to_string(page).unwrap();
        let headings = page.lines().filter(|line| line.starts_with('#'));
        let anchor = |line: &str| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let letters = title.chars().filter_map(|letter| match letter {
                ' ' => Some('-'),
                letter if letter.is_alphanumeric() || letter == '-' => Some(letter),
                _ => None,
            });
            letters.collect::<String>()
        };
        headings.map(anchor).collect()
    }

    #[test]
    fn every_runbook_that_is_named_is_on_the_page() {
        let anchors = anchors();
        for kind in Kind::ALL {
            assert!(
                anchors.contains(kind.anchor()),
                "{kind:?}: {}",
                kind.anchor()
            );
        }
    }

    #[test]
    fn every_kind_is_told_on_the_page() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, doctor) = page.split_once("\n### Doctor\n").unwrap();
        for kind in Kind::ALL {
            let name = crate::show::text::wire(kind);
            assert!(doctor.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn every_kind_is_there_once() {
        let all: BTreeSet<Kind> = Kind::ALL.into_iter().collect();
        assert_eq!(all.len(), Kind::ALL.len());
        assert!(
            Kind::ALL
                .windows(2)
                .all(|pair| pair[0].severity() <= pair[1].severity())
        );
    }
}
