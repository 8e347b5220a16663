//! A file with a snapshot: whether it is whole, and what is in it. It asks nobody.

use protocol::{
    SNAPSHOT_FORMAT, SNAPSHOT_FORMAT_VERSION, SNAPSHOT_LINE_MAX_BYTES, SnapshotEnd, SnapshotGroup,
    SnapshotHeader, SnapshotLine, SnapshotUnreadable, decode,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// What is in a file, as far as it can be read.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Contents {
    /// Absent where the file does not begin with one.
    pub(crate) header: Option<SnapshotHeader>,
    /// The groups.
    pub(crate) groups: Vec<Inside>,
    /// Groups whose records could not be read when the file was written.
    pub(crate) unreadable: Vec<SnapshotUnreadable>,
    /// Why the file can't be used; null where it is whole.
    pub(crate) problem: Option<String>,
}

/// What is in a file, in short.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary<'a> {
    header: Option<&'a SnapshotHeader>,
    groups: usize,
    unreadable: &'a [SnapshotUnreadable],
}

/// A group in a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Inside {
    #[serde(flatten)]
    pub(crate) group: SnapshotGroup,
    /// Whether its record is the one that was saved.
    pub(crate) digest_ok: bool,
}

impl Contents {
    /// Reads a file to the end, or to the first line that can't be understood.
    pub(crate) fn of(file: &[u8]) -> Self {
        let mut contents = Self::default();
        contents.problem = contents.read(file).err();
        contents
    }

    /// Leaves only what one of the names is of: `orders`, or `orders/billing`.
    pub(crate) fn only(&mut self, names: &[String]) {
        self.groups.retain(|inside| {
            let (stream, group) = (&inside.group.stream_prefix, &inside.group.consumer_group);
            let one = format!("{stream}/{group}");
            names.iter().any(|name| name == stream || *name == one)
        });
    }

    /// A file of what is left.
    pub(crate) fn written(self) -> Vec<u8> {
        let groups = u64::try_from(self.groups.len()).unwrap_or(u64::MAX);
        let inside = self
            .groups
            .into_iter()
            .map(|it| SnapshotLine::Group(it.group));
        let header = self.header.into_iter().map(SnapshotLine::Header);
        let mut file = Vec::new();
        for line in header.chain(inside) {
            write_line(&line, &mut file);
        }
        let sha256 = hex(&Sha256::digest(&file));
        write_line(
            &SnapshotLine::End(SnapshotEnd { groups, sha256 }),
            &mut file,
        );
        file
    }

    /// The same without the records.
    pub(crate) fn summary(&self) -> Summary<'_> {
        Summary {
            header: self.header.as_ref(),
            groups: self.groups.len(),
            unreadable: &self.unreadable,
        }
    }

    fn read(&mut self, file: &[u8]) -> Result<(), String> {
        let mut digest = Sha256::new();
        let mut rest = file;
        let mut number = 0;
        while !rest.is_empty() {
            number += 1;
            let length = rest.iter().position(|byte| *byte == b'\n');
            let length = length.ok_or_else(|| format!("line {number} is cut off"))?;
            let (line, after) = rest.split_at(length + 1);
            if line.len() > SNAPSHOT_LINE_MAX_BYTES {
                return Err(format!(
                    "line {number} is longer than {SNAPSHOT_LINE_MAX_BYTES} bytes"
                ));
            }
            let read = decode(&line[..length]);
            let read =
                read.map_err(|error| format!("line {number} is no line of a snapshot: {error}"))?;
            if let SnapshotLine::End(end) = &read {
                if end.sha256 != hex(&digest.finalize()) {
                    return Err("the digest at its end is not that of what is before: it was changed, or a part is missing".to_owned());
                }
                if !after.is_empty() {
                    return Err("there is something after its end".to_owned());
                }
                return self.check(end.groups);
            }
            self.take(read, number)?;
            digest.update(line);
            rest = after;
        }
        Err("it has no end: a part is missing".to_owned())
    }

    fn take(&mut self, line: SnapshotLine, number: usize) -> Result<(), String> {
        match line {
            SnapshotLine::Header(header) if number == 1 => {
                let (format, version) = (&header.format, header.format_version);
                if format != SNAPSHOT_FORMAT || version != SNAPSHOT_FORMAT_VERSION {
                    return Err(format!(
                        "it is of format {format} {version}, this program reads {SNAPSHOT_FORMAT} {SNAPSHOT_FORMAT_VERSION}"
                    ));
                }
                self.header = Some(header);
            }
            _ if number == 1 => return Err("it does not begin with a header".to_owned()),
            SnapshotLine::Group(group) => {
                let digest_ok = hex(&Sha256::digest(group.record.as_bytes())) == group.sha256;
                self.groups.push(Inside { group, digest_ok });
            }
            SnapshotLine::Unreadable(group) => self.unreadable.push(group),
            SnapshotLine::Header(_) | SnapshotLine::End(_) => {
                return Err(format!("line {number} is a second header"));
            }
        }
        Ok(())
    }

    fn check(&self, groups: u64) -> Result<(), String> {
        if groups != u64::try_from(self.groups.len()).unwrap_or(u64::MAX) {
            return Err(format!(
                "its end says {groups} groups, and there are {}",
                self.groups.len()
            ));
        }
        match self.groups.iter().find(|group| !group.digest_ok) {
            Some(Inside { group, .. }) => Err(format!(
                "the digest of {}/{} is not that of its record",
                group.stream_prefix, group.consumer_group
            )),
            None => Ok(()),
        }
    }
}

fn write_line(line: &SnapshotLine, file: &mut Vec<u8>) {
    let text = serde_json::to_vec(line)
        .expect("types of the protocol have text keys and nothing that refuses to be written");
    file.extend(text);
    file.push(b'\n');
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
