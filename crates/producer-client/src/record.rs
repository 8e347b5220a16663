//! What is published, and what comes of it.

use protocol::ShardId;

/// A key and the fields that go to its shard. The key only chooses the shard; it is not stored.
///
/// ```
/// use producer_client::Record;
///
/// let record = Record::new("customer-7").field("order", "o-1").field("total", "12.50");
/// assert_eq!(record.key(), b"customer-7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    key: Vec<u8>,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Record {
    /// A record without fields: at least one has to be added before it can be published.
    #[must_use]
    pub fn new(key: impl AsRef<[u8]>) -> Self {
        Self {
            key: key.as_ref().to_vec(),
            fields: Vec::new(),
        }
    }

    /// The record with one more field. Names may repeat.
    #[must_use]
    pub fn field(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.fields
            .push((name.as_ref().to_vec(), value.as_ref().to_vec()));
        self
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The fields in their order.
    #[must_use]
    pub fn fields(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &self.fields
    }
}

/// Where a record is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The shard of its key.
    pub shard: ShardId,
    /// Key of that shard's stream.
    pub stream_key: String,
    /// The record's id in it.
    pub id: String,
}

/// What became of a record that is published only once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishedOnce {
    /// It was added now.
    Added(Published),
    /// A record with this event id and the same fields had been added before, as this one; nothing was written. It may be this call's
    /// own, from an attempt whose answer was lost.
    Duplicate(Published),
}

impl PublishedOnce {
    /// Where the record is, whenever it was added.
    ///
    /// ```no_run
    /// use producer_client::Record;
    ///
    /// # async fn example(producer: producer_client::Producer) -> Result<(), producer_client::PublishError> {
    /// let record = Record::new("customer-7").field("amount", "12.50");
    /// let once = producer.publish_once("payment-17", &record).await?;
    /// println!("{}", once.published().id);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn published(&self) -> &Published {
        match self {
            Self::Added(published) | Self::Duplicate(published) => published,
        }
    }

    /// Where the record is, whenever it was added.
    #[must_use]
    pub fn into_published(self) -> Published {
        match self {
            Self::Added(published) | Self::Duplicate(published) => published,
        }
    }
}
