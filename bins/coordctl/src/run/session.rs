//! What every command that asks a coordinator has: the client, and where the answer goes.

use coordinator_client::CoordinatorClient;
use nix::unistd::{Uid, User};
use protocol::Group;
use serde::Serialize;

use crate::cli::{Asker, Change};
use crate::failure::Failure;
use crate::output::Output;
use crate::show::Look;
use crate::show::text::printable;

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

    /// The groups of a stream that exists.
    pub(crate) async fn groups_of(&self, stream: &str) -> Result<Vec<Group>, Failure> {
        let mut groups = self.client.groups().await?.groups;
        groups.retain(|group| group.stream_prefix == stream);
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
    /// Why, where the change is really to be made: the command line demands a reason with `--execute`.
    pub(crate) fn reason(&self) -> String {
        self.reason.clone().unwrap_or_default()
    }
}
