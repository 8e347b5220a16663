//! Users that lack a permission: an operation works or changes nothing, and what is missing is named (case C11).

use std::collections::BTreeMap;
use std::time::Duration;

use stream_lifecycle::{
    Handle, LifecycleError, Rejection, Retention, ShardAdmin, ShardConsumer, ShardInspect,
    ShardProducer, ShardRedelivery, ShardRef, StreamId,
};

use crate::support::{Link, World, base, creation, fields, group, once, query, read, registration};

const DENIALS: [&str; 32] = [
    "xadd",
    "hset",
    "hdel",
    "hget",
    "hmget",
    "xack",
    "unlink",
    "pexpireat",
    "xgroup|create",
    "xgroup|delconsumer",
    "xgroup|createconsumer",
    "xgroup|destroy",
    "time",
    "type",
    "xinfo|groups",
    "xpending",
    "del",
    "xautoclaim",
    "hincrby",
    "xdel",
    "hsetnx",
    "persist",
    "hkeys",
    "xinfo|stream",
    "xinfo|consumers",
    "xlen",
    "xrange",
    "rename",
    "pexpire",
    "evalsha",
    "eval",
    "xreadgroup",
];

/// A connection of a user that may run everything but one command.
async fn limited(world: &World, denial: &str) -> Link {
    let denial = format!("-{denial}");
    let () = world
        .query(&[
            "ACL", "SETUSER", "u", "on", ">p", "~*", "&*", "+@all", &denial,
        ])
        .await;
    let client = redis::Client::open(format!("redis://u:p@{}/", world.server.address())).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

/// What changed while an operation failed, and whether what was missing was named where the script could know.
struct Watch<'a> {
    world: &'a World,
    denial: &'a str,
    before: BTreeMap<String, Vec<u8>>,
}

impl<'a> Watch<'a> {
    async fn new(world: &'a World, denial: &'a str) -> Self {
        let before = world.dump().await;
        Self {
            world,
            denial,
            before,
        }
    }

    async fn check<T>(self, operation: &str, outcome: Result<T, LifecycleError>) {
        let Err(error) = outcome else { return };
        let what = format!("{operation} without {}: {error:?}", self.denial);
        assert!(
            self.world.dump().await == self.before,
            "half a change: {what}"
        );
        assert!(!error.is_retryable(), "{what}");
        if let LifecycleError::Denied { what: named } = &error {
            let command = self.denial.split('|').next().unwrap();
            assert!(named.to_lowercase().contains(command), "{what}");
        } else {
            assert!(
                matches!(
                    error,
                    LifecycleError::Refused(_) | LifecycleError::StillPending { .. }
                ),
                "{what}"
            );
        }
    }
}

async fn publish_and_consume(world: &World, handle: &Handle<Link>, denial: &str) -> Vec<StreamId> {
    let limited = handle.with_link(limited(world, denial).await);
    let who = registration("c", 1, 1);
    let watch = async || Watch::new(world, denial).await;
    watch()
        .await
        .check("publish", limited.publish(&fields("a")).await)
        .await;
    watch()
        .await
        .check("add_once", limited.add_once(&once("k"), &fields("a")).await)
        .await;
    let before = watch().await;
    let mut many = limited.publish_all(&[fields("a"), fields("b")]).await;
    before.check("publish_all", many.remove(1)).await;
    let entries = [(once("m"), fields("a")), (once("n"), fields("a"))];
    let before = watch().await;
    let mut many = limited.add_all_once(&entries).await;
    before.check("add_all_once", many.remove(1)).await;
    watch()
        .await
        .check("register", limited.register(&who).await)
        .await;
    handle.register(&who).await.unwrap();
    handle.publish(&fields("b")).await.unwrap();
    read(handle, "c", 10).await;
    let pending = handle.peek(StreamId::ZERO, 10).await.unwrap();
    let ids: Vec<StreamId> = pending.iter().map(|entry| entry.id).collect();
    watch()
        .await
        .check("refresh", limited.refresh(&who).await)
        .await;
    try_again(world, handle, &limited, (denial, &ids)).await;
    let before = watch().await;
    before
        .check(
            "ack_each",
            limited.ack_each(&who, &ids[..1]).await.remove(0),
        )
        .await;
    watch()
        .await
        .check("ack", limited.ack_as(&who, &ids[..1]).await)
        .await;
    watch()
        .await
        .check("ack", limited.ack_as(&who, &ids).await)
        .await;
    handle.ack(&group("g"), &ids).await.unwrap();
    ids
}

async fn try_again(
    world: &World,
    handle: &Handle<Link>,
    limited: &Handle<Link>,
    (denial, ids): (&str, &[StreamId]),
) {
    let who = registration("c", 1, 1);
    let watch = async || Watch::new(world, denial).await;
    let before = watch().await;
    before
        .check("attempt", limited.attempt(&who, ids[0]).await)
        .await;
    let postponed = watch().await;
    let delay = Duration::from_millis(1);
    postponed
        .check("postpone", limited.postpone(&who, ids[0], delay).await)
        .await;
    // From here on there are attempts to be forgotten.
    handle.attempt(&who, ids[0]).await.unwrap();
    let counted = watch().await;
    counted
        .check(
            "refresh_counting",
            limited.refresh_counting(&who, None).await,
        )
        .await;
    let letter = handle.publish(&fields("letter")).await.unwrap();
    read(handle, "c", 1).await;
    let before = watch().await;
    let rejection = Rejection::new("x");
    before
        .check(
            "dead_letter",
            limited.dead_letter(&who, &[letter], &rejection).await,
        )
        .await;
    let before = watch().await;
    before
        .check(
            "ack_and_delete",
            limited.ack_and_delete(&who, &[letter]).await,
        )
        .await;
    handle.ack(&group("g"), &[letter]).await.unwrap();
}

