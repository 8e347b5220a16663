//! Changes of the shard count.

use protocol::{ErrorCode, Migration, Migrations, RollbackRequest, ScaleRequest, StreamScaled};

use super::super::operation::{Described, get, post};
use super::{CHANGE, GROUP, STORE, example};

/// What else may come of asking for another shard count.
const SCALE: [ErrorCode; 3] = [
    ErrorCode::ActiveMigrationExists,
    ErrorCode::MetadataSyncInProgress,
    ErrorCode::RedisStreamProvisioningFailed,
];

pub(super) fn operations() -> Vec<Described> {
    vec![
        post("/coord/v1/streams/{streamPrefix}/scale", "scaleStreamShards", "Change the shard count of a stream")
            .about("For all its groups. Answers once the new streams are made; the rest goes on by itself and is shown by `getMigration`.")
            .tagged("Shard counts")
            .body::<ScaleRequest>(example!("scale-request.full"))
            .answers::<StreamScaled>(202, "The change has begun, or there was nothing to change.", example!("stream-scaled.full"))
            .refuses(&[ErrorCode::StreamNotFound])
            .refuses(&SCALE)
            .refuses(&CHANGE)
            .refuses(&STORE),
        post(
            "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/scale",
            "scaleStreamGroupShards",
            "Change the shard count of a group's stream",
        )
        .about("The same as `scaleStreamShards`, for all groups of the stream; the answer speaks of this one.")
        .tagged("Shard counts")
        .body::<ScaleRequest>(example!("scale-request.full"))
        .answers::<Migration>(202, "The change has begun, or there was nothing to change.", example!("migration.minimal"))
        .refuses(&[ErrorCode::StreamNotFound])
        .refuses(&GROUP)
        .refuses(&SCALE)
        .refuses(&CHANGE)
        .refuses(&STORE),
        get(
            "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/migrations/{reshardingId}",
            "getMigration",
            "Show a change of the shard count",
        )
        .tagged("Shard counts")
        .answers::<Migration>(200, "The change.", example!("migration.full"))
        .refuses(&[ErrorCode::MigrationNotFound])
        .refuses(&GROUP)
        .refuses(&STORE),
        post(
            "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/migrations/{reshardingId}/rollback",
            "rollbackMigration",
            "Take a change of the shard count back",
        )
        .about("For all groups of the stream, while none has gone beyond `ACTIVE`. Asking again changes nothing.")
        .tagged("Shard counts")
        .body::<RollbackRequest>(example!("rollback-request.full"))
        .answers::<Migration>(202, "The change is being taken back.", example!("migration.full"))
        .refuses(&[ErrorCode::MigrationNotFound, ErrorCode::RollbackNotAllowed, ErrorCode::StreamNotFound])
        .refuses(&[ErrorCode::MetadataSyncInProgress, ErrorCode::RedisStreamProvisioningFailed])
        .refuses(&GROUP)
        .refuses(&CHANGE)
        .refuses(&STORE),
        get(
            "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/migrations",
            "getMigrations",
            "List the changes of the shard count",
        )
        .tagged("Monitoring")
        .answers::<Migrations>(200, "Newest first.", example!("migrations.full"))
        .refuses(&GROUP)
        .refuses(&STORE),
    ]
}
