//! Keeps the routing table fresh: asks the coordinator, once for however many callers, and hands out what is valid.
//! It publishes nothing.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use coordinator_client::{ClientError, CoordinatorClient};
use protocol::ErrorCode;
use tokio::sync::Mutex;

use crate::counters::Counters;
use crate::error::PublishError;
use crate::routing_table::{RoutingError, RoutingTable, RoutingTimes};
use crate::settings::Settings;

/// After a failure nobody asks again for a part of the refresh interval, within these bounds.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Why asking for the routing came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The coordinator gave no answer, or refused.
    #[error("the coordinator gave no routing")]
    Coordinator(#[source] ClientError),
    /// The coordinator's answer cannot be used.
    #[error("the coordinator's routing cannot be used")]
    Unusable(#[source] RoutingError),
}

impl RefreshError {
    /// Whether asking again may bring a routing: not where the coordinator refuses for good, as it does wrong credentials.
    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::Coordinator(error) => error.is_retryable(),
            Self::Unusable(_) => false,
        }
    }

    /// Whether the coordinator said that there is no such group.
    pub(crate) fn is_no_group(&self) -> bool {
        let Self::Coordinator(error) = self else {
            return false;
        };
        matches!(
            error.code(),
            Some(ErrorCode::GroupNotFound | ErrorCode::StreamNotFound)
        )
    }
}

/// A table and which answer it came from, counted from 1.
#[derive(Debug, Clone)]
pub(crate) struct Fetched {
    pub(crate) table: Arc<RoutingTable>,
    pub(crate) answer: u64,
}

#[derive(Debug, Default)]
struct State {
    current: Option<Fetched>,
    /// Answers that brought a table.
    answers: u64,
    /// Questions that are over, whatever they brought.
    questions: u64,
    /// The last question, if it failed.
    failure: Option<(Instant, Arc<RefreshError>)>,
}

/// The routing of one group.
#[derive(Debug)]
pub(crate) struct Router {
    coordinator: CoordinatorClient,
    stream_prefix: String,
    consumer_group: String,
    times: RoutingTimes,
    counters: Arc<Counters>,
    state: RwLock<State>,
    asking: Mutex<()>,
}

impl Router {
    pub(crate) fn new(
        coordinator: CoordinatorClient,
        settings: &Settings,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            coordinator,
            stream_prefix: settings.stream_prefix.clone(),
            consumer_group: settings.consumer_group.clone(),
            times: RoutingTimes {
                refresh_interval: settings.refresh_interval,
                lease: settings.routing_lease,
            },
            counters,
            state: RwLock::default(),
            asking: Mutex::new(()),
        }
    }

    /// A table that may be relied on now. It is asked for if there is none, and refused if none can be had.
    pub(crate) async fn valid(&self) -> Result<Fetched, PublishError> {
        let known = self.read(|state| state.current.clone());
        if let Some(fetched) = &known
            && !fetched.table.is_expired(Instant::now())
        {
            return Ok(fetched.clone());
        }
        let answer = known.as_ref().map_or(0, |fetched| fetched.answer);
        let renewed = self.newer_than(answer).await;
        let now = Instant::now();
        match (renewed, known) {
            (Ok(fetched), _) if !fetched.table.is_expired(now) => Ok(fetched),
            (Ok(fetched), _) => Err(expired(&fetched.table, now, None)),
            (Err(source), _) if source.is_no_group() => Err(self.no_group()),
            (Err(source), Some(old)) => Err(expired(&old.table, now, Some(source))),
            (Err(source), None) => Err(PublishError::NoRouting { source }),
        }
    }

    /// A table from a later answer than `answer`. However many callers miss the same answer at once, one of them asks and
    /// the others take what it got, failure included.
    pub(crate) async fn newer_than(&self, answer: u64) -> Result<Fetched, Arc<RefreshError>> {
        let questions = self.read(|state| state.questions);
        let _one_at_a_time = self.asking.lock().await;
        let settled = self.read(|state| {
            if let Some(fetched) = state
                .current
                .as_ref()
                .filter(|fetched| fetched.answer > answer)
            {
                return Some(Ok(fetched.clone()));
            }
            let (failed_at, error) = state.failure.as_ref()?;
            let recent = state.questions > questions || failed_at.elapsed() < self.pause();
            recent.then(|| Err(Arc::clone(error)))
        });
        match settled {
            Some(outcome) => outcome,
            None => self.ask().await,
        }
    }

    /// Asks because time has come. How long to wait until it comes again.
    pub(crate) async fn refresh_if_due(&self) -> Duration {
        let known = self.read(|state| state.current.clone());
        let answer = match known {
            Some(fetched) if !fetched.table.is_due(Instant::now()) => {
                return fetched.table.due_in(Instant::now());
            }
            Some(fetched) => fetched.answer,
            None => 0,
        };
        match self.newer_than(answer).await {
            Ok(fetched) => fetched.table.due_in(Instant::now()).max(SHORTEST_PAUSE),
            Err(_) => self.pause(),
        }
    }

    pub(crate) fn no_group(&self) -> PublishError {
        PublishError::NoGroup {
            stream_prefix: self.stream_prefix.clone(),
            consumer_group: self.consumer_group.clone(),
        }
    }

    async fn ask(&self) -> Result<Fetched, Arc<RefreshError>> {
        Counters::count(&self.counters.refreshes);
        let asked_at = Instant::now();
        let group = (self.stream_prefix.as_str(), self.consumer_group.as_str());
        let outcome = match self.coordinator.producer_routing(group.0, group.1).await {
            Ok(routing) => RoutingTable::new(routing, group, asked_at, self.times)
                .map_err(RefreshError::Unusable),
            Err(error) => Err(RefreshError::Coordinator(error)),
        };
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.questions += 1;
        match outcome {
            Ok(table) => {
                state.answers += 1;
                let fetched = Fetched {
                    table: Arc::new(table),
                    answer: state.answers,
                };
                state.current = Some(fetched.clone());
                state.failure = None;
                Ok(fetched)
            }
            Err(error) => {
                Counters::count(&self.counters.refresh_failures);
                if error.is_no_group() {
                    // The coordinator's word ends the lease: what was routed before must not be written to any more.
                    state.current = None;
                }
                let error = Arc::new(error);
                state.failure = Some((Instant::now(), Arc::clone(&error)));
                Err(error)
            }
        }
    }

    fn pause(&self) -> Duration {
        (self.times.refresh_interval / 10).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }

    fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn expired(table: &RoutingTable, now: Instant, source: Option<Arc<RefreshError>>) -> PublishError {
    PublishError::RoutingExpired {
        age: table.age(now),
        lease: table.lease(),
        source,
    }
}
