//! How long a generation and its entries are kept, and the one text that stands for a set of such settings.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::invalid::{InvalidInput, check};

/// The longest time that can be set, ten years.
const LONGEST_MS: u64 = 10 * 365 * 24 * 3_600 * 1_000;
/// The longest window of exact publication, thirty days.
const LONGEST_WINDOW_MS: u64 = 30 * 24 * 3_600 * 1_000;
/// The greatest number of entries.
const MOST_ENTRIES: u64 = 1 << 40;
/// The latest deadline, in milliseconds since 1970.
const LATEST_MS: u64 = 1 << 53;
const DEFAULT_WINDOW_MS: u64 = 10 * 60 * 1_000;

/// When a generation ends by itself. Its keys go together, so that metadata never outlives data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// Never.
    #[default]
    None,
    /// So many milliseconds after its creation.
    Fixed(u64),
    /// So many milliseconds after its creation or the last entry added.
    Sliding(u64),
    /// At this time in milliseconds since 1970, by Redis' clock.
    Deadline(u64),
}

/// How many entries are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trim {
    /// All.
    #[default]
    None,
    /// At most so many.
    Exact(u64),
    /// So many and somewhat more, which is cheaper.
    Approximate(u64),
}

/// How long things are kept. Applied by the very scripts that write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    ttl: Ttl,
    trim: Trim,
    once_ms: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            ttl: Ttl::None,
            trim: Trim::None,
            once_ms: DEFAULT_WINDOW_MS,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Retention {
    /// Everything is kept for ever; repeated publications are recognised for ten minutes.
    #[must_use]
    pub fn forever() -> Self {
        Self::default()
    }

    /// Ends so long after the creation, in whole milliseconds. Of several ends that are set, the last one counts.
    ///
    /// # Errors
    /// [`InvalidInput`] below a millisecond or above ten years.
    pub fn fixed_ttl(self, ttl: Duration) -> Result<Self, InvalidInput> {
        self.ttl(Ttl::Fixed(millis(ttl)))
    }

    /// Ends so long after the creation or the last entry added, in whole milliseconds. Of several ends that are set, the last one counts.
    ///
    /// # Errors
    /// [`InvalidInput`] below a millisecond or above ten years.
    pub fn sliding_ttl(self, ttl: Duration) -> Result<Self, InvalidInput> {
        self.ttl(Ttl::Sliding(millis(ttl)))
    }

    /// Ends at this time in milliseconds since 1970. Of several ends that are set, the last one counts. That it is not over yet is checked by Redis' clock at the creation.
    ///
    /// # Errors
    /// [`InvalidInput`] for 0 and above 2^53.
    pub fn deadline(self, at_ms: u64) -> Result<Self, InvalidInput> {
        self.ttl(Ttl::Deadline(at_ms))
    }

    fn ttl(self, ttl: Ttl) -> Result<Self, InvalidInput> {
        let (what, number, most) = match ttl {
            Ttl::None => ("ttl", 1, 1),
            Ttl::Fixed(ms) | Ttl::Sliding(ms) => ("ttl", ms, LONGEST_MS),
            Ttl::Deadline(at) => ("deadline", at, LATEST_MS),
        };
        check((1..=most).contains(&number), what, || {
            format!("{number} ms is not between 1 and {most}")
        })?;
        Ok(Self { ttl, ..self })
    }

    /// Keeps so many entries.
    ///
    /// # Errors
    /// [`InvalidInput`] for no entries and for more than 2^40.
    pub fn trim(self, trim: Trim) -> Result<Self, InvalidInput> {
        if let Trim::Exact(most) | Trim::Approximate(most) = trim {
            check((1..=MOST_ENTRIES).contains(&most), "trim", || {
                format!("{most} is not between 1 and {MOST_ENTRIES}")
            })?;
        }
        Ok(Self { trim, ..self })
    }

    /// Recognises a repeated publication for at least this long, and for less than twice as long.
    ///
    /// # Errors
    /// [`InvalidInput`] below a millisecond and above thirty days.
    pub fn once_window(self, window: Duration) -> Result<Self, InvalidInput> {
        let once_ms = millis(window);
        check(
            (1..=LONGEST_WINDOW_MS).contains(&once_ms),
            "once_window",
            || format!("{once_ms} ms is not between 1 and {LONGEST_WINDOW_MS}"),
        )?;
        Ok(Self { once_ms, ..self })
    }

    /// The window of exact publication in milliseconds.
    #[must_use]
    pub const fn once_ms(&self) -> u64 {
        self.once_ms
    }

    /// When a generation ends by itself.
    #[must_use]
    pub const fn ends(&self) -> Ttl {
        self.ttl
    }

    /// How many entries are kept.
    #[must_use]
    pub const fn keeps(&self) -> Trim {
        self.trim
    }

    /// Mode, length and end of the expiry; length limit and its precision; as scripts take them.
    pub(crate) fn arguments(&self) -> [String; 6] {
        let (mode, length, end) = match self.ttl {
            Ttl::None => ("none", String::new(), String::new()),
            Ttl::Fixed(ms) => ("fixed", ms.to_string(), String::new()),
            Ttl::Sliding(ms) => ("sliding", ms.to_string(), String::new()),
            Ttl::Deadline(at) => ("deadline", String::new(), at.to_string()),
        };
        let (most, precision) = match self.trim {
            Trim::None => (String::new(), ""),
            Trim::Exact(most) => (most.to_string(), "exact"),
            Trim::Approximate(most) => (most.to_string(), "approx"),
        };
        [
            mode.to_owned(),
            length,
            end,
            most,
            precision.to_owned(),
            self.once_ms.to_string(),
        ]
    }
}

