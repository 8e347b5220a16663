//! How a quarantine is written down.

use coordinator_core::holding::Quarantine;
use coordinator_core::names::{InstanceId, MemberId, NameError};
use coordinator_core::numbers::MemberEpoch;
use coordinator_core::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};

use super::holdings::{self, HeldShards};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StoredQuarantine {
    member: String,
    epoch: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    until_ms: u64,
    lease_ttl_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    holdings: Vec<HeldShards>,
}

impl StoredQuarantine {
    pub(super) fn write(quarantine: &Quarantine) -> Self {
        let instance = quarantine.instance.as_ref();
        Self {
            member: quarantine.member.as_str().to_owned(),
            epoch: quarantine.epoch.get(),
            instance: instance.map(|instance| instance.as_str().to_owned()),
            until_ms: quarantine.until.as_ms(),
            lease_ttl_ms: quarantine.lease_ttl.get(),
            holdings: holdings::write(&quarantine.holdings),
        }
    }

    pub(super) fn read(self) -> Result<Quarantine, NameError> {
        Ok(Quarantine {
            member: MemberId::parse(&self.member)?,
            epoch: MemberEpoch::new(self.epoch),
            instance: self.instance.map(InstanceId::from),
            until: Timestamp::from_ms(self.until_ms),
            lease_ttl: Millis::new(self.lease_ttl_ms),
            holdings: holdings::read(self.holdings),
        })
    }
}
