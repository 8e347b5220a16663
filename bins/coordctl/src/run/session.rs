//! What every command that asks a coordinator has: the client, and where the answer goes.

use std::time::Duration;

use coordinator_client::CoordinatorClient;
use nix::unistd::{Uid, User};
use protocol::{Group, GroupsQuery, ListedFrom};
use serde::Serialize;

use crate::cli::{Asker, Change};
use crate::failure::Failure;
use crate::output::Output;
use crate::show::Look;
use crate::show::text::{printable, word};

/// By how much a list from an index may be late.
const LATE: Duration = Duration::from_secs(1);

/// A client, and where answers go.
pub(crate) struct Session {
    pub(crate) client: CoordinatorClient,
    pub(crate) output: Output,
}

impl Session {
    /// Shows an answer.
    pub(crate) fn answer<T: Serialize>(
        &self,
        answer: &T,
        text: impl FnOnce(&T, &Look) -> String,
    ) -> Result<(), Failure> {
        let look = Look::at(self.output);
        self.output.answer(answer, || text(answer, &look))
    }

    /// The groups of a stream; none only where there is none. A list from an index may be late by a moment, so that it is asked for once more where nothing is in it.
    pub(crate) async fn listed(&self, stream: &str) -> Result<Vec<Group>, Failure> {
        let query = GroupsQuery {
            stream_prefix: Some(stream.to_owned()),
            ..GroupsQuery::default()
        };
        let list = self.client.groups_page(&query).await?;
        if !list.groups.is_empty() || list.served_by == Some(ListedFrom::Records) {
            return Ok(list.groups);
        }
        tokio::time::sleep(LATE).await;
        Ok(self.client.groups_page(&query).await?.groups)
    }

    /// The groups of a stream that exists.
    pub(crate) async fn groups_of(&self, stream: &str) -> Result<Vec<Group>, Failure> {
        let groups = self.listed(stream).await?;
        if groups.is_empty() {
            return Err(Failure::NotFound {
                message: format!("there is no stream `{}`", printable(stream)),
                advice: "coordctl group list shows what there is".to_owned(),
            });
        }
        Ok(groups)
    }
}

impl Asker {
    /// Who asks, as it is said again: nothing where it was not said, or by the environment, which says so the next time, too.
    pub(crate) fn again(&self) -> String {
        let everywhere = std::env::var("COORDCTL_REQUESTED_BY").ok();
        let said = self.requested_by.as_deref();
        let said = said.filter(|said| everywhere.as_deref() != Some(said));
        said.map_or_else(String::new, |who| format!(" --requested-by {}", word(who)))
    }

    /// Who asks: as was said, else the user of this machine.
    pub(crate) fn name(&self) -> String {
        self.requested_by.clone().unwrap_or_else(|| {
            let set = |name: &str| std::env::var(name).ok().filter(|user| !user.is_empty());
            let user = set("USER").or_else(|| set("LOGNAME"));
            let host = gethostname::gethostname();
            let user = user.unwrap_or_else(of_the_process);
            format!("{user}@{}", host.to_string_lossy())
        })
    }
}

/// The user that this process is of: by its name, else by its number.
fn of_the_process() -> String {
    let id = Uid::effective();
    match User::from_uid(id) {
        Ok(Some(user)) => user.name,
        _ => format!("uid-{id}"),
    }
}

impl Change {
    /// What is said, beside what to do, to have it done.
    pub(crate) fn again(&self) -> String {
        let reason = self.reason.as_deref().map(word);
        let reason = reason.as_deref().unwrap_or("TEXT");
        format!("--execute --reason {reason}{}", self.asker.again())
    }

    /// Why, where the change is really to be made: the command line demands a reason with `--execute`.
    pub(crate) fn reason(&self) -> String {
        self.reason.clone().unwrap_or_default()
    }
}
