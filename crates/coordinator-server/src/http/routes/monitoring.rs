//! What operators look at. Each answer is read from the store when it is asked for, or says how old it is.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use protocol::{
    Assignments, Compatibility, Consumption, Health, HealthStatus, MemberList, Session,
};

use crate::convert;
use crate::engine::{Concern, Look, seen};
use crate::http::access::Reader;
use crate::http::path::GroupPath;
use crate::http::{ApiError, App};

pub(in crate::http) async fn health(State(app): State<App>, _: Reader) -> Json<Health> {
    let started = Instant::now();
    let ready = app.engine().check_ready().await;
    let latency = started.elapsed().as_millis();
    let (redis, redis_detail) = match &ready {
        Ok(concerns) => of_concerns(concerns),
        Err(error) => (HealthStatus::Down, Some(error.to_string())),
    };
    let work = app.engine().loop_status();
    let tick_loop = match work.problem {
        None => HealthStatus::Up,
        Some(_) => HealthStatus::Degraded,
    };
    // What is wrong is said once.
    let is_same = work.problem.is_some() && work.problem == redis_detail;
    let loop_detail = match is_same {
        true => Some("its last round failed for the same reason".to_owned()),
        false => work.problem,
    };
    Json(Health {
        status: redis.max(tick_loop),
        coordinator_id: app.config().coordinator_id.clone(),
        redis,
        tick_loop,
        redis_detail,
        redis_latency_ms: ready
            .is_ok()
            .then(|| u64::try_from(latency).unwrap_or(u64::MAX)),
        loop_detail,
        last_tick_at: work.last_tick_at.map(convert::iso),
    })
}

/// A server that answers: how well it can do its work, and what is to be said of it (case C09).
fn of_concerns(concerns: &[Concern]) -> (HealthStatus, Option<String>) {
    let status = if concerns.iter().any(Concern::is_harmful) {
        HealthStatus::Degraded
    } else {
        HealthStatus::Up
    };
    let told: Vec<String> = concerns.iter().map(ToString::to_string).collect();
    (status, (!told.is_empty()).then(|| told.join("; ")))
}

pub(in crate::http) async fn session(Reader(principal): Reader) -> Json<Session> {
    Json(Session {
        authenticated: true,
        username: Some(principal.username),
        roles: principal.roles,
    })
}

pub(in crate::http) async fn compatibility(_: Reader) -> Json<Compatibility> {
    Json(Compatibility::current())
}

pub(in crate::http) async fn members(
    State(app): State<App>,
    _: Reader,
    GroupPath(id): GroupPath,
) -> Result<Json<MemberList>, ApiError> {
    let group = app.engine().group(&id).await?;
    let progress = app.engine().progress(&id).await?;
    Ok(Json(convert::members(&group, &progress)))
}

pub(in crate::http) async fn consumption(
    State(app): State<App>,
    _: Reader,
    GroupPath(id): GroupPath,
) -> Result<Json<Consumption>, ApiError> {
    let look = app.engine().reported(&id).await;
    let reported = seen(&look)?;
    Ok(Json(Consumption {
        as_of: Some(convert::of_clock(look.at)),
        age_ms: Some(age_ms(&look)),
        ..convert::consumption(&reported.group, &reported.progress)
    }))
}

/// How old an answer is.
pub(super) fn age_ms<T>(look: &Look<T>) -> u64 {
    u64::try_from(look.age().as_millis()).unwrap_or(u64::MAX)
}

pub(in crate::http) async fn assignments(
    State(app): State<App>,
    _: Reader,
    GroupPath(id): GroupPath,
) -> Result<Json<Assignments>, ApiError> {
    Ok(Json(convert::assignments(&app.engine().group(&id).await?)))
}
