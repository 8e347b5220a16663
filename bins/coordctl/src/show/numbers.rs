//! Numbers and sets of shards. What is not known is `?`, never 0.

use protocol::ShardId;

/// A number, or that it is not known.
pub(crate) fn known<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(|| "?".to_owned(), |number| number.to_string())
}

/// A sum that is known only where each part is.
pub(crate) fn sum(parts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    parts
        .into_iter()
        .try_fold(0_u64, |sum, part| Some(sum.saturating_add(part?)))
}

/// Bytes in the unit that says enough.
pub(crate) fn bytes(count: Option<u64>) -> String {
    let Some(count) = count else {
        return "?".to_owned();
    };
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (size, unit) in units {
        if count >= size {
            let tenths = u128::from(count) * 10 / u128::from(size);
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{count} B")
}

/// Several of one thing: `1 shard`, `2 shards`.
pub(crate) fn many(count: usize, one: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {one}s")
    }
}

/// Shards, those in a row as one: `0-3,7`. `-` where there are none.
pub(crate) fn shards(of: &[ShardId]) -> String {
    let indexes: Vec<u32> = of.iter().map(|shard| shard.shard_index).collect();
    ranges(&indexes)
}

/// Positions, those in a row as one.
pub(crate) fn ranges(of: &[u32]) -> String {
    let mut sorted = of.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut rows: Vec<(u32, u32)> = Vec::new();
    for index in sorted {
        match rows.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(index) => *last = index,
            _ => rows.push((index, index)),
        }
    }
    if rows.is_empty() {
        return "-".to_owned();
    }
    let told = rows.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    told.collect::<Vec<_>>().join(",")
}

/// Positions of shards in a sentence: `shard 1`, `shards 0-2`.
pub(crate) fn shards_named(of: &[u32]) -> String {
    let plural = if of.len() == 1 { "" } else { "s" };
    format!("shard{plural} {}", ranges(of))
}

/// Names, or `-` where there are none.
pub(crate) fn names(of: &[String]) -> String {
    if of.is_empty() {
        "-".to_owned()
    } else {
        of.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case C28: unknown is shown as unknown, also in a sum.
    #[test]
    fn c28_what_is_not_known_is_never_0() {
        assert_eq!(known::<u64>(None), "?");
        assert_eq!(known(Some(0)), "0");
        assert_eq!(sum([Some(1), None]), None);
        assert_eq!(sum([Some(1), Some(2)]), Some(3));
        assert_eq!(bytes(None), "?");
        assert_eq!(bytes(Some(1_536)), "1.5 KiB");
    }

    #[test]
    fn shards_in_a_row_are_told_as_one() {
        assert_eq!(ranges(&[3, 0, 1, 2, 7, 9, 8]), "0-3,7-9");
        assert_eq!(ranges(&[]), "-");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(shards_named(&[5]), "shard 5");
        assert_eq!(shards_named(&[5, 6]), "shards 5-6");
    }
}
