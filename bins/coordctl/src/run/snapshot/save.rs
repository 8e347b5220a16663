//! Saves the metadata to a file. A file that is good is never replaced by one that lacks something, unless that is asked for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::whole;
use crate::cli::SaveArgs;
use crate::failure::Failure;
use crate::file;
use crate::run::Session;
use crate::show::numbers::many;
use crate::show::text::word;
use crate::snapshot_file::Contents;

/// How many groups are named that are missing in a file.
const NAMED: usize = 5;

/// What is at the place already.
enum Before {
    Nothing,
    /// A snapshot, or what is left of one, with these groups.
    Snapshot {
        groups: BTreeSet<String>,
    },
}

/// What a new file lacks.
struct Missing {
    /// Groups whose records can't be read, each with the reason.
    unreadable: Vec<(String, String)>,
    /// Groups of the file that is there, which are not there any more.
    gone: Vec<String>,
}

pub(in crate::run) async fn save(session: &Session, args: &SaveArgs) -> Result<(), Failure> {
    let path = args.of.file.as_path();
    let before = before(path)?;
    let file = session.client.snapshot().await?;
    let contents = whole(path, &file)?;
    let missing = Missing::of(&contents, &before, args.replace);
    if contents.groups.is_empty() && contents.unreadable.is_empty() && !missing.gone.is_empty() {
        return Err(kept_from_emptiness(path, missing.gone.len()));
    }
    let place = if missing.is_nothing() {
        path.to_owned()
    } else {
        let place = beside(path);
        self::before(&place)?;
        place
    };
    file::replace(&place, &file).map_err(|source| Failure::File {
        path: place.clone(),
        is_written: true,
        source,
    })?;
    session.output.answer(&contents.summary(), || {
        let groups = many(contents.groups.len(), "group");
        format!("{}: {groups} saved", place.display())
    })?;
    if missing.is_nothing() {
        return Ok(());
    }
    Err(lacking(path, &place, &missing, &before))
}

impl Missing {
    fn of(contents: &Contents, before: &Before, replace: bool) -> Self {
        let unreadable = contents.unreadable.iter().map(|it| {
            let name = format!("{}/{}", it.stream_prefix, it.consumer_group);
            (name, it.reason.clone())
        });
        let unreadable: Vec<(String, String)> = unreadable.collect();
        let mut gone = match before {
            Before::Snapshot { groups } if !replace => groups.clone(),
            _ => BTreeSet::new(),
        };
        let there = names(contents);
        gone.retain(|name| !there.contains(name) && !unreadable.iter().any(|(it, _)| it == name));
        Self {
            unreadable,
            gone: gone.into_iter().collect(),
        }
    }

    const fn is_nothing(&self) -> bool {
        self.unreadable.is_empty() && self.gone.is_empty()
    }

    /// What is missing, and why.
    fn told(&self) -> String {
        let mut parts = Vec::new();
        if !self.unreadable.is_empty() {
            let each = |(name, reason): &(String, String)| format!("{name} ({reason})");
            let named = some_of(self.unreadable.iter().map(each).collect());
            let count = many(self.unreadable.len(), "record");
            parts.push(format!("{count} can't be read: {}", named.join("; ")));
        }
        if !self.gone.is_empty() {
            let named = some_of(self.gone.clone()).join(", ");
            let (count, are) = match self.gone.len() {
                1 => ("a group".to_owned(), "is"),
                many_are => (many(many_are, "group"), "are"),
            };
            parts.push(format!("{count} of it {are} not there any more: {named}"));
        }
        parts.join("; and ")
    }
}

/// The names of the groups in a file.
fn names(contents: &Contents) -> BTreeSet<String> {
    let groups = contents.groups.iter().map(|inside| &inside.group);
    groups
        .map(|group| format!("{}/{}", group.stream_prefix, group.consumer_group))
        .collect()
}

/// The first few, and how many more there are.
fn some_of(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names
}

/// Looks at what would be replaced.
fn before(path: &Path) -> Result<Before, Failure> {
    let failed = |source| Failure::File {
        path: path.to_owned(),
        is_written: true,
        source,
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Before::Nothing),
        Err(error) => return Err(failed(error)),
        Ok(there) if there.is_dir() => {
            return Err(failed(std::io::ErrorKind::IsADirectory.into()));
        }
        Ok(there) if !there.is_file() => return Err(no_snapshot(path)),
        Ok(_) => {}
    }
    let there = Contents::of(&super::read(path)?);
    if there.header.is_none() {
        return Err(no_snapshot(path));
    }
    Ok(Before::Snapshot {
        groups: names(&there),
    })
}

fn no_snapshot(path: &Path) -> Failure {
    Failure::Snapshot {
        file: path.display().to_string(),
        problem: "it is there, and no snapshot: it is not replaced".to_owned(),
        advice: "name another file, or remove that one first".to_owned(),
    }
}

fn kept_from_emptiness(path: &Path, groups: usize) -> Failure {
    let file = word(&path.display().to_string());
    Failure::Snapshot {
        file: path.display().to_string(),
        problem: format!(
            "it was not replaced: there is no group any more, and it has {}",
            many(groups, "group")
        ),
        advice: format!(
            "if they were lost, put them back: coordctl snapshot restore {file} (docs/operations.md#metadata-lost-or-rolled-back); if they were deleted: coordctl snapshot save {file} --replace"
        ),
    }
}

/// Where a file goes that lacks something: beside the one that was named.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

fn lacking(path: &Path, place: &Path, missing: &Missing, before: &Before) -> Failure {
    let file = path.display().to_string();
    let (stands, older) = match before {
        Before::Nothing => ("it was not written", "OLDER-FILE".to_owned()),
        Before::Snapshot { .. } => ("it is as it was", word(&file)),
    };
    let mut advice = format!("what there is, is in {}", place.display());
    if let Some((name, _)) = missing.unreadable.first() {
        advice.push_str(&format!(
            "; put each record right (coordctl snapshot restore {older} --only {} --force), and save again",
            word(name)
        ));
    }
    if let Some(name) = missing.gone.first() {
        advice.push_str(&format!(
            "; a group that was lost is put back by coordctl snapshot restore {older} --only {} --force; where all were deleted on purpose: coordctl snapshot save {older} --replace",
            word(name)
        ));
    }
    advice.push_str(" (docs/operations.md#backup-and-restore)");
    Failure::Snapshot {
        problem: format!("{stands}, since {}", missing.told()),
        advice,
        file,
    }
}
