//! What to do about a failure, in one line. It asks nobody.

use coordinator_client::{BuildError, ClientError};
use protocol::ErrorCode;

use super::{Failure, broken};
use crate::connect::{Target, Who};
use crate::context::ContextError;
use crate::file;
use crate::identity;
use crate::show::text::word;
use crate::show::time::Moment;

impl Failure {
    /// What to do about it, where that is known.
    pub(crate) fn advice(&self, target: Option<&Target>) -> Option<String> {
        match self {
            Self::Client(error) => of_client(error, target),
            Self::Usage { advice, .. }
            | Self::NotFound { advice, .. }
            | Self::Partial { advice, .. }
            | Self::Snapshot { advice, .. }
            | Self::TimedOut { advice, .. }
            | Self::Silence { advice, .. }
            | Self::Interrupted { advice } => Some(advice.clone()),
            Self::Context(error) => of_context(error),
            Self::File {
                path,
                is_written,
                source,
            } => file::advice(path, source.kind(), *is_written),
            Self::Down => Some("its log says more; docs/operations.md has what to do".to_owned()),
            Self::Unwell => Some("each finding names its part of docs/operations.md".to_owned()),
            Self::Setting(error) => of_setting(error),
            Self::TakenBack { .. } | Self::Io { .. } | Self::Output(_) | Self::Hash(_) => None,
        }
    }
}

fn of_setting(error: &BuildError) -> Option<String> {
    let said = super::with_sources(error);
    let advice = match error.setting() {
        "base_urls" => {
            "for instance --server https://coord.example:8443; it is from --server, COORDCTL_SERVER or the context"
        }
        "client_identity_pem" if said.contains("KeyMismatch") => {
            "the key is not that of the certificate: name two that were made together"
        }
        "client_identity_pem" => identity::BOTH,
        "root_certificates_pem" => identity::AUTHORITIES,
        _ => return None,
    };
    Some(advice.to_owned())
}

fn of_context(error: &ContextError) -> Option<String> {
    match error {
        ContextError::Readable { path, .. } => Some(format!(
            "chmod 600 {}; if somebody may have read it, log in again: coordctl login",
            path.display()
        )),
        ContextError::Unknown { .. } => {
            Some("coordctl context list shows those there are; coordctl login makes one".to_owned())
        }
        ContextError::NoPlace => Some("say where by --contexts-file".to_owned()),
        ContextError::NotCurrent => {
            Some("coordctl context use NAME, or give --context NAME".to_owned())
        }
        ContextError::Format { .. } => {
            Some("mend it, or remove it and log in again: coordctl login".to_owned())
        }
        ContextError::Read { path, source } => file::advice(path, source.kind(), false),
        ContextError::Write { path, source } => file::advice(path, source.kind(), true),
    }
}

fn of_client(error: &ClientError, target: Option<&Target>) -> Option<String> {
    let advice = match error {
        ClientError::Transport { .. } => broken::advice(error).to_owned(),
        ClientError::Timeout { .. } => {
            "--timeout allows more; what was asked for may have been done all the same: look before you repeat it".to_owned()
        }
        ClientError::Decode { .. } => {
            "is that a coordinator, and of this version? coordctl health".to_owned()
        }
        ClientError::Api {
            code, retry_after, ..
        } => {
            let subject = Subject::of(target);
            let advice = of_code(code, &subject, retry_after.is_some(), target);
            return advice.map(|advice| match retry_after {
                Some(wait) => format!("{advice} (again in {} s)", wait.as_secs()),
                None => advice,
            });
        }
        _ => return None,
    };
    Some(advice)
}

/// What the command was about, as words of a command line.
struct Subject {
    stream: String,
    /// Where it was about one.
    group: Option<String>,
}

impl Subject {
    fn of(target: Option<&Target>) -> Self {
        let about = target.and_then(|target| target.about.as_ref());
        let group = about.and_then(|about| about.group.as_deref());
        Self {
            stream: about.map_or_else(|| "STREAM".to_owned(), |about| word(&about.stream)),
            group: group.map(word),
        }
    }
}

