//! The shard count is changed while records flow, and the coordinator that was asked is killed in the middle of it: the other one goes on.

use std::time::Duration;

use coordinator_client::CoordinatorClient;
use protocol::ScaleRequest;
use testkit::wait_until_async;

use super::STREAM;
use super::stage::Stage;
use super::view::View;
use crate::processes::Failure;

/// How long a change may take to be recorded.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks one coordinator, and kills it as soon as the change is under way.
pub(super) async fn scale(stage: &mut Stage, view: &mut View, shards: u32) -> Result<(), Failure> {
    // Whoever was killed before is needed again.
    stage.start_coordinators()?;
    let Some((asked, other)) = stage.running() else {
        return Ok(());
    };
    let (client, witness) = (stage.client_of([asked])?, stage.client_of([other])?);
    let is_up = || async { client.is_ready().await.unwrap_or(false) };
    let took_too_long = |what| Failure::TookTooLong {
        what,
        seconds: PATIENCE.as_secs(),
    };
    wait_until_async(PATIENCE, is_up)
        .await
        .map_err(|_| took_too_long("the start of a coordinator"))?;
    let before = witness.migrations(STREAM, STREAM).await?.migrations.len();
    let request = ScaleRequest {
        target_shard_count: shards,
        requested_by: "demo".to_owned(),
        reason: "to show it".to_owned(),
        deprecated_after: None,
    };
    let asking = tokio::spawn(async move {
        // No answer is expected: who would give it is killed.
        let _ = client.scale_stream(STREAM, &request).await;
    });
    let is_recorded = || async {
        let migrations = witness.migrations(STREAM, STREAM).await;
        migrations.is_ok_and(|known| known.migrations.len() > before)
    };
    wait_until_async(PATIENCE, is_recorded)
        .await
        .map_err(|_| took_too_long("the change of the shard count"))?;
    stage.kill_coordinator(asked).await?;
    asking.abort();
    view.say(&format!("{shards} shards are asked for, and the coordinator that was asked is killed in the middle of it"));
    Ok(())
}

/// Whether no change is under way.
pub(super) async fn is_over(client: &CoordinatorClient) -> bool {
    let migrations = client.migrations(STREAM, STREAM).await;
    migrations.is_ok_and(|known| known.active_resharding_id.is_none())
}
