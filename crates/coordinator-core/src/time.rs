//! Moments and spans in the coordinator's time base. Nothing here reads a clock (rule T4).

use core::fmt;

/// A moment in the store's time, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

/// A span of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(u64);

impl Timestamp {
    /// The moment `ms` milliseconds after the Unix epoch.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// This moment and a span; the end of time if that is past it.
    #[must_use]
    pub const fn plus(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// This moment, or the first one after a known one if that is later: doubts rise whatever the clock says (rule C8).
    #[must_use]
    pub fn or_after(self, known: Option<Self>) -> Self {
        known.map_or(self, |known| self.max(known.plus(Millis(1))))
    }

    /// This moment less a span; the beginning of time if that is before it.
    #[must_use]
    pub const fn minus(self, span: Millis) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// The span from `earlier` to this moment; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

impl Millis {
    /// A span of `ms` milliseconds.
    #[must_use]
    pub const fn new(ms: u64) -> Self {
        Self(ms)
    }

    /// The span in milliseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// The moment of a command and how long coordinators have been watching (rules T4 and M6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Now, in the store's time; the same for everything that one command decides.
    pub now: Timestamp,
    /// Since when some coordinator has been ticking without a gap. Where that is not known, pass `now`:
    /// no lease is then judged to be over.
    pub coordination_since: Timestamp,
    /// When the store last showed that it may have lost writes (rule C8); `None` if it never did.
    pub doubted_at: Option<Timestamp>,
}
