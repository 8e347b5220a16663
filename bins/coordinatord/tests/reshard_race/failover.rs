//! A replica takes over from Redis' master in the middle of a change of the shard count, behind the one address that everybody uses.

use protocol::MigrationState;
use testkit::{RedisServer, TcpProxy, wait_until_async};

use crate::race::{BETWEEN, DURING, PATIENCE, Race, numbers};
use crate::resharding::streams::Streams;

/// A master, its replica, and the address that leads to whichever is the master.
struct Pair {
    servers: [RedisServer; 2],
    master: usize,
    /// What the second server receives from the first one goes through here.
    replication: TcpProxy,
    front: TcpProxy,
}

impl Pair {
    async fn start() -> Self {
        let first = RedisServer::builder().start().unwrap();
        let replication = TcpProxy::start(first.address()).await.unwrap();
        let second = RedisServer::builder()
            .replica_of(replication.port())
            .start()
            .unwrap();
        let front = TcpProxy::start(first.address()).await.unwrap();
        let pair = Self {
            servers: [first, second],
            master: 0,
            replication,
            front,
        };
        pair.is(1, "master_link_status:up").await;
        pair
    }

    fn url(&self) -> String {
        format!("redis://{}/", self.front.address())
    }

    fn serving(&self) -> &RedisServer {
        &self.servers[self.master]
    }

    /// Waits until a server says so of its replication.
    async fn is(&self, server: usize, words: &str) {
        let server = Streams::on(&self.servers[server], "orders").await;
        let says_so = || async {
            let said: String = server.ask(&["INFO", "replication"]).await.unwrap();
            said.contains(words)
        };
        wait_until_async(PATIENCE, says_so).await.unwrap();
    }

    /// The replica becomes the master once it has everything, and the other way round. Connections to the old master stay open.
    async fn hand_over(&mut self) {
        let (old, new) = (self.master, 1 - self.master);
        let port = self.servers[new].port().to_string();
        let master = Streams::on(&self.servers[old], "orders").await;
        let () = master
            .ask(&["FAILOVER", "TO", "127.0.0.1", &port, "TIMEOUT", "20000"])
            .await
            .unwrap();
        self.is(new, "role:master").await;
        self.is(old, "role:slave").await;
        self.front.turn_to(self.servers[new].address());
        self.master = new;
        self.is(old, "master_link_status:up").await;
    }

    /// From now on the replica misses what the first master writes.
    fn part(&self) {
        self.replication.stall();
    }

    /// The first master is gone, and its replica takes over with what it has.
    async fn lose_the_master(&mut self) {
        self.servers[0].kill();
        let replica = Streams::on(&self.servers[1], "orders").await;
        let () = replica.ask(&["REPLICAOF", "NO", "ONE"]).await.unwrap();
        self.front.turn_to(self.servers[1].address());
        self.master = 1;
    }
}

/// Asks for another count for as long as Redis or a coordinator is not to be had, then waits until it is so far.
async fn scale_in_spite_of_all(race: &Race, target: u32, state: MigrationState) {
    let asked = || async {
        let answer = race.operator.scale("orders", target).await;
        // Begun, or begun before although the answer was lost.
        matches!(answer, Ok(202))
            || race
                .latest()
                .await
                .is_some_and(|it| it.to_shard_count == target)
    };
    wait_until_async(PATIENCE, asked).await.unwrap();
    race.reached(state).await;
}

/// Cases C05, C27 and C47: all is handled, by one reader per shard, and idle connections to the old master are left by whoever has one. The new master's
/// counters of what was read stand still, and the drains end all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_of_10_000_messages_are_handled_when_redis_fails_over_in_the_middle_of_each_change_c05_c27_c47()
 {
    let mut pair = Pair::start().await;
    let race = Race::start(pair.url()).await;
    let members = race.members("members");
    race.publish(BETWEEN).await;
    for (target, fails_over_at) in [
        (12, MigrationState::Preparing),
        (5, MigrationState::Draining),
        (8, MigrationState::Preparing),
    ] {
        race.permit(DURING);
        if fails_over_at == MigrationState::Preparing {
            let asking = scale_in_spite_of_all(&race, target, MigrationState::Deprecated);
            tokio::join!(asking, pair.hand_over());
        } else {
            scale_in_spite_of_all(&race, target, fails_over_at).await;
            pair.hand_over().await;
        }
        race.reached(MigrationState::Deprecated).await;
        race.publish(BETWEEN).await;
    }
    race.finish(members, pair.serving()).await;
}

/// Cases C05 and C06: the replica does not know that the shards have been retired, nor what was acknowledged last. What it has is handled, and the change comes to
/// its end a second time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_end_is_lost_in_a_failover_ends_again_and_what_survived_is_handled_c06() {
    let mut pair = Pair::start().await;
    let race = Race::start(pair.url()).await;
    let members = race.members("members");
    race.publish(BETWEEN).await;
    race.scale_until(12, MigrationState::Deprecated).await;
    race.publish(BETWEEN).await;
    race.scale_until(5, MigrationState::Draining).await;
    pair.part();
    race.reached(MigrationState::Deprecated).await;
    race.publish(BETWEEN).await;
    let survivors = numbers(&Streams::on(&pair.servers[1], "orders").await).await;
    assert!(survivors.len() >= 2 * BETWEEN, "{}", survivors.len());
    pair.lose_the_master().await;
    // It goes back before it goes on.
    race.reached(MigrationState::Draining).await;
    race.reached(MigrationState::Deprecated).await;
    race.publish(BETWEEN).await;
    scale_in_spite_of_all(&race, 8, MigrationState::Deprecated).await;
    race.finish_with_survivors(members, pair.serving(), survivors)
        .await;
}
