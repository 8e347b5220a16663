//! Moments as people speak of them.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::IsoTimestamp;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The moment from which others are looked at, by this machine's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(IsoTimestamp);

impl Moment {
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        });
        Self(IsoTimestamp::from_millis(millis))
    }

    /// The moment itself, for programs.
    pub(crate) const fn iso(self) -> IsoTimestamp {
        self.0
    }

    /// Whether `other` is over.
    pub(crate) fn is_after(self, other: IsoTimestamp) -> bool {
        self.0 > other
    }

    /// How far away `other` is: `12 s ago`, `in 3 min`.
    pub(crate) fn tell(self, other: IsoTimestamp) -> String {
        let distance = self.0.as_millis().saturating_sub(other.as_millis());
        let span = span(distance.unsigned_abs());
        if distance >= 0 {
            format!("{span} ago")
        } else {
            format!("in {span}")
        }
    }
}

/// A length of time, in the unit that says enough.
fn span(millis: u64) -> String {
    let (count, unit) = match millis {
        0..=119_999 => (millis / SECOND, "s"),
        120_000..=7_199_999 => (millis / MINUTE, "min"),
        7_200_000..=172_799_999 => (millis / HOUR, "h"),
        _ => (millis / DAY, "d"),
    };
    format!("{count} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_by_their_distance() {
        let now = Moment(IsoTimestamp::from_millis(1_000_000_000_000));
        let told = |millis: i64| now.tell(IsoTimestamp::from_millis(1_000_000_000_000 - millis));
        assert_eq!(told(0), "0 s ago");
        assert_eq!(told(12_900), "12 s ago");
        assert_eq!(told(-3_500), "in 3 s");
        assert_eq!(told(125_000), "2 min ago");
        assert_eq!(told(7_300_000), "2 h ago");
        assert_eq!(told(-200_000_000), "in 2 d");
    }
}
