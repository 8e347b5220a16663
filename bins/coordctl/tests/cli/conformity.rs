//! That the answers which these tests work with are compared with the OpenAPI document, whoever asked for them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::{Coordinator, Ctl};

#[tokio::test]
async fn what_the_program_is_answered_is_judged_and_fails_the_test_where_it_differs() {
    let mut coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    assert_eq!(ctl.run("group list").await.code, 0);
    let verdict = coordinator.conformity.end();
    assert!(verdict.answers > 0, "{verdict:?}");
    assert!(verdict.faults.is_empty(), "{verdict:?}");

    let coordinator = Coordinator::in_memory().await;
    let judge = coordinator.conformity.judge();
    let (no_headers, no_body) = (Default::default(), Some(Default::default()));
    let list = "/coord/v1/monitoring/groups";
    judge.see(
        &"GET".parse().unwrap(),
        list,
        Default::default(),
        &no_headers,
        no_body,
    );
    assert!(catch_unwind(AssertUnwindSafe(|| drop(coordinator))).is_err());
}
