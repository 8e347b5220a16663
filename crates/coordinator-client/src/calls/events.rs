//! Listening to what changes. A hint, like a watch: whoever shows groups asks for what it shows.

use protocol::{GroupChanged, decode};
use reqwest::Response;

use crate::client::CoordinatorClient;
use crate::error::ClientError;

/// The largest event that is read.
const LARGEST: usize = 64 * 1024;

/// What is told to a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Everything known so far is void: the state of all groups follows.
    Reset,
    /// A group changed, or is as it is told after a reset.
    Group(GroupChanged),
    /// The coordinator ends; another one is to be asked.
    End,
    /// Nothing happened. It comes every 15 s at least: whoever waits in vain for twice that has a connection of no more use.
    StillThere,
    /// A kind that this client does not know.
    Other,
}

/// Events of one coordinator, as they come. Dropping it ends the connection.
#[derive(Debug)]
pub struct Events {
    url: String,
    response: Response,
    unread: Vec<u8>,
    last_id: Option<String>,
}

impl CoordinatorClient {
    /// Opens a stream of events at the coordinator that would be asked first. `after` is the [`Events::last_id`] of an earlier one: what came since is told,
    /// if it is still known there; else all begins with [`Event::Reset`].
    ///
    /// ```no_run
    /// use coordinator_client::Event;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let mut events = client.events(None).await?;
    /// while let Some(event) = events.next().await? {
    ///     if let Event::Group(change) = event {
    ///         println!("{} is {:?}", change.consumer_group, change.state);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As of any call.
    pub async fn events(&self, after: Option<&str>) -> Result<Events, ClientError> {
        let (url, response) = self.open("/coord/v1/monitoring/events", after).await?;
        Ok(Events {
            url,
            response,
            unread: Vec::new(),
            last_id: after.map(str::to_owned),
        })
    }
}

impl Events {
    /// What is to be given to [`CoordinatorClient::events`] to go on behind the last event.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The next event, however long it takes; none once the coordinator ended the stream: because it ends, or because this reader was too slow.
    ///
    /// # Errors
    /// [`ClientError::Transport`] when the connection is of no more use; [`ClientError::Decode`] for what is no event.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if let Some(end) = self.unread.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.unread.drain(..end + 2).collect();
                return self.read(&String::from_utf8_lossy(&block)).map(Some);
            }
            if self.unread.len() > LARGEST {
                return Ok(None);
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.unread.extend_from_slice(&chunk),
                Ok(None) => return Ok(None),
                Err(error) => {
                    return Err(ClientError::Transport {
                        url: self.url.clone(),
                        source: error.without_url(),
                    });
                }
            }
        }
    }

    /// One block.
    fn read(&mut self, block: &str) -> Result<Event, ClientError> {
        let field = |name: &str| {
            let mut lines = block.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let Some(kind) = field("event") else {
            return Ok(Event::StillThere);
        };
        if let Some(id) = field("id") {
            self.last_id = Some(id.to_owned());
        }
        let event = match kind {
            "reset" => Event::Reset,
            "end" => Event::End,
            "group" => {
                let data = field("data").unwrap_or_default();
                let change = decode(data.as_bytes()).map_err(|source| ClientError::Decode {
                    url: self.url.clone(),
                    source,
                })?;
                Event::Group(change)
            }
            _ => Event::Other,
        };
        Ok(event)
    }
}
