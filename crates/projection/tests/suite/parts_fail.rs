//! What happens where only a part of the index fails, or the source takes its time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use projection::{
    Answer, Applied, Build, Entry, EntryId, Epoch, FallbackReason, Index, IndexError, MemoryIndex,
    Namespace, Projection, Range, RebuildError, ServedBy, Version,
};
use testkit::{RedisServer, wait_until_async};

use crate::source::{Item, Rows, item, space};
use crate::world::{PATIENCE, World, all, calm, first, pairs, redis_index, until_indexed};

/// What an index is asked to do.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Read,
    Write,
    Begin,
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

    async fn begin(&self, build: &mut Build) -> Result<(), IndexError> {
        self.inner.begin(build).await?;
        // It has begun, and nobody hears of it.
        self.may(Step::Begin, &build.namespace)
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
async fn a_rebuild_that_fails_at_its_ends_is_given_up() {
    for fails in [
        (|step, _| step == Step::Begin) as fn(Step, &Namespace) -> bool,
        |step, _| step == Step::Commit,
    ] {
        let world = world_of(fails);
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
}

async fn may_begin(world: &World, name: &str) {
    let free = wait_until_async(PATIENCE / 4, || async {
        world.try_begin(name).await.is_ok()
    });
    free.await.unwrap();
}

/// Whoever rebuilt has gone in the middle of it, or its time was over.
#[tokio::test]
async fn a_rebuild_that_is_dropped_is_given_up() {
    let world = World::in_redis().await;
    world.row(&item("a", "x", 1, 1));
    world.rows.is_held.send_replace(true);
    let projection = world.projection(calm());
    let name = space("a");
    let rebuild = projection.rebuild(&name);
    let dropped = tokio::time::timeout(Duration::from_millis(200), rebuild).await;
    assert!(dropped.is_err());
    may_begin(&world, "a").await;
    world.lapse("a").await;
    let projection = world.projection(calm().repair_deadline(Duration::from_millis(200)));
    let late = projection.rebuild(&name).await.unwrap_err();
    assert!(matches!(late, RebuildError::Deadline), "{late}");
    may_begin(&world, "a").await;
}

/// What a server that hangs was sent it does once it goes on, the beginning of a rebuild too.
#[tokio::test]
async fn after_a_hang_a_namespace_is_rebuilt_at_once() {
    let mut world = World::in_redis().await;
    let (x, y) = (item("a", "x", 1, 1), item("a", "y", 2, 1));
    world.row(&x);
    world.rebuild("a").await;
    let settings = calm().index_timeout(Duration::from_millis(50));
    let projection = world.projection(settings.breaker_pause(Duration::from_millis(50)));
    world.server().pause();
    world.row(&y);
    let missed = projection.upsert(&y).await;
    assert!(missed.is_err());
    let first = first(&projection, "a", 5).await;
    assert_eq!(
        first.served_by,
        ServedBy::Source(FallbackReason::MissedWrite)
    );
    let has_failed = || async { projection.metrics().rebuilds_failed > 0 };
    wait_until_async(PATIENCE, has_failed).await.unwrap();
    world.server().resume();
    let resumed = Instant::now();
    until_indexed(&projection, "a").await;
    // The lease of a rebuild that nobody holds is ten seconds.
    assert!(resumed.elapsed() < Duration::from_secs(6));
    assert_eq!(world.held("a").await, pairs(&[("x", 1), ("y", 1)]));
}

/// A repair that a read began is not in the way of whoever wants the namespace rebuilt now.
#[tokio::test]
async fn a_rebuild_waits_for_the_repair_of_its_process() {
    let world = World::in_redis().await;
    world.row(&item("a", "x", 1, 1));
    world.rows.is_held.send_replace(true);
    let projection = world.projection(calm());
    let read = first(&projection, "a", 1).await;
    assert_eq!(read.served_by, ServedBy::Source(FallbackReason::Unbuilt));
    let is_reading = || async { world.rows.pages_at_once.load(Ordering::SeqCst) == 1 };
    wait_until_async(PATIENCE, is_reading).await.unwrap();
    let (other, name) = (projection.clone(), space("a"));
    let rebuild = tokio::spawn(async move { other.rebuild(&name).await });
    tokio::task::yield_now().await;
    world.rows.is_held.send_replace(false);
    assert_eq!(rebuild.await.unwrap().unwrap().entries, 1);
    assert_eq!(first(&projection, "a", 1).await.served_by, ServedBy::Index);
    assert_eq!(projection.metrics().rebuilds_busy, 0);
}

/// A page may take longer than the lease: nobody else begins meanwhile, and what is built stands.
#[tokio::test]
async fn a_source_slower_than_the_lease_is_waited_for() {
    let server = RedisServer::builder().start().unwrap();
    let lease = Duration::from_secs(3);
    let index = redis_index(&server).lease(lease);
    let rows = Arc::new(Rows::default());
    rows.put(&item("a", "x", 1, 1));
    rows.is_held.send_replace(true);
    let projection: Projection<Item> =
        Projection::shared(rows.clone(), Some(Arc::new(index)), calm());
    let (slow, name) = (projection.clone(), space("a"));
    let slow = tokio::spawn(async move { slow.rebuild(&name).await });
    // waits: until the lease would be over if nobody prolonged it
    tokio::time::sleep(lease + Duration::from_millis(500)).await;
    let other = projection.rebuild(&space("a")).await.unwrap_err();
    assert!(
        matches!(other, RebuildError::Index(IndexError::Busy { .. })),
        "{other}"
    );
    rows.is_held.send_replace(false);
    assert_eq!(slow.await.unwrap().unwrap().entries, 1);
    let answer = first(&projection, "a", 1).await;
    assert_eq!(
        (answer.served_by, answer.items),
        (ServedBy::Index, rows.all("a"))
    );
}
