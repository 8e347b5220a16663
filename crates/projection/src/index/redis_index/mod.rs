//! The index in Redis: five keys per namespace, which share a slot, and two more while it is rebuilt. Every operation is one script, or two
//! when it meets a rebuild. It bounds no time: the projection does.

mod keys;
mod link;
mod reply;
mod script;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use keys::Keys;
pub use link::ConnectionLink;
use reply::Reply;
use script::{Script, scripts};

use super::{Answer, Applied, Build, Index, IndexError, all_belong};
use crate::model::{Entry, EntryId, Epoch, Namespace, ProjectionName, Range, Version};

/// How long a rebuild may show no sign of life before another may begin.
const LEASE: Duration = Duration::from_secs(10);
/// How long removals are kept, and at most how long a rebuild may take. A write that is older when it arrives may undo a removal.
const TOMBSTONES: Duration = Duration::from_secs(3600);
/// How many rebuilds a single write may meet.
const TRIES: usize = 8;

/// An index in Redis from 7.0, or Valkey from 7.2; standalone, Sentinel or Cluster, depending on the connection.
pub struct RedisIndex<C> {
    link: C,
    name: ProjectionName,
    lease: Duration,
    tombstones: Duration,
}

impl<C: ConnectionLink> RedisIndex<C> {
    /// The index of this name behind this connection. Use a connection that comes back by itself, such as the driver's
    /// `ConnectionManager`.
    pub fn new(name: ProjectionName, link: C) -> Self {
        Self {
            link,
            name,
            lease: LEASE,
            tombstones: TOMBSTONES,
        }
    }

    /// How long a rebuild may show no sign of life before another may begin. It shows one three times as often while it waits for the source. 10 seconds unless
    /// set.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(Duration::from_millis(1));
        self
    }

    /// How long removals are kept; longer than any write may be on its way, and than any rebuild may take. An hour unless set.
    #[must_use]
    pub fn tombstones(mut self, kept: Duration) -> Self {
        self.tombstones = kept.max(Duration::from_millis(1));
        self
    }

    fn keys(&self, namespace: &Namespace) -> Keys {
        Keys::new(&self.name, namespace)
    }

    async fn run(
        &self,
        script: &'static Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<Reply, IndexError> {
        let value = script::run(&self.link, script, keys, arguments).await?;
        Reply::read(script.name(), value)
    }

    /// A write that concerns the rebuild under way too. Its keys are known only once its token is, so the script tells the token.
    async fn write(
        &self,
        script: &'static Script,
        namespace: &Namespace,
        arguments: &[&[u8]],
    ) -> Result<Applied, IndexError> {
        let keys = self.keys(namespace);
        let mut token = String::new();
        for _ in 0..TRIES {
            let all = if token.is_empty() {
                keys.five()
            } else {
                keys.seven(&token)
            };
            let arguments = [&[token.as_bytes()], arguments].concat();
            let reply = self.run(script, &all, &arguments).await?;
            match reply.code() {
                reply::OK => return Ok(Applied::Written),
                reply::SUPERSEDED => return Ok(Applied::Superseded),
                reply::OTHER_BUILD => token = reply.text(1)?,
                _ => return Err(reply.refusal()),
            }
        }
        Err(IndexError::Contended)
    }

    async fn step(
        &self,
        script: &'static Script,
        build: &Build,
        arguments: &[&[u8]],
    ) -> Result<Reply, IndexError> {
        let keys = self.keys(&build.namespace).seven(&build.token);
        let arguments = [&[build.token.as_bytes()], arguments].concat();
        self.run(script, &keys, &arguments).await?.accept()
    }
}

fn milliseconds(duration: Duration) -> String {
    duration.as_millis().to_string()
}

#[async_trait]
impl<C: ConnectionLink> Index for RedisIndex<C> {
    async fn read(&self, namespace: &Namespace, range: &Range) -> Result<Answer, IndexError> {
        let upper = range
            .upper
            .map_or_else(|| "+inf".to_owned(), |upper| upper.to_string());
        let limit = range.limit.to_string();
        let keys = self.keys(namespace).three();
        let after = range.after.as_ref();
        let order = after.map_or_else(String::new, |after| after.order.to_string());
        let id = after.map_or("", |after| after.id.as_str());
        let arguments = [
            upper.as_bytes(),
            limit.as_bytes(),
            order.as_bytes(),
            id.as_bytes(),
        ];
        let reply = self.run(&scripts::READ, &keys, &arguments).await?;
        reply.accept()?.answer(namespace)
    }

    async fn upsert(&self, entry: &Entry) -> Result<Applied, IndexError> {
        let (order, version) = (entry.order.to_string(), entry.version.to_string());
        let arguments: [&[u8]; 4] = [
            entry.id.as_str().as_bytes(),
            order.as_bytes(),
            version.as_bytes(),
            &entry.payload,
        ];
        self.write(&scripts::UPSERT, &entry.namespace, &arguments)
            .await
    }

    async fn remove(
        &self,
        namespace: &Namespace,
        id: &EntryId,
        version: Version,
    ) -> Result<Applied, IndexError> {
        let (version, kept) = (version.to_string(), milliseconds(self.tombstones));
        let arguments = [id.as_str().as_bytes(), version.as_bytes(), kept.as_bytes()];
        self.write(&scripts::REMOVE, namespace, &arguments).await
    }

    async fn begin(&self, build: &mut Build) -> Result<(), IndexError> {
        let lease = milliseconds(self.lease);
        let keys = self.keys(&build.namespace).five();
        let arguments = [build.token.as_bytes(), lease.as_bytes()];
        let reply = self.run(&scripts::BEGIN, &keys, &arguments).await?;
        reply.accept()?;
        build.lease = self.lease;
        Ok(())
    }

    async fn renew(&self, build: &Build) -> Result<(), IndexError> {
        let kept = milliseconds(self.tombstones);
        let arguments = [kept.as_bytes()];
        let renewed = self.step(&scripts::RENEW, build, &arguments).await;
        renewed.map(drop)
    }

    async fn load(&self, build: &mut Build, entries: &[Entry]) -> Result<(), IndexError> {
        all_belong(&build.namespace, entries)?;
        let (kept, page) = (milliseconds(self.tombstones), (build.pages + 1).to_string());
        let numbers: Vec<(String, String)> = entries
            .iter()
            .map(|entry| (entry.order.to_string(), entry.version.to_string()))
            .collect();
        let mut arguments = vec![kept.as_bytes(), page.as_bytes()];
        for (entry, (order, version)) in entries.iter().zip(&numbers) {
            arguments.extend([
                entry.id.as_str().as_bytes(),
                order.as_bytes(),
                version.as_bytes(),
                &entry.payload,
            ]);
        }
        self.step(&scripts::LOAD, build, &arguments).await?;
        build.pages += 1;
        Ok(())
    }

    async fn commit(&self, build: Build) -> Result<Epoch, IndexError> {
        let (kept, pages) = (milliseconds(self.tombstones), build.pages.to_string());
        let arguments = [kept.as_bytes(), pages.as_bytes()];
        let reply = self.step(&scripts::COMMIT, &build, &arguments).await?;
        Ok(Epoch(reply.number(1)?))
    }

    async fn abandon(&self, build: Build) -> Result<(), IndexError> {
        let keys = self.keys(&build.namespace).seven(&build.token);
        let token = [build.token.as_bytes()];
        script::run_at_once(&self.link, &scripts::ABANDON, &keys, &token)
            .await
            .map(drop)
    }
}

impl<C> fmt::Debug for RedisIndex<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisIndex")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
