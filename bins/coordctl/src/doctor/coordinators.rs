//! The coordinators themselves: reached, ready, of a known version, on time, and not open to everybody.

use std::time::Duration;

use coordinator_client::{ClientError, CoordinatorClient, Credentials};
use protocol::{Compatibility, Health, HealthStatus, is_supported};

use super::Named;
use super::finding::{Finding, Kind};
use crate::address::is_beyond_loopback;
use crate::failure::with_sources;
use crate::show::time::Moment;

/// By how much clocks may differ before somebody should know.
const SKEW: Duration = Duration::from_secs(5);

/// How the last of the reasons begins that health has for `DEGRADED`, where it is no fault of the store.
const UNRECORDED: &str = "members heartbeat into groups that are not recorded";

/// Looks one coordinator over, and says whether it answers questions about groups.
pub(super) async fn examine(named: &Named, findings: &mut Vec<Finding>) -> bool {
    let Named { url, client } = named;
    let mut found = |kind, what: String| findings.push(Finding::new(kind, url.clone(), what));
    match client.is_live().await {
        Ok(true) => {}
        // Not the coordinator's: something in front of it does not reach it.
        Ok(false) => {
            found(
                Kind::CoordinatorUnreachable,
                "/healthz answers 503".to_owned(),
            );
            return false;
        }
        Err(error) => {
            found(Kind::CoordinatorUnreachable, with_sources(&error));
            return false;
        }
    }
    match client.why_not_ready().await {
        Ok(None) => {}
        Ok(Some(why)) => found(
            Kind::CoordinatorNotReady,
            format!("/readyz answers 503: {why}"),
        ),
        Err(error) => found(
            Kind::CoordinatorNotReady,
            format!("/readyz: {}", with_sources(&error)),
        ),
    }
    match client.compatibility().await {
        Ok(compatibility) => {
            if let Some(what) = other_version(&compatibility) {
                found(Kind::VersionNotSupported, what);
            }
        }
        Err(error @ ClientError::Decode { .. }) => {
            found(Kind::VersionNotSupported, with_sources(&error));
        }
        // Whoever may not ask, or gets no answer, is told so of health.
        Err(_) => {}
    }
    let answers = match client.health().await {
        Ok(health) => {
            examine_health(&health, &mut found);
            true
        }
        Err(ClientError::Api {
            status: 401 | 403, ..
        }) => true,
        Err(error) => {
            found(Kind::CoordinatorUnreachable, with_sources(&error));
            false
        }
    };
    if is_beyond_loopback(url) && lets_anybody_in(client).await {
        let what = "user admin has the default password, and it is reached from elsewhere";
        found(Kind::DefaultPassword, what.to_owned());
    }
    answers
}

/// What it speaks, where that is nothing that this program does.
fn other_version(compatibility: &Compatibility) -> Option<String> {
    let version = compatibility.current_coordination_version;
    (!is_supported(version))
        .then(|| format!("it speaks version {version} of the coordination protocol"))
}

/// What health says of a store that works. Anybody can have members counted that nobody knows: that is apart from how the store does.
fn of_store(told: &str, kind: Kind, found: &mut impl FnMut(Kind, String)) {
    let (of_store, of_members) = told.split_at(told.find(UNRECORDED).unwrap_or(told.len()));
    let of_store = of_store.trim_end_matches("; ");
    if !of_store.is_empty() {
        found(kind, of_store.to_owned());
    }
    if !of_members.is_empty() {
        found(Kind::MembersUnknown, of_members.to_owned());
    }
}

