//! What each kind of request answers while Redis is at fault: the table on the operations page, asked of a coordinator that runs. Cases C05, C08, C09 and C11. And
//! what a fault leaves behind: nobody expired (rule M6), nothing half written.
#![allow(clippy::unwrap_used, unreachable_pub)]

#[path = "../support/mod.rs"]
mod support;

mod faults;
mod page;
mod requests;
mod scene;

use faults::Fault;
use scene::Scene;

async fn compare(fault: Fault) {
    let mut scene = Scene::new(fault).await;
    scene.begin().await;
    let answers = requests::ask_all(&scene.daemon, &scene.steady, fault.stops_changes()).await;
    scene.end().await;
    scene.assert_nobody_lost_anything().await;
    page::assert_says(fault.column(), &answers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m6_c08_a_redis_that_hangs() {
    compare(Fault::Hung).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m6_c08_a_redis_that_is_gone() {
    compare(Fault::Gone).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m6_c08_a_redis_that_loads() {
    compare(Fault::Loading).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m6_c05_a_redis_that_is_a_replica() {
    compare(Fault::ReadOnly).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m6_c09_a_redis_that_is_full() {
    compare(Fault::Full).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m6_c11_a_redis_whose_user_lacks_a_command() {
    compare(Fault::Denied).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m6_c04_c11_a_redis_whose_user_may_not_read_streams() {
    compare(Fault::Unread).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m6_c04_a_redis_of_streams_that_is_gone() {
    compare(Fault::StreamsGone).await;
}

#[test]
fn the_page_has_a_column_for_each_fault_and_a_row_for_each_kind_of_request() {
    assert_eq!(page::columns(), Fault::ALL.map(Fault::column));
    assert_eq!(page::rows(), requests::names());
}
