//! Wakes those who wait for a group's next version. A hint: whoever is woken asks for the truth.

use coordinator_core::numbers::MetadataVersion;
use tokio::sync::watch;

/// The newest version of one group that this coordinator has heard of.
pub(super) struct VersionHub(watch::Sender<MetadataVersion>);

impl VersionHub {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(MetadataVersion::default()))
    }

    /// Tells of a version; an older one than the newest is not news.
    pub(super) fn announce(&self, version: MetadataVersion) {
        self.0.send_if_modified(|newest| {
            let is_news = version > *newest;
            if is_news {
                *newest = version;
            }
            is_news
        });
    }

    /// Tells of the version that is there now, even if it is lower: the group was made anew, or the store went back.
    pub(super) fn correct(&self, version: MetadataVersion) {
        self.0
            .send_if_modified(|newest| core::mem::replace(newest, version) != version);
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<MetadataVersion> {
        self.0.subscribe()
    }

    /// Whether somebody waits.
    pub(super) fn is_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }
}
