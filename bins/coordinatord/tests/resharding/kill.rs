//! The death of a coordinator inside this process: from one point on, none of its calls returns. What it had sent before may still take effect.

use std::future::Future;
use std::sync::Mutex;

use tokio::sync::watch;

/// At which point a coordinator dies.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// The one of that number, counted from 1 and from when it is set.
    Number(usize),
    /// The first one whose name has both parts.
    Name(&'static str, &'static str),
}

/// Counts the points that a coordinator passes, and kills it at one of them.
pub struct Switch {
    state: Mutex<State>,
    dead: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    /// Counted only while a number is given.
    at: Option<At>,
    passed: Vec<String>,
}

impl Switch {
    /// A coordinator that lives.
    pub fn new() -> Self {
        Self {
            state: Mutex::new(State::default()),
            dead: watch::Sender::new(false),
        }
    }

    /// Dies at that point.
    pub fn arm(&self, at: At) {
        self.state.lock().unwrap().at = Some(at);
    }

    /// Lives on. Whether it still lives.
    pub fn disarm(&self) -> bool {
        self.state.lock().unwrap().at = None;
        !*self.dead.borrow()
    }

    /// Resolves once it is dead.
    pub async fn killed(&self) {
        let mut dead = self.dead.subscribe();
        dead.wait_for(|dead| *dead).await.unwrap();
    }

    /// The points that were passed while it was armed, the last one included.
    pub fn passed(&self) -> Vec<String> {
        self.state.lock().unwrap().passed.clone()
    }

    /// A call that writes: it may die before it, and after it.
    pub async fn step<T>(&self, name: &str, work: impl Future<Output = T>) -> T {
        self.point(|| format!("before {name}")).await;
        let outcome = work.await;
        self.point(|| format!("after {name}")).await;
        outcome
    }

    /// Any other call.
    pub async fn call<T>(&self, work: impl Future<Output = T>) -> T {
        self.alive().await;
        let outcome = work.await;
        self.alive().await;
        outcome
    }

    async fn point(&self, name: impl FnOnce() -> String) {
        self.alive().await;
        {
            let mut state = self.state.lock().unwrap();
            if let Some(at) = state.at {
                let name = name();
                let is_it = match at {
                    At::Number(number) => state.passed.len() + 1 == number,
                    At::Name(one, other) => name.contains(one) && name.contains(other),
                };
                state.passed.push(name);
                if is_it {
                    self.dead.send_replace(true);
                }
            }
        }
        self.alive().await;
    }

    async fn alive(&self) {
        if *self.dead.borrow() {
            std::future::pending::<()>().await;
        }
    }
}
