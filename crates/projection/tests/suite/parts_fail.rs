//! What happens where only a part of the index fails, or the source takes its time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use projection::{
    Answer, Applied, Build, Entry, EntryId, Epoch, FallbackReason, Index, IndexError, MemoryIndex,
    Namespace, Projection, Range, RebuildError, ServedBy, Version,
};
use testkit::RedisServer;

use crate::source::{Item, Rows, item, space};
use crate::world::{PATIENCE, World, all, calm, first, redis_index};

/// What an index is asked to do.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Read,
    Write,
    Build,
    Commit,
}

/// An index that fails at some steps of some namespaces.
struct Faulty {
    inner: MemoryIndex,
    fails: fn(Step, &Namespace) -> bool,
}

impl Faulty {
    fn may(&self, step: Step, namespace: &Namespace) -> Result<(), IndexError> {
        if (self.fails)(step, namespace) {
            return Err(IndexError::Failed("its server is gone".to_owned()));
        }
        Ok(())
    }
}

#[async_trait]
impl Index for Faulty {
    async fn read(&self, namespace: &Namespace, range: &Range) -> Result<Answer, IndexError> {
        self.may(Step::Read, namespace)?;
        self.inner.read(namespace, range).await
    }

    async fn upsert(&self, entry: &Entry) -> Result<Applied, IndexError> {
        self.may(Step::Write, &entry.namespace)?;
        self.inner.upsert(entry).await
    }

    async fn remove(
        &self,
        namespace: &Namespace,
        id: &EntryId,
        version: Version,
    ) -> Result<Applied, IndexError> {
        self.may(Step::Write, namespace)?;
        self.inner.remove(namespace, id, version).await
    }

    async fn begin(&self, namespace: &Namespace) -> Result<Build, IndexError> {
        self.may(Step::Build, namespace)?;
        self.inner.begin(namespace).await
    }

    async fn load(&self, build: &mut Build, entries: &[Entry]) -> Result<(), IndexError> {
        self.inner.load(build, entries).await
    }

    async fn renew(&self, build: &Build) -> Result<(), IndexError> {
        self.inner.renew(build).await
    }

    async fn commit(&self, build: Build) -> Result<Epoch, IndexError> {
        self.may(Step::Commit, &build.namespace)?;
        self.inner.commit(build).await
    }

    async fn abandon(&self, build: Build) -> Result<(), IndexError> {
        self.inner.abandon(build).await
    }
}

fn world_of(fails: fn(Step, &Namespace) -> bool) -> World {
    let mut world = World::in_memory();
    world.index = Arc::new(Faulty {
        inner: MemoryIndex::new(),
        fails,
    });
    world
}

/// One node of a cluster is gone: what lies on others is still served by them.
#[tokio::test]
async fn a_namespace_that_fails_does_not_take_others_from_the_index() {
    let world = world_of(|step, namespace| step == Step::Read && namespace.as_str() == "ill");
    for name in ["ill", "well"] {
        world.row(&item(name, "x", 1, 1));
        world.rebuild(name).await;
    }
    let settings = calm().breaker_pause(PATIENCE * 10);
    let projection = world.projection(settings);
    for _ in 0..3 {
        let ill = first(&projection, "ill", 1).await;
        let reason = ServedBy::Source(FallbackReason::Failed(IndexError::Failed(
            "its server is gone".to_owned(),
        )));
        assert_eq!(ill.served_by, reason);
        let well = first(&projection, "well", 1).await;
        assert_eq!(well.served_by, ServedBy::Index);
    }
    let ill = first(&projection, "ill", 1).await;
    let is_open = ServedBy::Source(FallbackReason::CircuitOpen);
    assert_eq!((ill.served_by, ill.items), (is_open, world.rows.all("ill")));
    let well = first(&projection, "well", 1).await;
    assert_eq!(well.served_by, ServedBy::Index);
    assert_eq!(projection.metrics().circuits_open, 1);
}

/// The next rebuild need not wait for the lease of one that came to nothing.
#[tokio::test]
async fn a_rebuild_whose_commit_fails_is_given_up() {
    let world = world_of(|step, _| step == Step::Commit);
    world.row(&item("a", "x", 1, 1));
    let projection = world.projection(calm());
    for _ in 0..2 {
        let failure = projection.rebuild(&space("a")).await.unwrap_err();
        assert!(
            matches!(failure, RebuildError::Index(IndexError::Failed(_))),
            "{failure}"
        );
    }
    let nothing = world.index.read(&space("a"), &all()).await;
    assert_eq!(nothing, Err(IndexError::Unbuilt));
}

/// A page may take longer than the lease: nobody else begins meanwhile, and what is built stands.
#[tokio::test]
async fn a_source_slower_than_the_lease_is_waited_for() {
    let server = RedisServer::builder().start().unwrap();
    let index = redis_index(&server).lease(Duration::from_secs(1));
    let rows = Arc::new(Rows::default());
    rows.put(&item("a", "x", 1, 1));
    *rows.delay.lock().unwrap() = Duration::from_millis(2_500);
    let projection: Projection<Item> =
        Projection::shared(rows.clone(), Some(Arc::new(index)), calm());
    let (slow, name) = (projection.clone(), space("a"));
    let slow = tokio::spawn(async move { slow.rebuild(&name).await });
    // waits: until the lease would be over if nobody prolonged it
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let other = projection.rebuild(&space("a")).await.unwrap_err();
    assert!(
        matches!(other, RebuildError::Index(IndexError::Busy { .. })),
        "{other}"
    );
    assert_eq!(slow.await.unwrap().unwrap().entries, 1);
    let answer = first(&projection, "a", 1).await;
    assert_eq!(
        (answer.served_by, answer.items),
        (ServedBy::Index, rows.all("a"))
    );
}
