//! Which commands a server knows: asked for by name, never told by its version.

use redis::{RedisError, Value};

use super::link::RedisLink;

/// Whether the server knows a command.
pub(crate) async fn has_command(link: &impl RedisLink, name: &str) -> Result<bool, RedisError> {
    let mut command = redis::cmd("COMMAND");
    command.arg("INFO").arg(name);
    let answer = link.send(&command).await?;
    // One row for each name that was asked for: empty for one that is not known.
    Ok(match answer {
        Value::Array(rows) => matches!(rows.first(), Some(Value::Array(row)) if !row.is_empty()),
        _ => false,
    })
}
