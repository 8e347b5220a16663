//! The metadata as a file: looks into it, puts it back. How it is saved is in `save`; what a whole file is, in `snapshot_file`.

mod save;

use std::path::Path;

use protocol::{Group, RestoreQuery, Restored};
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

pub(super) use save::save;

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
            let file = word(&args.of.file.display().to_string());
            return Err(Failure::NotFound {
                message: format!("nothing of {} is in the file", args.only.join(", ")),
                advice: format!("coordctl snapshot inspect {file} shows what is in it"),
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
    let query = RestoreQuery {
        force: args.force,
        requested_by: Some(args.asker.name()),
        reason: args.reason.clone(),
    };
    let restored = session.client.restore_snapshot(file.into(), &query).await?;
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
    let obstacles = if args.force {
        None
    } else if !is_empty {
        Some("the store is not empty; --force replaces the groups that are in the file and leaves the others".to_owned())
    } else {
        unreadable_there(session).await?
    };
    let file = args.of.file.display().to_string();
    Ok(RestorePlan {
        action: "RESTORE_SNAPSHOT",
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

/// Records that nobody can read are in no listing, and the store is not empty with them.
async fn unreadable_there(session: &Session) -> Result<Option<String>, Failure> {
    let there = Contents::of(&session.client.snapshot().await?).unreadable;
    Ok(there.first().map(|first| {
        format!(
            "the store is not empty: the record of {}/{} is there, and can't be read; --force repairs what is in the file",
            first.stream_prefix, first.consumer_group
        )
    }))
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
    std::fs::read(path).map_err(|source| Failure::File {
        path: path.to_owned(),
        is_written: false,
        source,
    })
}
