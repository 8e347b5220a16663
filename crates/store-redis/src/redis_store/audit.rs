//! Audit events in capped lists. They are written once: where an answer is lost, an event may be missing or, seldom, be there twice.

use async_trait::async_trait;
use store::{AUDIT_CAP, AuditEntry, AuditFilter, AuditSink, StoreError};

use super::RedisStore;
use crate::script;

#[async_trait]
impl AuditSink for RedisStore {
    async fn record(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        if !entry.is_proved {
            let list = self.keys.unproved_audit();
            return self.keep_event(&[&list], &entry.event).await;
        }
        let fleet = self.keys.fleet_audit();
        let fleet = [fleet.as_str()];
        let Some(group) = &entry.group else {
            return self.keep_event(&fleet, &entry.event).await;
        };
        let of_group = self.keys.of(group);
        let group = [of_group.audit.as_str(), of_group.metadata.as_str()];
        // They may be in different slots; one that can't be written does not keep the other from it.
        let (fleet, group) = tokio::join!(
            self.keep_event(&fleet, &entry.event),
            self.keep_event(&group, &entry.event)
        );
        fleet.and(group)
    }

    async fn latest(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<String>, StoreError> {
        let Some(last) = limit.min(AUDIT_CAP).checked_sub(1) else {
            return Ok(Vec::new());
        };
        let list = match filter {
            AuditFilter::Group(group) => self.keys.of(group).audit,
            AuditFilter::Fleet => self.keys.fleet_audit(),
            AuditFilter::Unproved => self.keys.unproved_audit(),
        };
        let mut command = redis::cmd("LRANGE");
        command.arg(list).arg(0).arg(last);
        let value = self.redis.send_again(&command).await?;
        redis::from_redis_value(value).map_err(|error| StoreError::Refused {
            reason: "LRANGE returned something unexpected".to_owned(),
            source: Some(std::sync::Arc::new(error)),
        })
    }
}

impl RedisStore {
    async fn keep_event(&self, keys: &[&str], event: &str) -> Result<(), StoreError> {
        let call = script::AUDIT.call(keys).arg(event).number(AUDIT_CAP as u64);
        let reply = self.redis.run(&call).await?;
        match reply.status() {
            "ok" | "none" => Ok(()),
            _ => Err(reply.unknown()),
        }
    }
}
