//! The settings that a script gives a group. What it leaves out is as protocol version 1 has it.

use coordinator_core::assign::{AssignmentStrategy, Range, Sticky};
use coordinator_core::evidence::DrainProof;
use coordinator_core::settings::{Settings, Timing};

use super::ScriptError;
use super::words::Words;

pub fn settings(words: &mut Words) -> Result<Settings, ScriptError> {
    let usual = Timing::default();
    let timing = Timing {
        heartbeat_interval: words.span("heartbeat")?.unwrap_or(usual.heartbeat_interval),
        member_lease_ttl: words.span("lease")?.unwrap_or(usual.member_lease_ttl),
        rebalance_timeout: words.span("rebalance")?.unwrap_or(usual.rebalance_timeout),
        stale_member_retention: words
            .span("retention")?
            .unwrap_or(usual.stale_member_retention),
    };
    let strategy: &'static dyn AssignmentStrategy = match words.text("strategy").as_deref() {
        None | Some("sticky") => &Sticky,
        Some("range") => &Range,
        Some(other) => return Err(words.error(format!("no strategy is called {other}"))),
    };
    let proof = match words.text("proof").as_deref() {
        None | Some("lag") => DrainProof::Lag,
        Some("entries") => DrainProof::Entries,
        Some(other) => return Err(words.error(format!("`{other}` is no proof"))),
    };
    let settings = Settings::validated(timing, strategy);
    let settings = settings.map_err(|error| words.error(error.to_string()))?;
    Ok(settings.with_drain_proof(proof))
}
