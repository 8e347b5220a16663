//! Deletes a group, or every group of a stream; or shows what that would mean.

use std::fmt;

use coordinator_client::ClientError;
use protocol::{DeleteGroupRequest, ErrorCode, Group, MessageQuery, PageDirection};
use serde::Serialize;

use super::Session;
use crate::cli::{Change, DeleteGroupArgs, DeleteStreamArgs};
use crate::failure::{Exit, Failure, with_sources};
use crate::plan::{DeletePlan, shards_there, what_stays};
use crate::show::text::{printable, word};

/// What became of each group of a stream.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Deleted {
    stream_prefix: String,
    /// The groups that are gone, as they were.
    deleted: Vec<Group>,
    /// Those that are not.
    failed: Vec<NotDeleted>,
}

/// A group that is still there.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NotDeleted {
    consumer_group: String,
    /// The coordinator's code, where it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<String>,
    message: String,
}

pub(super) async fn group(session: &Session, args: DeleteGroupArgs) -> Result<(), Failure> {
    if !args.change.execute {
        let (stream, only) = (&args.stream, Some(args.group.as_str()));
        let plan = DeletePlan::make(session, stream, only, args.force).await?;
        let again = args.change.again();
        return session.answer(&plan, |plan, look| plan.text(look, &again));
    }
    let request = request(&args.change, args.force);
    let client = &session.client;
    let (stream, name) = (args.stream.as_str(), args.group.as_str());
    let has_streams = !session.output.is_json() && has_streams(session, stream, name).await;
    let group = client.delete_group(stream, name, &request).await?;
    let mut text = format!("{stream}/{name}: deleted");
    if has_streams {
        let others = session.listed(stream).await;
        // The list may still have the one that was deleted.
        let is_last = others.is_ok_and(|others| others.iter().all(|it| it.consumer_group == name));
        let stays = what_stays(stream, Some(shards_there(&group)), is_last);
        text.extend(stays.map(|stays| format!("\n{stays}")));
    }
    session.answer(&group, |_, _| text)
}

/// Whether the coordinator has a Redis of shard streams, in which something stays.
async fn has_streams(session: &Session, stream: &str, group: &str) -> bool {
    let one = MessageQuery {
        direction: PageDirection::Forward,
        cursor: None,
        limit: 1,
    };
    let answer = session.client.messages(stream, group, 0, &one).await;
    !answer.is_err_and(|error| error.code() == Some(&ErrorCode::RedisNotConfigured))
}

pub(super) async fn stream(session: &Session, args: DeleteStreamArgs) -> Result<(), Failure> {
    let plan = DeletePlan::make(session, &args.stream, None, args.force).await?;
    if !args.change.execute {
        let again = args.change.again();
        return session.answer(&plan, |plan, look| plan.text(look, &again));
    }
    let request = request(&args.change, args.force);
    let mut outcome = Deleted {
        stream_prefix: args.stream.clone(),
        deleted: Vec::new(),
        failed: Vec::new(),
    };
    let mut first = None;
    for name in plan.groups() {
        let line = match session
            .client
            .delete_group(&args.stream, name, &request)
            .await
        {
            Ok(group) => {
                outcome.deleted.push(group);
                format!("{}/{name}: deleted", args.stream)
            }
            Err(error) => {
                let failed = not_deleted(name, &error);
                let line = format!("{}/{name}: not deleted, {failed}", args.stream);
                outcome.failed.push(failed);
                first.get_or_insert(Failure::from(error));
                line
            }
        };
        // Of a group that is the only one it is said once, at the end.
        let is_said = outcome.failed.is_empty() || plan.groups().len() > 1;
        if is_said && !session.output.is_json() {
            session.output.text(&line)?;
        }
    }
    if session.output.is_json() {
        session.output.json(&outcome)?;
    } else if outcome.failed.is_empty()
        && let Some(stays) = plan.what_stays()
    {
        session.output.text(&stays)?;
    }
    match first {
        None => Ok(()),
        // Nothing was done, for one reason: it says all there is to say.
        Some(error) if outcome.deleted.is_empty() && outcome.failed.len() == 1 => Err(error),
        Some(error) => Err(partly(&outcome, error.exit(), &args)),
    }
}

fn partly(outcome: &Deleted, exit: Exit, args: &DeleteStreamArgs) -> Failure {
    let (failed, gone) = (outcome.failed.len(), outcome.deleted.len());
    let stream = word(&args.stream);
    Failure::Partial {
        message: format!("{failed} of {} groups are not deleted", failed + gone),
        exit,
        advice: format!(
            "coordctl group list --stream {stream} shows what is left; repeat the same once what stands against it is gone, with --force to delete groups from under their members"
        ),
    }
}

fn request(change: &Change, force: bool) -> DeleteGroupRequest {
    DeleteGroupRequest {
        requested_by: change.asker.name(),
        reason: change.reason(),
        force,
    }
}

fn not_deleted(name: &str, error: &ClientError) -> NotDeleted {
    let message = match error {
        ClientError::Api { message, .. } => message.clone(),
        other => with_sources(other),
    };
    NotDeleted {
        consumer_group: name.to_owned(),
        error_code: error.code().map(|code| code.as_str().to_owned()),
        message: printable(&message),
    }
}

impl fmt::Display for NotDeleted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = &self.error_code {
            write!(f, "{code}: ")?;
        }
        f.write_str(&self.message)
    }
}