async fn recover_and_remove(world: &World, handle: &Handle<Link>, denial: &str, ids: &[StreamId]) {
    let link = limited(world, denial).await;
    let limited = handle.with_link(link.clone());
    let who = registration("c", 1, 1);
    let watch = async || Watch::new(world, denial).await;
    let lease = crate::support::lease(&limited, "o");
    watch().await.check("lease", lease.await).await;
    watch()
        .await
        .check("deregister", limited.deregister(&who).await)
        .await;
    watch()
        .await
        .check("remove", limited.remove(ids).await)
        .await;
    watch().await.check("seal", limited.seal().await).await;
    handle.seal().await.unwrap();
    watch().await.check("unseal", limited.unseal().await).await;
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    watch()
        .await
        .check("ensure_group", limited.ensure_group(&group("g")).await)
        .await;
    let () = world.query(&["DEL", "orders:3"]).await;
    watch()
        .await
        .check("ensure_group", limited.ensure_group(&group("g")).await)
        .await;
    watch()
        .await
        .check("destroy", limited.destroy().await)
        .await;
    handle.destroy().await.unwrap();
    let shard = ShardRef::new(link, base());
    let again = watch().await;
    again
        .check(
            "recreate",
            shard.recreate(handle.generation(), &creation(2)).await,
        )
        .await;
}

#[tokio::test]
async fn a_missing_permission_leaves_nothing_half_done_c11() {
    let sliding = Retention::forever()
        .sliding_ttl(Duration::from_secs(600))
        .unwrap();
    for retention in [Retention::forever(), sliding] {
        let world = World::new().await;
        for denial in DENIALS {
            let () = world.query(&["FLUSHALL"]).await;
            let handle = world.first_with(retention).await;
            let ids = publish_and_consume(&world, &handle, denial).await;
            recover_and_remove(&world, &handle, denial, &ids).await;
        }
    }
}

#[tokio::test]
async fn the_command_that_is_denied_is_named_c11() {
    let world = World::new().await;
    let handle = world.first().await;
    let limited = handle.with_link(limited(&world, "xadd").await);
    let error = limited.publish(&fields("a")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the user of Redis may not run XADD on orders:3"
    );
    let () = query(&world.link, &["ACL", "SETUSER", "u", "+xadd", "-evalsha"]).await;
    let error = limited.publish(&fields("a")).await.unwrap_err();
    assert!(error.to_string().contains("evalsha"), "{error}");
}

/// The commands that the README lists are all that is needed, on the keys that it lists.
#[tokio::test]
async fn the_permissions_that_are_documented_are_enough_c11() {
    let readme = include_str!("../../README.md");
    let line = readme.lines().find(|line| line.starts_with("ACL SETUSER "));
    let line = line.expect("the README shows how a user is made");
    let world = World::new().await;
    // Newer commands are not known to every server.
    let optional = |word: &&str| *word != "+xackdel";
    let words: Vec<&str> = line.split_whitespace().filter(optional).collect();
    let () = world.query(&words).await;
    let url = format!("redis://app:secret@{}/", world.server.address());
    let client = redis::Client::open(url).unwrap();
    let link = client.get_multiplexed_async_connection().await.unwrap();
    let shard = ShardRef::new(link.clone(), base());
    let sliding = Retention::forever()
        .sliding_ttl(Duration::from_secs(600))
        .unwrap();
    let creation = |number| creation(number).retention(sliding);
    let mut handle = shard.create(&creation(1)).await.unwrap();
    for number in 2..4 {
        let who = registration("c", 1, 1);
        handle.register(&who).await.unwrap();
        handle.publish(&fields("a")).await.unwrap();
        let ids = read(&handle, "c", 1).await;
        let rejection = Rejection::new("x");
        handle.attempt(&who, ids[0]).await.unwrap();
        handle.dead_letter(&who, &ids, &rejection).await.unwrap();
        for (operation, outcome) in crate::guard::every_operation(&handle).await {
            let is_allowed = outcome != "Denied" && outcome != "Refused";
            assert!(is_allowed, "{operation}: {outcome}");
        }
        let keep = stream_lifecycle::Draining::new().keep(Duration::from_secs(1));
        let drained = handle.destroy_if_drained(&keep).await;
        assert!(
            matches!(drained, Ok(_) | Err(LifecycleError::NotDrained { .. })),
            "{drained:?}"
        );
        handle.destroy().await.unwrap();
        handle = shard
            .recreate(handle.generation(), &creation(number))
            .await
            .unwrap();
    }
    let () = world.query(&["DEL", &handle.keys().stream]).await;
    handle.ensure_group(&group("g")).await.unwrap();
    let outside = stream_lifecycle::Base::new("other:1").unwrap();
    let error = ShardRef::new(link, outside)
        .create(&creation(1))
        .await
        .unwrap_err();
    assert!(matches!(error, LifecycleError::Denied { .. }), "{error}");
}
