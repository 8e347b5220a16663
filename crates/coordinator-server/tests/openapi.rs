//! The OpenAPI document and its page as they are served, and that answers of these tests are compared with it.
#![allow(clippy::unwrap_used)]

mod support;

use openapi_check::DOCUMENT;
use support::Server;

const FILES: [(&str, &str); 3] = [
    ("/docs", "text/html; charset=utf-8"),
    ("/docs/reference.js", "text/javascript; charset=utf-8"),
    ("/docs/reference.css", "text/css; charset=utf-8"),
];

#[tokio::test]
async fn anybody_may_read_the_document() {
    let server = Server::start().await;
    let answer = server.request("GET", "/coord/v1/openapi.json").send();
    let answer = answer.await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(answer.text().await.unwrap(), DOCUMENT);
}

#[tokio::test]
async fn the_page_is_shown_with_nothing_but_this_server() {
    let server = Server::start().await;
    for (path, content_type) in FILES {
        let answer = server.request("GET", path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), content_type);
        assert_eq!(header("x-content-type-options"), "nosniff");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let text = answer.text().await.unwrap();
        for foreign in [
            "://",
            "src=\"//",
            "innerHTML",
            "style=\"",
            "onclick",
            "eval(",
        ] {
            assert!(!text.contains(foreign), "{path} has {foreign}");
        }
    }
}

#[tokio::test]
async fn the_page_names_only_files_that_are_there() {
    let server = Server::start().await;
    let page = server.request("GET", "/docs").send().await.unwrap();
    let page = page.text().await.unwrap();
    let named = page
        .split('"')
        .filter(|text| !text.contains(['<', ' ']) && text.contains('.'));
    let mut count = 0;
    for name in named {
        let answer = server.request("GET", &format!("/{name}")).send();
        assert_eq!(answer.await.unwrap().status(), 200, "{name}");
        count += 1;
    }
    assert_eq!(count, 3);
}

/// Everything that is asked of a coordinator, by whatever client.
#[tokio::test]
async fn every_answer_of_these_tests_is_judged() {
    let mut server = Server::start().await;
    server.client.groups().await.unwrap();
    server.request("GET", "/nowhere").send().await.unwrap();
    let verdict = server.conformity.end();
    assert_eq!((verdict.answers, verdict.faults), (2, Vec::new()));
}
