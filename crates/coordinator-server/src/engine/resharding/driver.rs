//! Who goes on with a stream's change: one task for each stream that has one, as long as it has one. It looks again with every tick, and as soon as something
//! was recorded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coordinator_core::names::StreamPrefix;
use tokio::sync::Notify;

use super::Progress;
use crate::engine::{Engine, EngineError};

/// After a failure it is looked again after this long at least.
const PAUSE: Duration = Duration::from_millis(500);

/// The streams that have a change under way, as far as this coordinator has seen.
#[derive(Default)]
pub(in crate::engine) struct Drivers(Mutex<HashMap<StreamPrefix, Arc<Notify>>>);

impl Engine {
    /// Sees to it that somebody goes on with the stream's change, and looks at it anew.
    pub(in crate::engine) fn drive(&self, stream: &StreamPrefix) {
        let mut drivers = self
            .0
            .resharding
            .drivers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(wake) = drivers.get(stream) {
            wake.notify_one();
            return;
        }
        let wake = Arc::new(Notify::new());
        drivers.insert(stream.clone(), Arc::clone(&wake));
        let (engine, stream) = (self.clone(), stream.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = engine.drive_on(&stream, &wake) => {}
                () = engine.stopped() => {}
            }
        });
    }

    async fn drive_on(&self, stream: &StreamPrefix, wake: &Notify) {
        let tick = self.0.watchtower.tick();
        let mut told: Option<String> = None;
        loop {
            let pause = match self.reshard(stream).await {
                Ok(Progress::Went) => {
                    told = None;
                    continue;
                }
                Ok(Progress::Waits) => tick,
                Ok(Progress::Nothing) => {
                    if self.forget_driver(stream) {
                        return;
                    }
                    tick
                }
                Err(error) => {
                    tell_once(stream, &error, &mut told);
                    tick.max(PAUSE)
                }
            };
            tokio::select! {
                () = wake.notified() => {
                    // Members report one after the other: what they record is looked at together.
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Whoever records a change from now on starts another one.
    fn forget_driver(&self, stream: &StreamPrefix) -> bool {
        let mut drivers = self
            .0
            .resharding
            .drivers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        drivers.remove(stream).is_some()
    }
}

/// Said once, not with every attempt.
fn tell_once(stream: &StreamPrefix, error: &EngineError, told: &mut Option<String>) {
    let text = error.to_string();
    if told.as_ref() != Some(&text) {
        tracing::warn!(%stream, %error, "the change of the shard count does not go on; trying again");
        *told = Some(text);
    }
}
