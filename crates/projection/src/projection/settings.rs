//! The settings of a projection and what they are unless set. They have no effect by themselves.

use std::time::Duration;

/// Settings of a projection. Begin with [`Settings::default`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// What the index is called in the log. `projection`.
    pub name: &'static str,
    /// How long the index may take for a read or a single write. 100 ms.
    pub index_timeout: Duration,
    /// After how many failures in a row the index is left alone for a while, of each namespace by itself. At least 1; 3.
    pub breaker_failures: u32,
    /// How long it is left alone before one call tries it again. 1 s.
    pub breaker_pause: Duration,
    /// The least time between the beginnings of two repairs of one namespace by this process. 1 s.
    pub repair_interval: Duration,
    /// How long a rebuild may take. 5 minutes.
    pub repair_deadline: Duration,
    /// How many entries a rebuild reads from the source at once, and loads at once: 1 to 1000, what is beyond counts as the nearest. 500.
    pub page_size: usize,
    /// How old a rebuild may become before a read begins the next one beside its answer: so single writes that were lost are made up for.
    /// 10 minutes.
    pub reconcile_after: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "projection",
            index_timeout: Duration::from_millis(100),
            breaker_failures: 3,
            breaker_pause: Duration::from_secs(1),
            repair_interval: Duration::from_secs(1),
            repair_deadline: Duration::from_secs(300),
            page_size: 500,
            reconcile_after: Duration::from_secs(600),
        }
    }
}

macro_rules! setters {
    ($($(#[$meta:meta])* $name:ident: $type:ty;)*) => {
        impl Settings {
            $(
                $(#[$meta])*
                #[must_use]
                pub fn $name(mut self, value: $type) -> Self {
                    self.$name = value;
                    self
                }
            )*
        }
    };
}

setters! {
    /// Sets what the index is called in the log.
    name: &'static str;
    /// Sets how long the index may take for a read or a single write.
    index_timeout: Duration;
    /// Sets after how many failures in a row the index is left alone.
    breaker_failures: u32;
    /// Sets how long it is left alone.
    breaker_pause: Duration;
    /// Sets the least time between two repairs of one namespace.
    repair_interval: Duration;
    /// Sets how long a rebuild may take.
    repair_deadline: Duration;
    /// Sets how old a rebuild may become.
    reconcile_after: Duration;
    /// Sets how many entries a rebuild reads and loads at once.
    page_size: usize;
}

impl Settings {
    /// The page size within what an index takes at once.
    pub(super) fn page(&self) -> usize {
        self.page_size.clamp(1, 1000)
    }
}
