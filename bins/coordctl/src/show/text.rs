//! Text that is safe to put on a terminal, and on a command line.

use serde::Serialize;

/// The text without anything that a terminal would obey: control characters are shown by their escapes.
pub(crate) fn printable(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|letter| {
            let escaped = letter.is_control();
            let escape = escaped.then(|| letter.escape_default());
            escape
                .into_iter()
                .flatten()
                .chain((!escaped).then_some(letter))
        })
        .collect()
}

/// The word that a value is on the wire.
pub(crate) fn wire<T: Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// A name as one word of a shell's command line.
pub(crate) fn word(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._:/@+,".contains(letter);
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(printable("täg\u{1b}[2J\n"), "täg\\u{1b}[2J\\n");
        assert_eq!(printable("plain"), "plain");
    }

    #[test]
    fn a_name_is_quoted_only_where_a_shell_would_take_it_apart() {
        assert_eq!(word("orders"), "orders");
        assert_eq!(word("my orders"), "'my orders'");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word("-x"), "'-x'");
    }
}
