//! All answers of a test, judged beside it in a thread of their own, so that what is judged keeps its pace. What is wrong fails the test at its end.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use crate::{Answer, Contract, DOCUMENT};

/// So many faults are told; more would hardly be read.
const TOLD: usize = 10;

static OF_THE_COORDINATOR: LazyLock<Arc<Contract>> =
    LazyLock::new(|| Arc::new(Contract::new(DOCUMENT)));

/// What came of it.
#[derive(Debug, Default)]
pub struct Verdict {
    /// How many answers were judged.
    pub answers: u64,
    /// What was answered otherwise than described: the first ten.
    pub faults: Vec<String>,
}

enum Message {
    Seen(Box<Answer>),
    End,
}

/// Whom answers are shown to. Clones show them to the same [`Conformity`].
#[derive(Debug, Clone)]
pub struct Judge(Sender<Message>);

impl Judge {
    /// Shows an answer; `path` may have a query, and `body` is none where it never ends. What comes after the end of the [`Conformity`] is not judged.
    pub fn see(
        &self,
        method: &Method,
        path: &str,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<Bytes>,
    ) {
        let answer = Answer::new(method, path, status, headers, body);
        // Nobody receives it once the test is over.
        let _ = self.0.send(Message::Seen(Box::new(answer)));
    }
}

/// That answers are as a document says.
///
/// Dropping it waits until all that was shown is judged, and panics if something is wrong, unless the test has failed already. Keep it where the test's own
/// thread drops it, not in a task: the panic of a task that nobody waits for fails nothing.
#[derive(Debug)]
pub struct Conformity {
    judge: Judge,
    judging: Option<JoinHandle<Verdict>>,
}

impl Conformity {
    /// Against the coordinator's document.
    #[must_use]
    pub fn new() -> Self {
        Self::with(|| Arc::clone(&OF_THE_COORDINATOR))
    }

    /// Against another document.
    #[must_use]
    pub fn to(contract: Contract) -> Self {
        Self::with(|| Arc::new(contract))
    }

    fn with(contract: impl FnOnce() -> Arc<Contract> + Send + 'static) -> Self {
        let (sender, shown) = channel();
        let judging = std::thread::Builder::new()
            .name("openapi-check".to_owned())
            .spawn(move || judged(&contract(), &shown))
            .expect("a thread can be started");
        Self {
            judge: Judge(sender),
            judging: Some(judging),
        }
    }

    /// Whom to show answers to.
    #[must_use]
    pub fn judge(&self) -> Judge {
        self.judge.clone()
    }

    /// Judges all that was shown until now. Nothing is judged afterwards: a second call finds nothing, and so does the drop.
    pub fn end(&mut self) -> Verdict {
        let Some(judging) = self.judging.take() else {
            return Verdict::default();
        };
        // A judge that broke off says so when it is joined.
        let _ = self.judge.0.send(Message::End);
        judging.join().unwrap_or_else(|_| Verdict {
            answers: 0,
            faults: vec!["judging broke off: see the panic of the thread openapi-check".to_owned()],
        })
    }
}

impl Default for Conformity {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Conformity {
    fn drop(&mut self) {
        let faults = self.end().faults;
        if !std::thread::panicking() {
            assert!(
                faults.is_empty(),
                "answered, but not in the OpenAPI document:\n\n{}",
                faults.join("\n\n")
            );
        }
    }
}

fn judged(contract: &Contract, shown: &Receiver<Message>) -> Verdict {
    let mut verdict = Verdict::default();
    let mut known = BTreeSet::new();
    while let Ok(Message::Seen(answer)) = shown.recv() {
        verdict.answers += 1;
        let Err(fault) = contract.check(&answer) else {
            continue;
        };
        // The same thing asked again and again is one fault.
        let kind = (
            answer.method.to_string(),
            answer.path.clone(),
            answer.status.as_u16(),
        );
        if verdict.faults.len() < TOLD && known.insert(kind) {
            verdict.faults.push(fault);
        }
    }
    verdict
}
