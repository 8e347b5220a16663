//! Text without what differs from run to run: addresses, ids, times, sizes in memory.

/// The text with names in the place of what differs. Lines in which something was replaced lose their alignment.
pub(crate) fn normal(text: &str, url: &str, folder: &str) -> String {
    let lines = text.lines().map(|line| {
        let plain = line.replace(url, "URL").replace(folder, "FOLDER");
        let words: Vec<String> = plain.split(' ').map(word).collect();
        let told = spans(&words).join(" ");
        if told == plain {
            plain
        } else {
            squeezed(&told)
        }
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// Ids and moments in one word, with what stands around them.
fn word(word: &str) -> String {
    let end = |text: &str| {
        let end = text.find(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
        end.unwrap_or(text.len())
    };
    if let Some(start) = word.find("reshard-") {
        let rest = &word[start + 8..];
        return format!("{}reshard-ID{}", &word[..start], &rest[end(rest)..]);
    }
    let windows = 0..(word.len() + 1).saturating_sub(MOMENT.len());
    let starts = windows.filter(|start| {
        word.get(*start..start + MOMENT.len())
            .is_some_and(is_moment)
    });
    let mut told = word.to_owned();
    for start in starts.collect::<Vec<_>>().into_iter().rev() {
        told.replace_range(start..start + MOMENT.len(), "TIME");
    }
    told
}

/// How a moment is written.
const MOMENT: &str = "2026-01-31T10:15:30.123Z";

fn is_moment(text: &str) -> bool {
    let mut letters = text.bytes().zip(MOMENT.bytes());
    letters.all(|(letter, like)| letter == like || letter.is_ascii_digit() && like.is_ascii_digit())
}

/// Numbers before a unit of time or size.
fn spans(words: &[String]) -> Vec<String> {
    let is_unit = |word: &str| {
        let word = word.trim_end_matches([')', ',', ';']);
        matches!(word, "s" | "ms" | "min" | "h" | "d" | "B" | "KiB")
    };
    let numbered = words.iter().enumerate().map(|(index, word)| {
        let unit = words.get(index + 1).is_some_and(|next| is_unit(next));
        let digits = word.trim_start_matches('(');
        let is_number = !digits.is_empty()
            && digits
                .chars()
                .all(|letter| letter.is_ascii_digit() || letter == '.');
        if unit && is_number {
            word.replace(digits, "N")
        } else {
            word.clone()
        }
    });
    numbered.collect()
}

/// Words that are more than one space apart stand two apart.
fn squeezed(line: &str) -> String {
    let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
    let cells = line
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty());
    indent + &cells.collect::<Vec<_>>().join("  ")
}

#[test]
fn what_differs_from_run_to_run_is_named() {
    let line = "a  reshard-0b9f6a52-7f0e-4a8e-9a55-8f6ad1c3a001,   12 s ago (in 3 min) 2026-01-31T10:15:30.123Z http://x:1 7 shards";
    assert_eq!(
        normal(line, "http://x:1", "/nowhere"),
        "a  reshard-ID,  N s ago (in N min) TIME URL 7 shards\n"
    );
    assert_eq!(normal("a     b", "http://x:1", "/nowhere"), "a     b\n");
}
