//! Follows a change of the shard count to its end, and shows what it waits for. It changes nothing: whether it is followed or not, a change goes on.

mod progress;
mod stand;

use std::time::{Duration, Instant};

use protocol::{Migration, MigrationState};
use tokio::time::sleep;

use crate::failure::Failure;
use crate::run::Session;
use crate::show::text::word;
use progress::Progress;
use stand::Stand;

/// How often the coordinator is asked.
const PAUSE: Duration = Duration::from_millis(500);
/// For how long no coordinator may answer.
const SILENCE: Duration = Duration::from_secs(60);

/// A change of a stream that is followed.
pub(crate) struct Following<'a> {
    pub(crate) session: &'a Session,
    pub(crate) stream: &'a str,
    /// The state that it should end in.
    pub(crate) wanted: MigrationState,
    /// The most to wait.
    pub(crate) limit: Option<Duration>,
}

/// The change as each group has it.
pub(crate) type Changes = Vec<(String, Migration)>;

impl Following<'_> {
    /// Waits until every group is through with the change.
    ///
    /// # Errors
    /// The time is over, Ctrl-C, the change ended in another state, or the coordinator refuses or is silent for too long. The change goes on in each case.
    pub(crate) async fn to_the_end(&self, changes: Changes) -> Result<Changes, Failure> {
        let id = changes
            .first()
            .map(|(_, change)| change.resharding_id.clone());
        let advice = format!(
            "look at it: coordctl migration show {stream} {id}, or coordctl watch {stream}",
            stream = word(self.stream),
            id = id.unwrap_or_default()
        );
        let limit = async {
            match self.limit {
                Some(limit) => sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            ended = self.ask_again_and_again(changes, &advice) => ended,
            interrupted = tokio::signal::ctrl_c() => Err(match interrupted {
                Ok(()) => Failure::Interrupted { advice: advice.clone() },
                Err(source) => Failure::Io { what: "could not listen for Ctrl-C".to_owned(), source },
            }),
            () = limit => Err(Failure::TimedOut {
                limit: self.limit.map(span).unwrap_or_default(),
                advice: advice.clone(),
            }),
        }
    }

    async fn ask_again_and_again(
        &self,
        mut changes: Changes,
        advice: &str,
    ) -> Result<Changes, Failure> {
        let mut progress = Progress::start(self.session.output, self.stream);
        let mut heard = Instant::now();
        loop {
            let stand = match self.ask(&changes).await {
                Ok(now) => {
                    heard = Instant::now();
                    changes = now;
                    let owners = stand::owners(self.session, self.stream, &changes).await?;
                    Stand::of(&changes, &owners)
                }
                Err(Failure::Client(error)) if error.is_retryable() => {
                    if heard.elapsed() > SILENCE {
                        return Err(Failure::Silence {
                            limit: span(SILENCE),
                            source: Box::new(error),
                            advice: advice.to_owned(),
                        });
                    }
                    Stand::silent(&changes, &error)
                }
                Err(failure) => return Err(failure),
            };
            progress.show(&stand);
            if changes.iter().all(|(_, change)| is_through(change)) {
                progress.end();
                return self.ended(changes);
            }
            sleep(PAUSE).await;
        }
    }

    /// The change as each group has it now. Groups that were deleted meanwhile are no longer waited for.
    async fn ask(&self, changes: &Changes) -> Result<Changes, Failure> {
        let mut now = Changes::new();
        for (group, known) in changes {
            if is_through(known) {
                now.push((group.clone(), known.clone()));
                continue;
            }
            let client = &self.session.client;
            let answer = client
                .migration(self.stream, group, &known.resharding_id)
                .await;
            match answer {
                Ok(change) => now.push((group.clone(), change)),
                Err(error) if error.code() == Some(&protocol::ErrorCode::GroupNotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if now.is_empty() {
            return Err(Failure::NotFound {
                message: format!("every group of {} was deleted meanwhile", self.stream),
                advice: "coordctl group list shows what there is".to_owned(),
            });
        }
        Ok(now)
    }

    fn ended(&self, changes: Changes) -> Result<Changes, Failure> {
        let other = changes
            .iter()
            .find(|(_, change)| change.state != self.wanted);
        match other {
            Some((_, change)) if change.state == MigrationState::RolledBack => {
                Err(Failure::TakenBack {
                    stream: self.stream.to_owned(),
                    shards: change.from_shard_count,
                })
            }
            _ => Ok(changes),
        }
    }
}

fn is_through(change: &Migration) -> bool {
    matches!(
        change.state,
        MigrationState::Deprecated | MigrationState::RolledBack
    )
}

fn span(of: Duration) -> String {
    humantime::format_duration(of).to_string()
}

/// How long something took, in words.
pub(crate) fn took(since: Instant) -> String {
    let millis = since.elapsed().as_millis();
    format!("{}.{} s", millis / 1_000, millis % 1_000 / 100)
}
