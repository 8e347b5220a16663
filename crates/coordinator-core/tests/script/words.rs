//! One line of a script, taken apart: words, and arguments as key=value. Knows no command.

use std::collections::BTreeMap;

use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::Millis;

use super::ScriptError;

/// What stands on a line, taken out bit by bit: what is left in the end is an error.
pub struct Words {
    line: usize,
    words: Vec<String>,
    arguments: BTreeMap<String, String>,
}

impl Words {
    pub fn read(line: usize, text: &str) -> Result<Self, ScriptError> {
        let (mut words, mut arguments) = (Vec::new(), BTreeMap::new());
        for part in text.split_whitespace() {
            match part.split_once('=') {
                Some((key, value)) if !key.contains(':') => {
                    if arguments.insert(key.to_owned(), value.to_owned()).is_some() {
                        return Err(ScriptError::new(line, format!("`{key}` is there twice")));
                    }
                }
                _ => words.push(part.to_owned()),
            }
        }
        Ok(Self {
            line,
            words,
            arguments,
        })
    }

    pub const fn line(&self) -> usize {
        self.line
    }

    pub fn error(&self, what: impl Into<String>) -> ScriptError {
        ScriptError::new(self.line, what)
    }

    /// The next word.
    pub fn word(&mut self, meaning: &str) -> Result<String, ScriptError> {
        if self.words.is_empty() {
            return Err(self.error(format!("{meaning} is missing")));
        }
        Ok(self.words.remove(0))
    }

    /// All words that are left.
    pub fn all(&mut self) -> Vec<String> {
        std::mem::take(&mut self.words)
    }

    /// Whether a word is there, wherever it stands.
    pub fn flag(&mut self, word: &str) -> bool {
        let position = self.words.iter().position(|it| it == word);
        position.map(|it| self.words.remove(it)).is_some()
    }

    pub fn text(&mut self, key: &str) -> Option<String> {
        self.arguments.remove(key)
    }

    /// A number; `-` stands for none.
    pub fn number<T: std::str::FromStr>(&mut self, key: &str) -> Result<Option<T>, ScriptError> {
        let Some(text) = self.text(key).filter(|text| text != "-") else {
            return Ok(None);
        };
        let number = text.parse().map(Some);
        number.map_err(|_| self.error(format!("`{key}={text}` is not a number of its kind")))
    }

    pub fn span(&mut self, key: &str) -> Result<Option<Millis>, ScriptError> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        self.parse_span(&text).map(Some)
    }

    pub fn parse_span(&self, text: &str) -> Result<Millis, ScriptError> {
        let split = text.find(|letter: char| !letter.is_ascii_digit());
        let (digits, unit) = text.split_at(split.unwrap_or(text.len()));
        let factor = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            _ => return Err(self.error(format!("`{text}` is not a span, as in 3s, 250ms or 2m"))),
        };
        let number: u64 = digits
            .parse()
            .map_err(|_| self.error(format!("`{text}` is not a span, as in 3s, 250ms or 2m")))?;
        Ok(Millis::new(number * factor))
    }

    pub fn shards(&mut self, key: &str) -> Result<Option<ShardSet>, ScriptError> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        self.parse_shards(&text).map(Some)
    }

    /// Shards as in `0,2` or `0-3`; `-` stands for none.
    pub fn parse_shards(&self, text: &str) -> Result<ShardSet, ScriptError> {
        if text == "-" {
            return Ok(ShardSet::new());
        }
        let mut shards = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let parse = |text: &str| {
                let number = text.parse::<u32>();
                number.map_err(|_| self.error(format!("`{text}` is no shard, as in 0,2 or 0-3")))
            };
            shards.extend((parse(first)?..=parse(last)?).map(ShardIndex::new));
        }
        Ok(shards.into_iter().collect())
    }

    /// Everything must have been taken out.
    pub fn finish(self) -> Result<(), ScriptError> {
        let words = self.words.first().map(|word| format!("`{word}`"));
        let arguments = self.arguments.keys().next();
        match words.or(arguments.map(|key| format!("`{key}=`"))) {
            Some(unknown) => Err(ScriptError::new(
                self.line,
                format!("{unknown} means nothing here"),
            )),
            None => Ok(()),
        }
    }
}
