//! What the demo's processes write down: one JSON object a line, in files of their own. What follows from it is not known here.

use std::fs::File;
use std::io::{BufRead, BufReader, LineWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A moment in microseconds since the Unix epoch. All processes of a demo run on one machine and share its clock.
pub(crate) type Micros = u64;

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum Entry {
    /// A producer was told that its record is in the stream.
    Published { key: String, sequence: u64 },
    /// A handler handled a record.
    Handled(Handled),
}

/// One run of a handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Handled {
    pub(crate) shard: u32,
    /// The member that owned the shard.
    pub(crate) member: String,
    /// The member's epoch when it was given the shard.
    pub(crate) epoch: i64,
    pub(crate) start: Micros,
    pub(crate) end: Micros,
    pub(crate) key: String,
    /// The record's position among those of its key, from 1.
    pub(crate) sequence: u64,
}

/// Now.
pub(crate) fn now() -> Micros {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A log that is written line by line, so that a killed process leaves whole lines but the last.
pub(crate) struct LogWriter(Mutex<LineWriter<File>>);

impl LogWriter {
    pub(crate) fn create(path: &Path) -> std::io::Result<Self> {
        Ok(Self(Mutex::new(LineWriter::new(File::create(path)?))))
    }

    pub(crate) fn write(&self, entry: &Entry) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(&line)
    }
}

/// Reads a log. A last line that was cut off is left out; any other line that is none of ours is an error.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<Entry>> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut entries = Vec::new();
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        if line.ends_with('\n') {
            entries.push(serde_json::from_str(&line)?);
        }
        line.clear();
    }
    Ok(entries)
}
