//! All points of a case, one run for each, several at a time. Every run has a runtime of its own, with which all that is left of the dead one ends.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use protocol::MigrationState;
use testkit::RedisServer;

use super::case::{self, Case, Run};
use super::kill::At;
use super::streams::Streams;

const AT_ONCE: usize = 6;

/// What came of all runs of a case: by the number of the point, where the coordinator died and how the change ended.
pub struct Points(pub BTreeMap<usize, (String, MigrationState)>);

/// Lets the coordinator die at every point of a case. Members report when they do, so that the order of points is not always the same: those whose names
/// are given are run for themselves, on both sides, where no number met them.
///
/// # Panics
/// With all runs that did not end well.
pub fn die_at_every_point(case: Case, named: &[&'static str]) -> Points {
    let server = RedisServer::builder().start().unwrap();
    let mut points = Points(BTreeMap::new());
    points.take(by_number(case, &server));
    let sides = named
        .iter()
        .flat_map(|name| [("before", *name), ("after", *name)]);
    let missed: Vec<_> = sides
        .filter(|(side, name)| !points.has(&[side, name]))
        .collect();
    for (position, (side, name)) in missed.into_iter().enumerate() {
        let at = 1_000 + position;
        let outcome = run(case, &server, &format!("s{at}"), At::Name(side, name));
        points.take(BTreeMap::from([(at, outcome)]));
        assert!(points.has(&[side, name]), "no death {side} {name}");
    }
    points
}

type Outcomes = BTreeMap<usize, Result<Run, String>>;

fn by_number(case: Case, server: &RedisServer) -> Outcomes {
    let next = AtomicUsize::new(1);
    let is_through = AtomicBool::new(false);
    let runs = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while !is_through.load(Ordering::SeqCst) {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    let outcome = run(case, server, &format!("s{at}"), At::Number(at));
                    if !matches!(&outcome, Ok(run) if run.died.is_some()) {
                        is_through.store(true, Ordering::SeqCst);
                    }
                    runs.lock().unwrap().insert(at, outcome);
                }
            });
        }
    });
    runs.into_inner().unwrap()
}

fn run(case: Case, server: &RedisServer, name: &str, at: At) -> Result<Run, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let streams = Streams::on(server, name).await;
        // The second death is soon after the first, at one of a few points.
        let soon = match at {
            At::Number(number) => At::Number(1 + number % 6),
            At::Name(..) => At::Number(2),
        };
        let deaths = if case.two_die {
            vec![at, soon]
        } else {
            vec![at]
        };
        case::run(case, &server.url(), streams, &deaths).await
    })
}

impl Points {
    fn take(&mut self, outcomes: Outcomes) {
        let mut failed = Vec::new();
        for (at, outcome) in outcomes {
            match outcome {
                Ok(Run { died, ended }) => {
                    let died = died.unwrap_or_else(|| "nowhere: it was over".to_owned());
                    println!("{at:4} died {died} -> {ended:?}");
                    self.0.insert(at, (died, ended));
                }
                Err(error) => failed.push(format!("point {at}: {error}")),
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }

    /// Whether the coordinator died at a point whose name has all these parts.
    pub fn has(&self, parts: &[&str]) -> bool {
        let has_all = |name: &String| parts.iter().all(|part| name.contains(part));
        self.0.values().any(|(name, _)| has_all(name))
    }
}