/// `is_repeated`: the coordinator says that the same request may do later, without anybody's doing.
fn of_code(
    code: &ErrorCode,
    subject: &Subject,
    is_repeated: bool,
    target: Option<&Target>,
) -> Option<String> {
    let Subject { stream, group } = subject;
    let advice = match code {
        ErrorCode::Unauthorized => return Some(of_unauthorized(target)),
        ErrorCode::Forbidden => "log in as somebody who may: coordctl login --user NAME".to_owned(),
        ErrorCode::GroupHasActiveMembers => {
            let look = match group {
                Some(group) => format!("coordctl members {stream} {group}"),
                None => format!("coordctl group list --stream {stream} shows how many"),
            };
            format!(
                "stop its members first ({look}); --force deletes it from under them: they stop reading, and join again only if it is made again"
            )
        }
        ErrorCode::ActiveMigrationExists => format!(
            "wait for it (coordctl watch {stream}), or look at it (coordctl migration show {stream}); while it is PREPARING or ACTIVE it can be taken back (coordctl migration rollback {stream})"
        ),
        ErrorCode::MetadataSyncInProgress => format!(
            "writes were lost in Redis, and members are catching up; it ends by itself: coordctl watch {stream}"
        ),
        ErrorCode::StateVersionConflict => {
            "somebody else changed it at the same time: look, and repeat".to_owned()
        }
        ErrorCode::GroupNotFound | ErrorCode::StreamNotFound => {
            "coordctl group list shows what there is".to_owned()
        }
        ErrorCode::MigrationNotFound => {
            format!("coordctl migrations {stream} shows those there are")
        }
        ErrorCode::RollbackNotAllowed => format!(
            "wait for its end (coordctl watch {stream}), then change the count again: coordctl stream scale {stream} COUNT"
        ),
        ErrorCode::StreamPrefixAlreadyExists => format!(
            "coordctl group list --stream {stream} shows its groups; if there are none, what an earlier stream left behind, or keys of somebody else's, are in Redis: choose another name, or see docs/operations.md#deleting"
        ),
        ErrorCode::GroupAlreadyExists => match group {
            Some(group) => format!("coordctl group show {stream} {group}"),
            None => "coordctl group list shows what there is".to_owned(),
        },
        ErrorCode::RedisNotConfigured => {
            "the coordinator keeps no shard streams: start it with --streams or --store redis://…"
                .to_owned()
        }
        ErrorCode::RedisStreamProvisioningFailed if is_repeated => {
            "send the same again: it goes on where it stopped. coordctl health says how Redis fares"
                .to_owned()
        }
        ErrorCode::RedisStreamProvisioningFailed => {
            "mend what is named first, and send the same again: it goes on where it stopped. Rights: docs/operations.md#permissions".to_owned()
        }
        ErrorCode::CoordinatorStateMutexUnavailable => "send the same again".to_owned(),
        ErrorCode::StoreUnavailable if is_repeated => {
            "see to Redis where it does not come back by itself (coordctl health, coordctl doctor), and send the same again".to_owned()
        }
        ErrorCode::StoreUnavailable => {
            "this does not pass by itself: mend what is named, a right of its user for instance (docs/operations.md#permissions); coordctl doctor looks for more".to_owned()
        }
        ErrorCode::CoordinatorTerminating => "ask another: --server URL".to_owned(),
        ErrorCode::MetadataCorrupt => {
            "nothing was changed; docs/operations.md, First aid, has what to do".to_owned()
        }
        ErrorCode::RateLimitExceeded => "too many changes at once: slow down".to_owned(),
        ErrorCode::NotFound => format!(
            "shards are shown by coordctl shards {stream}; or the coordinator is older than this coordctl, or --server has a path too many"
        ),
        ErrorCode::InternalError => "the coordinator's log says more".to_owned(),
        ErrorCode::Unknown(_) => {
            "something in front of the coordinator answered, or it is of a later version".to_owned()
        }
        _ => return None,
    };
    Some(advice)
}

fn of_unauthorized(target: Option<&Target>) -> String {
    match target.map(|target| &target.who) {
        Some(Who::Context { name, expires_at }) => {
            let now = Moment::now();
            match expires_at {
                Some(end) if now.is_after(*end) => format!(
                    "the token of context `{name}` ended {}: coordctl login --context {name}",
                    now.tell(*end)
                ),
                _ => format!(
                    "the token of context `{name}` is not taken any more: coordctl login --context {name}"
                ),
            }
        }
        Some(Who::Withheld { name, servers }) => {
            let asked = target.map_or_else(String::new, |target| target.servers.join(","));
            format!(
                "the token of context `{name}` is for {} and was not sent to {asked}: log in there (coordctl login --server {asked} --user NAME --context NAME), or give --user",
                servers.join(",")
            )
        }
        Some(Who::User) => "check the user's name and the password".to_owned(),
        Some(Who::Token) => {
            "the token given is not taken (any more); coordctl login fetches a new one".to_owned()
        }
        Some(Who::Nobody) | None => {
            let servers =
                target.map_or_else(|| "URL".to_owned(), |target| target.servers.join(","));
            format!(
                "log in: coordctl login --server {servers} --user NAME; or give --user, or COORDCTL_TOKEN"
            )
        }
    }
}
