//! Renewing leases: one script for all members of a group that reported meanwhile.

use coordinator_core::names::GroupId;
use coordinator_core::time::{Millis, Timestamp};
use store::{Renewal, Renewed, Snapshot, StoreError};

use super::RedisStore;
use super::read::read_group;
use crate::script;
use store::records::encode_progress;

impl RedisStore {
    pub(super) async fn renew_leases(
        &self,
        group: &GroupId,
        known: &Snapshot,
        renewals: &[Renewal],
        lease_ttl: Millis,
    ) -> Result<Renewed, StoreError> {
        let keys = self.keys.of(group);
        let names = [
            keys.metadata.as_str(),
            keys.leases.as_str(),
            keys.progress.as_str(),
        ];
        let live = || {
            renewals
                .iter()
                .filter(|renewal| known.has_live(&renewal.member))
        };
        let progress = live().filter_map(|renewal| {
            let progress = renewal.progress.as_ref()?;
            Some([renewal.member.to_string(), encode_progress(progress)])
        });
        let call = script::RENEW
            .call(&names)
            .number(known.stamp.revision.get())
            .arg(known.stamp.etag.as_str())
            .number(lease_ttl.get())
            .list(live().map(|renewal| [renewal.member.to_string()]))
            .list(progress);
        let mut reply = self.redis.run_again(&call).await?;
        let now = Timestamp::from_ms(reply.number()?);
        match reply.status() {
            "ok" => Ok(Renewed::Ok {
                now,
                deadline: Timestamp::from_ms(reply.number()?),
            }),
            "stale" => {
                let found = read_group(reply.nested()?, group, None, now)?;
                Ok(found.map_or(Renewed::Gone, Renewed::Stale))
            }
            _ => Err(reply.unknown()),
        }
    }
}
