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
    /// Groups that are there and not in the file, those that can't be read included.
    pub(crate) groups_that_stay: Vec<String>,
    /// Groups that are there and can't be read, in the file or not.
    pub(crate) unreadable: Vec<String>,
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
    let mut groups_that_stay: Vec<String> = there.iter().map(name).collect();
    let is_empty = groups_that_stay.is_empty() && groups.iter().all(|it| it.present.is_none());
    let unreadable = unreadable_there(session).await?;
    let is_planned = |name: &String| groups.iter().any(|group| group.name() == *name);
    let stay = unreadable.iter().filter(|name| !is_planned(name));
    groups_that_stay.extend(stay.cloned());
    let mut obstacles = Vec::new();
    if !args.force && !is_empty {
        obstacles.push("the store is not empty; --force replaces the groups that are in the file and leaves the others".to_owned());
    }
    if !args.force && !unreadable.is_empty() {
        let (records, are) = match unreadable.len() {
            1 => ("the record", "is"),
            _ => ("the records", "are"),
        };
        obstacles.push(format!(
            "the store is not empty: {records} of {} {are} there, and can't be read; --force repairs what is in the file",
            unreadable.join(", ")
        ));
    }
    Ok(RestorePlan {
        action: "RESTORE_SNAPSHOT",
        groups,
        groups_that_stay,
        unreadable,
        force: args.force,
        obstacles,
        command: command(args),
    })
}

/// The same as it was said, and that it be done.
fn command(args: &RestoreArgs) -> String {
    let file = args.of.file.display().to_string();
    let mut command = format!("coordctl snapshot restore {}", word(&file));
    for name in &args.only {
        command.push_str(&format!(" --only {}", word(name)));
    }
    if args.force {
        command.push_str(" --force");
    }
    command.push_str(" --execute");
    if let Some(reason) = &args.reason {
        command.push_str(&format!(" --reason {}", word(reason)));
    }
    command + &args.asker.again()
}

impl PlannedGroup {
    /// As people call it.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.stream_prefix, self.consumer_group)
    }
}

/// Records that nobody can read are in no listing, and the store is not empty with them.
async fn unreadable_there(session: &Session) -> Result<Vec<String>, Failure> {
    let there = Contents::of(&session.client.snapshot().await?).unreadable;
    let names = there.iter().map(|it| {
        let (stream, group) = (&it.stream_prefix, &it.consumer_group);
        format!("{stream}/{group}")
    });
    Ok(names.collect())
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
