//! Shows how the coordinator fares, and fails where it does not work at all.

use protocol::HealthStatus;

use super::Session;
use crate::failure::Failure;
use crate::show;

pub(super) async fn run(session: &Session) -> Result<(), Failure> {
    let health = session.client.health().await?;
    session.answer(&health, show::health::one)?;
    if health.status == HealthStatus::Down {
        return Err(Failure::Down);
    }
    Ok(())
}
