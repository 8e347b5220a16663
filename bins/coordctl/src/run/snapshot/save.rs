//! Saves the metadata to a file. A file that is good is never replaced by one that lacks something.

use std::fs;
use std::path::{Path, PathBuf};

use protocol::SnapshotUnreadable;

use super::whole;
use crate::cli::FileArgs;
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
    /// A snapshot, or what is left of one, with so many groups.
    Snapshot {
        groups: usize,
    },
}

pub(in crate::run) async fn save(session: &Session, args: &FileArgs) -> Result<(), Failure> {
    let path = args.file.as_path();
    let before = before(path)?;
    let file = session.client.snapshot().await?;
    let contents = whole(path, &file)?;
    if let Before::Snapshot { groups } = before
        && groups > 0
        && contents.groups.is_empty()
        && contents.unreadable.is_empty()
    {
        return Err(kept_from_emptiness(path, groups));
    }
    let is_whole = contents.unreadable.is_empty();
    let place = if is_whole {
        path.to_owned()
    } else {
        beside(path)
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
    if is_whole {
        return Ok(());
    }
    Err(lacking(path, &place, &contents.unreadable, &before))
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
        groups: there.groups.len(),
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
            "if they were lost, put them back: coordctl snapshot restore {file} (docs/operations.md#metadata-lost-or-rolled-back); if they were deleted, name another file"
        ),
    }
}

/// Where a file goes that lacks something: beside the one that was named.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

fn lacking(path: &Path, place: &Path, missing: &[SnapshotUnreadable], before: &Before) -> Failure {
    let named = missing.iter().take(NAMED).map(|group| {
        let (stream, name) = (&group.stream_prefix, &group.consumer_group);
        format!("{stream}/{name} ({})", group.reason)
    });
    let mut named: Vec<String> = named.collect();
    if missing.len() > NAMED {
        named.push(format!("and {} more", missing.len() - NAMED));
    }
    let file = path.display().to_string();
    let (stands, older) = match before {
        Before::Nothing => ("it was not written", "OLDER-FILE".to_owned()),
        Before::Snapshot { .. } => ("it is as it was", word(&file)),
    };
    let only = missing.first().map(|group| {
        let name = format!("{}/{}", group.stream_prefix, group.consumer_group);
        word(&name)
    });
    Failure::Snapshot {
        problem: format!(
            "{stands}, since {} can't be read: {}",
            many(missing.len(), "record"),
            named.join("; ")
        ),
        advice: format!(
            "the others are in {}; put each right (coordctl snapshot restore {older} --only {} --force), and save again: docs/operations.md#metadata-lost-or-rolled-back",
            place.display(),
            only.unwrap_or_default()
        ),
        file,
    }
}
