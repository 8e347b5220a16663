//! Watches one group: the coordinator says when it changes, and what it does not say is looked at.

use std::time::Duration;

use coordinator_client::ClientError;
use protocol::{Assignments, ErrorCode, Group, MemberList};
use tokio::time::sleep;

use super::screen::Screen;
use super::silence;
use crate::failure::Failure;
use crate::run::Session;
use crate::show::drain::{Owners, waits};
use crate::show::{Look, groups, members};

/// What one look at the group saw.
struct Seen {
    group: Group,
    members: MemberList,
    assignments: Assignments,
}

pub(super) async fn watch(
    session: &Session,
    stream: &str,
    group: &str,
    interval: Duration,
) -> Result<(), Failure> {
    let mut screen = Screen::new(session.output);
    let mut seen = look(session, stream, group, screen.is_place()).await?;
    let mut told = None;
    loop {
        let now = (seen.group.metadata_version, seen.group.state);
        if told.replace(now) != Some(now) {
            screen.changed(&seen.group)?;
        }
        screen.draw(&view(&seen, session))?;
        let outcome = match wait_for_change(session, &seen.group, interval).await {
            Ok(()) => look(session, stream, group, screen.is_place()).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(now) => seen = now,
            Err(error) if error.code() == Some(&ErrorCode::GroupNotFound) => {
                screen.gone(&seen.group)?;
                return screen.draw(&format!("{stream}/{group} is gone"));
            }
            Err(error) if error.is_retryable() => {
                screen.trouble(&silence(&error), &view(&seen, session))?;
                sleep(interval).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

async fn look(
    session: &Session,
    stream: &str,
    group: &str,
    whole: bool,
) -> Result<Seen, ClientError> {
    let client = &session.client;
    let mut seen = Seen {
        group: client.monitored_group(stream, group).await?,
        members: MemberList::default(),
        assignments: Assignments::default(),
    };
    if whole {
        seen.members = client.members(stream, group).await?;
        seen.assignments = client.assignments(stream, group).await?;
    }
    Ok(seen)
}

/// Returns when the group has another version or the interval is over: the state and ages change without one. Who may not watch looks at intervals only.
async fn wait_for_change(
    session: &Session,
    group: &Group,
    interval: Duration,
) -> Result<(), ClientError> {
    let (stream, name) = (&group.stream_prefix, &group.consumer_group);
    let client = &session.client;
    match client
        .watch(stream, name, group.metadata_version, interval)
        .await
    {
        Ok(_) => Ok(()),
        Err(ClientError::Api {
            status: 401 | 403, ..
        }) => {
            sleep(interval).await;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn view(seen: &Seen, session: &Session) -> String {
    let look = Look::at(session.output);
    let group = &seen.group;
    let mut text = groups::list(std::slice::from_ref(group), &look);
    text.push_str("\n\n");
    text.push_str(&members::list(&seen.members, &look));
    let name = &group.consumer_group;
    let mut owners = Owners::new();
    for (member, shards) in &seen.assignments.current_assignments {
        for shard in shards {
            owners.insert((name.clone(), shard.shard_index), member.clone());
        }
    }
    let change = group.active_migration.as_ref();
    let leaving = change.and_then(|change| change.shards.as_ref());
    let lines: Vec<String> = leaving
        .into_iter()
        .flatten()
        .flat_map(|shard| waits(shard, std::slice::from_ref(name), &owners))
        .collect();
    if !lines.is_empty() {
        text.push_str("\n\n");
        text.push_str(&lines.join("\n"));
    }
    for violation in &seen.assignments.invariant_violations {
        text.push_str("\nVIOLATED  ");
        text.push_str(&crate::show::text::printable(violation));
    }
    text
}
