//! The metadata as a file: saves it, looks into it, puts it back. What a whole file is, is in `snapshot_file`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use protocol::{Group, Restored};
use serde::Serialize;

use super::Session;
use crate::cli::{FileArgs, RestoreArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::show::snapshot;
use crate::show::{Look, text::word};
use crate::snapshot_file::Contents;

/// What a restore would mean.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestorePlan {
    action: &'static str,
    pub(crate) groups: Vec<PlannedGroup>,
    /// Groups that are there and not in the file.
    pub(crate) groups_that_stay: Vec<String>,
    pub(crate) force: bool,
    pub(crate) obstacles: Vec<String>,
    /// How to do it.
    #[serde(skip)]
    pub(crate) command: String,
}

/// A group of a file, and the one of its name that is there.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlannedGroup {
    pub(crate) stream_prefix: String,
    pub(crate) consumer_group: String,
    /// Shards and version in the file.
    pub(crate) shard_count: u32,
    pub(crate) metadata_version: u64,
    /// What is there now; null where nothing is that can be read.
    pub(crate) present: Option<Group>,
}

pub(super) async fn save(session: &Session, args: &FileArgs) -> Result<(), Failure> {
    let file = session.client.snapshot().await?;
    let contents = whole(&args.file, &file)?;
    write(&args.file, &file)?;
    session.output.answer(&contents.summary(), || {
        let (groups, file) = (contents.groups.len(), args.file.display());
        format!("{file}: {groups} groups saved")
    })?;
    let Some(first) = contents.unreadable.first() else {
        return Ok(());
    };
    Err(Failure::Snapshot {
        file: args.file.display().to_string(),
        problem: format!(
            "{} groups are not in it, since their records can't be read: {}/{}: {}",
            contents.unreadable.len(),
            first.stream_prefix,
            first.consumer_group,
            first.reason
        ),
        advice: "the others are saved; docs/operations.md, metadata lost or rolled back".to_owned(),
    })
}

pub(super) fn inspect(args: &FileArgs, output: Output) -> Result<(), Failure> {
    let contents = Contents::of(&read(&args.file)?);
    output.answer(&contents, || {
        snapshot::contents(&contents, &Look::at(output))
    })?;
    match &contents.problem {
        Some(problem) => Err(broken(&args.file, problem)),
        None => Ok(()),
    }
}

pub(super) async fn restore(session: &Session, args: &RestoreArgs) -> Result<(), Failure> {
    let mut file = read(&args.of.file)?;
    let mut contents = whole(&args.of.file, &file)?;
    if !args.only.is_empty() {
        contents.only(&args.only);
        if contents.groups.is_empty() {
            return Err(Failure::NotFound {
                message: format!("nothing of {} is in the file", args.only.join(", ")),
                advice: "coordctl snapshot inspect FILE shows what is in it".to_owned(),
            });
        }
    }
    if !args.execute {
        let plan = plan(session, args, contents).await?;
        return session.answer(&plan, snapshot::plan);
    }
    if !args.only.is_empty() {
        file = contents.written();
    }
    let restored = session.client.restore_snapshot(file.into(), args.force);
    let restored = restored.await?;
    session.answer(&restored, |restored: &Restored, look| {
        snapshot::restored(restored, look)
    })
}

async fn plan(
    session: &Session,
    args: &RestoreArgs,
    contents: Contents,
) -> Result<RestorePlan, Failure> {
    let mut there = session.client.groups().await?.groups;
    let mut groups = Vec::new();
    for inside in contents.groups {
        let group = inside.group;
        let is_it = |there: &Group| {
            there.stream_prefix == group.stream_prefix
                && there.consumer_group == group.consumer_group
        };
        let present = there.iter().position(is_it).map(|at| there.remove(at));
        groups.push(PlannedGroup {
            stream_prefix: group.stream_prefix,
            consumer_group: group.consumer_group,
            shard_count: group.shard_count,
            metadata_version: group.metadata_version,
            present,
        });
    }
    let name = |group: &Group| format!("{}/{}", group.stream_prefix, group.consumer_group);
    let groups_that_stay: Vec<String> = there.iter().map(name).collect();
    let is_empty = groups_that_stay.is_empty() && groups.iter().all(|it| it.present.is_none());
    let obstacles = (!is_empty && !args.force)
        .then(|| "the store is not empty; --force replaces the groups that are in the file and leaves the others".to_owned());
    let file = args.of.file.display().to_string();
    Ok(RestorePlan {
        action: "RESTORE",
        groups,
        groups_that_stay,
        force: args.force,
        obstacles: obstacles.into_iter().collect(),
        command: format!(
            "coordctl snapshot restore {}{}{} --execute",
            word(&file),
            args.only
                .iter()
                .map(|name| format!(" --only {}", word(name)))
                .collect::<String>(),
            if args.force { " --force" } else { "" }
        ),
    })
}

fn whole(path: &Path, file: &[u8]) -> Result<Contents, Failure> {
    let contents = Contents::of(file);
    match &contents.problem {
        Some(problem) => Err(broken(path, problem)),
        None => Ok(contents),
    }
}

fn broken(path: &Path, problem: &str) -> Failure {
    Failure::Snapshot {
        file: path.display().to_string(),
        problem: problem.to_owned(),
        advice: "take another file; nothing was changed".to_owned(),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|source| Failure::Io {
        what: format!("could not read {}", path.display()),
        source,
    })
}

/// A file of that name is there whole, or as it was before.
fn write(path: &Path, file: &[u8]) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let writing = || {
        let mut temporary = tempfile::NamedTempFile::new_in(&folder)?;
        temporary.write_all(file)?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    writing().map_err(|source| Failure::Io {
        what: format!("could not write {}", path.display()),
        source,
    })
}