/// The canonical text: equal settings have equal texts.
impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ttl {
            Ttl::None => f.write_str("ttl=none")?,
            Ttl::Fixed(ms) => write!(f, "ttl=fixed:{ms}")?,
            Ttl::Sliding(ms) => write!(f, "ttl=sliding:{ms}")?,
            Ttl::Deadline(at) => write!(f, "ttl=deadline:{at}")?,
        }
        match self.trim {
            Trim::None => f.write_str(";maxlen=none")?,
            Trim::Exact(most) => write!(f, ";maxlen=exact:{most}")?,
            Trim::Approximate(most) => write!(f, ";maxlen=approx:{most}")?,
        }
        write!(f, ";once={}", self.once_ms)
    }
}

impl FromStr for Retention {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || InvalidInput::new("retention", format!("{text:?} is no retention"));
        let mut parts = text.split(';');
        let mut part = |name: &str| parts.next()?.strip_prefix(name)?.strip_prefix('=');
        let ttl = part("ttl").ok_or_else(bad)?;
        let trim = part("maxlen").ok_or_else(bad)?;
        let once = part("once").ok_or_else(bad)?;
        let number = |digits: &str| digits.parse::<u64>().map_err(|_| bad());
        let ttl = match ttl.split_once(':') {
            None if ttl == "none" => Ttl::None,
            Some(("fixed", ms)) => Ttl::Fixed(number(ms)?),
            Some(("sliding", ms)) => Ttl::Sliding(number(ms)?),
            Some(("deadline", at)) => Ttl::Deadline(number(at)?),
            _ => return Err(bad()),
        };
        let trim = match trim.split_once(':') {
            None if trim == "none" => Trim::None,
            Some(("exact", most)) => Trim::Exact(number(most)?),
            Some(("approx", most)) => Trim::Approximate(number(most)?),
            _ => return Err(bad()),
        };
        Self::default()
            .ttl(ttl)?
            .trim(trim)?
            .once_window(Duration::from_millis(number(once)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn odd_settings_are_refused_and_named() {
        let kept = Retention::forever();
        let errors = [
            kept.once_window(Duration::ZERO).unwrap_err(),
            kept.fixed_ttl(Duration::ZERO).unwrap_err(),
            kept.sliding_ttl(Duration::from_secs(u64::MAX)).unwrap_err(),
            kept.deadline(0).unwrap_err(),
            kept.trim(Trim::Exact(0)).unwrap_err(),
            kept.trim(Trim::Approximate(u64::MAX)).unwrap_err(),
        ];
        let named = errors.map(|error| error.what);
        assert_eq!(
            named,
            ["once_window", "ttl", "ttl", "deadline", "trim", "trim"]
        );
    }

    #[test]
    fn the_text_of_a_retention_is_read_back() {
        let second = Duration::from_secs(1);
        let kept = Retention::forever();
        let all = [
            kept,
            kept.fixed_ttl(second).unwrap(),
            kept.sliding_ttl(second)
                .unwrap()
                .trim(Trim::Exact(5))
                .unwrap(),
            kept.deadline(99)
                .unwrap()
                .trim(Trim::Approximate(7))
                .unwrap()
                .once_window(second)
                .unwrap(),
        ];
        for retention in all {
            assert_eq!(
                retention.to_string().parse::<Retention>().unwrap(),
                retention
            );
        }
        assert_eq!(
            all[3].to_string(),
            "ttl=deadline:99;maxlen=approx:7;once=1000"
        );
        for bad in [
            "",
            "ttl=none",
            "ttl=x;maxlen=none;once=1",
            "ttl=none;maxlen=none;once=0",
        ] {
            assert!(bad.parse::<Retention>().is_err(), "{bad}");
        }
    }
}
