//! What follows from what the handler said: a pure decision. Carrying it out is done elsewhere.

use std::time::Duration;

use crate::driver::handler::{HandlerError, Outcome};
use crate::driver::settings::{Exhausted, WorkerSettings};

/// The longest pause, a year.
const LONGEST_PAUSE: Duration = Duration::from_secs(365 * 24 * 3_600);

/// What is done with a record next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is acknowledged.
    Acknowledge,
    /// It is acknowledged and deleted.
    Delete,
    /// It is handed over again after a pause.
    Again { pause: Duration, why: String },
    /// It becomes a dead letter.
    GiveUp { reason: String },
    /// The shard stops.
    Halt { reason: String },
}

/// After so many attempts at a record, this one included. `is_durable`: attempts outlast the process.
pub(super) fn after(
    outcome: Result<Outcome, HandlerError>,
    made: u32,
    is_durable: bool,
    settings: &WorkerSettings,
) -> Step {
    let backoff = || settings.handler_backoff.pause(made);
    let (pause, why) = match outcome {
        Ok(Outcome::Ack) => return Step::Acknowledge,
        Ok(Outcome::AckAndDelete) => return Step::Delete,
        Ok(Outcome::Reject(reason)) if is_durable => return Step::GiveUp { reason },
        Ok(Outcome::Reject(reason)) => (
            backoff(),
            format!(
                "rejected ({reason}), but the coordinator names no generation for this shard, so there is no place for dead \
                 letters: let the coordinator provision its streams, or store the record elsewhere and acknowledge it"
            ),
        ),
        Ok(Outcome::Retry) => (
            backoff(),
            "the handler asked for another attempt".to_owned(),
        ),
        Ok(Outcome::RetryLater(pause)) => {
            (pause, "the handler asked for another attempt".to_owned())
        }
        Err(error) => (backoff(), error.to_string()),
    };
    if is_durable && made >= settings.max_attempts {
        return exhausted(made, Some(&why), settings);
    }
    let pause = pause.min(LONGEST_PAUSE);
    Step::Again { pause, why }
}

/// After the last attempt. Without a reason: an earlier owner made it.
pub(super) fn exhausted(made: u32, why: Option<&str>, settings: &WorkerSettings) -> Step {
    let why = why.unwrap_or("its last owner left no reason; perhaps the process died of it");
    let reason = format!("not handled after {made} attempts: {why}");
    match settings.exhausted {
        Exhausted::DeadLetter => Step::GiveUp { reason },
        Exhausted::Halt => Step::Halt { reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::backoff::Backoff;

    fn settings(exhausted: Exhausted) -> WorkerSettings {
        let pause = Duration::from_secs(1);
        WorkerSettings {
            read_count: 1,
            block: pause,
            handler_backoff: Backoff::new(pause, pause),
            redis_backoff: Backoff::new(pause, pause),
            recheck: pause,
            max_attempts: 3,
            exhausted,
            unordered: None,
        }
    }

    #[test]
    fn a_record_is_tried_as_often_as_was_asked_for_and_then_given_up_c21() {
        let failing = |made| {
            let outcome = Err(HandlerError::from("no stock"));
            after(outcome, made, true, &settings(Exhausted::DeadLetter))
        };
        for made in 1..3 {
            assert!(matches!(failing(made), Step::Again { ref why, .. } if why == "no stock"));
        }
        let reason = "not handled after 3 attempts: no stock".to_owned();
        assert_eq!(failing(3), Step::GiveUp { reason });
    }

    #[test]
    fn a_shard_halts_where_that_was_asked_for_c21() {
        let later = Ok(Outcome::RetryLater(Duration::from_secs(5)));
        let step = after(later, 3, true, &settings(Exhausted::Halt));
        assert!(matches!(step, Step::Halt { .. }), "{step:?}");
    }

    #[test]
    fn without_a_place_for_it_nothing_is_given_up_and_a_rejection_says_what_to_do() {
        let settings = settings(Exhausted::DeadLetter);
        let failing = after(Err("no stock".into()), 1_000, false, &settings);
        assert!(matches!(failing, Step::Again { .. }));
        let rejected = after(Ok(Outcome::Reject("bad".to_owned())), 1, false, &settings);
        assert!(
            matches!(&rejected, Step::Again { why, .. } if why.contains("no generation")),
            "{rejected:?}"
        );
    }

    #[test]
    fn a_pause_is_the_one_that_the_handler_asked_for() {
        let pause = Duration::from_secs(77);
        let step = after(
            Ok(Outcome::RetryLater(pause)),
            1,
            true,
            &settings(Exhausted::Halt),
        );
        assert!(matches!(step, Step::Again { pause: found, .. } if found == pause));
    }
}
