//! Bytes that are kept in a file for a while: more than is to be in memory. The file has no name and goes with its last handle; what the bytes mean is not known
//! here.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, Seek, Write};

use protocol::ErrorCode;

use crate::http::ApiError;

/// So many bytes are gathered before they are written.
const GATHERED: usize = 1 << 20;

/// Lines that are being kept.
pub(super) struct Spool {
    /// None before the first bytes are written.
    file: Option<File>,
    gathered: Vec<u8>,
}

/// Lines that were kept.
pub(super) struct Kept(Option<BufReader<File>>);

impl Spool {
    pub(super) const fn new() -> Self {
        Self {
            file: None,
            gathered: Vec::new(),
        }
    }

    pub(super) async fn add(&mut self, line: &[u8]) -> Result<(), ApiError> {
        self.gathered.extend_from_slice(line);
        self.gathered.push(b'\n');
        if self.gathered.len() < GATHERED {
            return Ok(());
        }
        self.write().await
    }

    /// From the first line on.
    pub(super) async fn read(mut self) -> Result<Kept, ApiError> {
        self.write().await?;
        let Some(mut file) = self.file else {
            return Ok(Kept(None));
        };
        let file = blocking(move || {
            file.rewind()?;
            Ok(file)
        });
        Ok(Kept(Some(BufReader::new(file.await?))))
    }

    async fn write(&mut self) -> Result<(), ApiError> {
        let (file, gathered) = (self.file.take(), std::mem::take(&mut self.gathered));
        let written = blocking(move || {
            let mut file = match file {
                Some(file) => file,
                None => tempfile::tempfile()?,
            };
            file.write_all(&gathered)?;
            Ok(file)
        });
        self.file = Some(written.await?);
        Ok(())
    }
}

impl Kept {
    /// The next line; none after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, ApiError> {
        let Some(mut reader) = self.0.take() else {
            return Ok(None);
        };
        let reading = blocking(move || {
            let mut line = Vec::new();
            reader.read_until(b'\n', &mut line)?;
            Ok((reader, line))
        });
        let (reader, mut line) = reading.await?;
        if line.pop().is_none() {
            return Ok(None);
        }
        self.0 = Some(reader);
        Ok(Some(line))
    }
}

/// Files are waited for where nobody else has to wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::other(error)))
        .map_err(|error| {
            tracing::error!(%error, "a snapshot can't be kept while it is restored");
            let message = format!(
                "the snapshot can't be kept in the coordinator's folder of temporary files: {error}; make room there, or set TMPDIR, and repeat this"
            );
            ApiError::new(ErrorCode::InternalError, message)
        })
}
