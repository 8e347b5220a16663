//! Bodies that are not what they should be: the message names the field.

use protocol::{
    CreateStreamRequest, DeleteGroupRequest, HeartbeatRequest, HeartbeatResponse, LoginRequest,
    RollbackRequest, ScaleRequest,
};

use crate::case::{Case, refused};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = heartbeats();
    cases.extend(vec![
        refused::<HeartbeatResponse>("heartbeat-response.bad/unknown-status", "status: unknown variant `PERHAPS`, expected one of `OK`, `RETRY`, `SYNC_METADATA`, `REVOKE_PENDING`, `UNKNOWN_MEMBER_ID`, `FENCED_MEMBER_EPOCH`, `UNSUPPORTED_PROTOCOL`, `INVALID_REQUEST`"),
        refused::<CreateStreamRequest>("create-stream-request.bad/missing-requested-by", "body: missing field `requestedBy`"),
        refused::<CreateStreamRequest>("create-stream-request.bad/negative-shard-count", "initialShardCount: invalid value: integer `-8`, expected u32"),
        refused::<CreateStreamRequest>("create-stream-request.bad/text-shard-count", r#"initialShardCount: invalid type: string "8", expected u32"#),
        refused::<DeleteGroupRequest>("delete-group-request.bad/text-force", r#"force: invalid type: string "yes", expected a boolean"#),
        refused::<DeleteGroupRequest>("delete-group-request.bad/missing-reason", "body: missing field `reason`"),
        refused::<ScaleRequest>("scale-request.bad/missing-target", "body: missing field `targetShardCount`"),
        refused::<RollbackRequest>("rollback-request.bad/missing-reason", "body: missing field `reason`"),
        refused::<LoginRequest>("login-request.bad/missing-password", "body: missing field `password`"),
        refused::<LoginRequest>("login-request.bad/numeric-password", "password: expected a string"),
    ]);
    cases
}

fn heartbeats() -> Vec<Case> {
    [
        ("cut-off", "not JSON: EOF while parsing an object at line 2 column 0"),
        ("doubled-field", "body: duplicate field `protocolVersion`"),
        ("empty", "not JSON: EOF while parsing a value at line 1 column 0"),
        ("float-shard-index", "ownedShards[0].shardIndex: invalid type: floating point `1.0`, expected u32"),
        ("fractional-epoch", "memberEpoch: invalid type: floating point `12.5`, expected i64"),
        ("missing-capacity", "body: missing field `runtimeConsumerCapacity`"),
        ("missing-member-id", "body: missing field `memberId`"),
        ("negative-metadata-version", "metadataVersion: invalid value: integer `-1`, expected u64"),
        ("no-time", r#"revokingShards[2].ackedAt: invalid value: string "yesterday", expected an ISO-8601 time such as 2026-01-31T10:15:30.123Z"#),
        ("not-an-object", "body: invalid type: sequence, expected struct HeartbeatRequest"),
        ("null-owned-shards", "ownedShards: invalid type: null, expected a sequence"),
        ("numeric-time", "shardProgress[0].updatedAt: invalid type: integer `1769854530`, expected an ISO-8601 time such as 2026-01-31T10:15:30.123Z"),
        ("oversized-metadata-version", "metadataVersion: invalid value: integer `9223372036854775808`, expected an integer of at most 63 bits"),
        ("oversized-sequence", "sequence: invalid value: integer `18446744073709551615`, expected an integer of at most 63 bits"),
        ("owned-shards-not-a-list", "ownedShards: invalid type: map, expected a sequence"),
        ("text-shard-index", r#"ownedShards[1].shardIndex: invalid type: string "x", expected u32"#),
        ("text-version", r#"protocolVersion: invalid type: string "1", expected u32"#),
        ("trailing", "not JSON: trailing characters at line 1 column 193"),
        ("unknown-revoke-state", "revokingShards[0].state: unknown variant `GONE`, expected one of `REVOKING`, `DRAINING`, `REVOKED`"),
        ("zero-concurrency", "runtimeConsumerCapacity.runtimeMaxConcurrency: invalid value: integer `0`, expected an integer of at least 1"),
    ]
    .into_iter()
    .map(|(case, message)| refused::<HeartbeatRequest>(&format!("heartbeat-request.bad/{case}"), message))
    .collect()
}