fn examine_health(health: &Health, found: &mut impl FnMut(Kind, String)) {
    let reason = |detail: &Option<String>| {
        let detail = detail.clone();
        detail.unwrap_or_else(|| "no reason is told".to_owned())
    };
    match health.redis {
        HealthStatus::Up => {
            let remark = health.redis_detail.as_deref().unwrap_or_default();
            of_store(remark, Kind::StoreUncertain, found);
        }
        HealthStatus::Degraded => {
            of_store(&reason(&health.redis_detail), Kind::StoreDegraded, found)
        }
        HealthStatus::Down => {
            found(Kind::StoreDown, reason(&health.redis_detail));
            return;
        }
    }
    if health.tick_loop != HealthStatus::Up {
        found(Kind::PeriodicWorkFails, reason(&health.loop_detail));
        return;
    }
    // Ticks come several times a second, by the store's clock.
    if let Some(at) = health.last_tick_at {
        let here = Moment::now().iso().as_millis();
        let apart = Duration::from_millis(here.abs_diff(at.as_millis()));
        if apart > SKEW {
            let what = format!(
                "the store's clock and this machine's are {} s apart",
                apart.as_secs()
            );
            found(Kind::ClocksDiffer, what);
        }
    }
}

async fn lets_anybody_in(client: &CoordinatorClient) -> bool {
    let Ok(client) = client.with_credentials(Credentials::basic("admin", "admin")) else {
        return false;
    };
    client
        .session()
        .await
        .is_ok_and(|session| session.authenticated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_of(health: &Health) -> Vec<(Kind, String)> {
        let mut found = Vec::new();
        examine_health(health, &mut |kind, what| found.push((kind, what)));
        found
    }

    #[test]
    fn work_that_fails_is_told_with_its_reason() {
        let well = Health {
            status: HealthStatus::Up,
            coordinator_id: "c-1".to_owned(),
            redis: HealthStatus::Up,
            tick_loop: HealthStatus::Up,
            redis_detail: None,
            redis_latency_ms: Some(1),
            loop_detail: None,
            last_tick_at: Some(Moment::now().iso()),
        };
        assert_eq!(found_of(&well), []);
        let late = Health {
            tick_loop: HealthStatus::Degraded,
            loop_detail: Some("the store is unavailable".to_owned()),
            ..well
        };
        let expected = (
            Kind::PeriodicWorkFails,
            "the store is unavailable".to_owned(),
        );
        assert_eq!(found_of(&late), [expected]);
    }

    #[test]
    fn a_store_that_works_with_losses_or_is_not_all_known_is_told_with_its_reason() {
        for (status, kind, reason) in [
            ("DEGRADED", Kind::StoreDegraded, "maxmemory-policy is lru"),
            ("UP", Kind::StoreUncertain, "its user may not run INFO"),
        ] {
            let health = serde_json::json!({
                "status": status, "coordinatorId": "c-1", "redis": status, "loop": "UP", "redisDetail": reason,
            });
            let health: Health = serde_json::from_value(health).expect("a health");
            assert_eq!(found_of(&health), [(kind, reason.to_owned())]);
        }
    }

    /// Anybody can have members counted that nobody knows, and nobody else can have the store be at fault.
    #[test]
    fn members_that_nobody_knows_are_no_fault_of_the_store() {
        let members = format!("{UNRECORDED} (a/b; 2 heartbeats in the last minute): restore them");
        let full = "the Redis of the groups has reached its memory limit (OOM)";
        let with = |status: &str, detail: &str| {
            let health = serde_json::json!({
                "status": status, "coordinatorId": "c-1", "redis": status, "loop": "UP", "redisDetail": detail,
            });
            let health: Health = serde_json::from_value(health).expect("a health");
            found_of(&health)
        };
        let unknown = (Kind::MembersUnknown, members.clone());
        assert_eq!(with("UP", &members), std::slice::from_ref(&unknown));
        let store = (Kind::StoreDegraded, full.to_owned());
        let both = format!("{full}; {members}");
        assert_eq!(with("DEGRADED", &both), [store, unknown]);
    }

    #[test]
    fn another_version_is_told() {
        let mut known = Compatibility::current();
        assert_eq!(other_version(&known), None);
        known.current_coordination_version = 2;
        let told = other_version(&known).expect("another one");
        assert!(told.contains("version 2"), "{told}");
    }
}
