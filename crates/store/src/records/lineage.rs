//! What is known of writes that the store may have lost, as it is written down.

use coordinator_core::lineage::{Correction, Lineage};
use coordinator_core::numbers::{GroupEpoch, MetadataVersion};
use coordinator_core::time::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct StoredLineage {
    #[serde(skip_serializing_if = "Option::is_none")]
    doubted_at_ms: Option<u64>,
    epoch_floor: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_until_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correction: Option<StoredCorrection>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredCorrection {
    opened_at_ms: u64,
    version: u64,
    reported: u64,
}

impl StoredLineage {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn write(lineage: &Lineage) -> Self {
        Self {
            doubted_at_ms: lineage.doubted_at.map(Timestamp::as_ms),
            epoch_floor: lineage.epoch_floor.get(),
            hold_until_ms: lineage.hold_until.map(Timestamp::as_ms),
            correction: lineage.correction.as_ref().map(|it| StoredCorrection {
                opened_at_ms: it.opened_at.as_ms(),
                version: it.version.get(),
                reported: it.reported.get(),
            }),
        }
    }

    pub(super) fn read(self) -> Lineage {
        Lineage {
            doubted_at: self.doubted_at_ms.map(Timestamp::from_ms),
            epoch_floor: GroupEpoch::new(self.epoch_floor),
            hold_until: self.hold_until_ms.map(Timestamp::from_ms),
            correction: self.correction.map(|it| Correction {
                opened_at: Timestamp::from_ms(it.opened_at_ms),
                version: MetadataVersion::new(it.version),
                reported: MetadataVersion::new(it.reported),
            }),
        }
    }
}
