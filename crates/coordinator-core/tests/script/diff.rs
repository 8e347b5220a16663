//! Two lists of lines side by side: what is the same, what is missing, what is there instead.

/// The lines with `-` before what was expected, `+` before what came, and a space before what agrees.
pub fn diff(expected: &[String], found: &[String]) -> String {
    let mut lengths = vec![vec![0_usize; found.len() + 1]; expected.len() + 1];
    for (i, one) in expected.iter().enumerate().rev() {
        for (j, other) in found.iter().enumerate().rev() {
            lengths[i][j] = if one == other {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut text = String::new();
    while i < expected.len() || j < found.len() {
        let (mark, line) = if i < expected.len() && j < found.len() && expected[i] == found[j] {
            (i, j) = (i + 1, j + 1);
            (' ', &found[j - 1])
        } else if j == found.len() || (i < expected.len() && lengths[i + 1][j] >= lengths[i][j + 1])
        {
            i += 1;
            ('-', &expected[i - 1])
        } else {
            j += 1;
            ('+', &found[j - 1])
        };
        text.push_str(&format!("{mark} {line}\n"));
    }
    text
}
