//! Messages under way between processes and coordinators. Which of them arrive, when and how often is decided by actions.

use coordinator_core::input::Heartbeat;
use member_client::machine::{Event, FailureKind};
use member_client::protocol::HeartbeatResponse;

/// How many messages of one process are under way at most, in each direction; the oldest is lost then.
const MOST: usize = 6;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Network {
    requests: Vec<(usize, Heartbeat)>,
    answers: Vec<(usize, Event)>,
}

impl Network {
    pub(crate) fn send(&mut self, process: usize, request: Heartbeat) {
        add(&mut self.requests, process, request);
    }

    pub(crate) fn answer(&mut self, process: usize, response: HeartbeatResponse) {
        let event = Event::AnswerReceived {
            request_id: response.response_to.clone(),
            response: Box::new(response),
        };
        add(&mut self.answers, process, event);
    }

    /// The process learns that its request came to nothing.
    pub(crate) fn fail(&mut self, process: usize, request_id: &str) {
        let event = Event::RequestFailed {
            request_id: request_id.to_owned(),
            kind: FailureKind::Unavailable,
        };
        add(&mut self.answers, process, event);
    }

    pub(crate) fn take_request(
        &mut self,
        process: usize,
        nth: usize,
        copy: bool,
    ) -> Option<Heartbeat> {
        take(&mut self.requests, process, nth, copy)
    }

    pub(crate) fn take_answer(&mut self, process: usize, nth: usize, copy: bool) -> Option<Event> {
        take(&mut self.answers, process, nth, copy)
    }

    /// How many requests of a process are under way, and how many answers to it.
    pub(crate) fn under_way(&self, process: usize) -> (usize, usize) {
        let requests = self.requests.iter().filter(|(of, _)| *of == process);
        let answers = self.answers.iter().filter(|(of, _)| *of == process);
        (requests.count(), answers.count())
    }

    pub(crate) fn lose_everything(&mut self) {
        self.requests.clear();
        self.answers.clear();
    }
}

fn add<T>(messages: &mut Vec<(usize, T)>, process: usize, message: T) {
    let mut of_process = messages
        .iter()
        .enumerate()
        .filter(|(_, (of, _))| *of == process);
    let oldest = of_process.next().map(|(position, _)| position);
    let count = usize::from(oldest.is_some()) + of_process.count();
    if let Some(oldest) = oldest.filter(|_| count >= MOST) {
        messages.remove(oldest);
    }
    messages.push((process, message));
}

fn take<T: Clone>(
    messages: &mut Vec<(usize, T)>,
    process: usize,
    nth: usize,
    copy: bool,
) -> Option<T> {
    let mut of_process = messages
        .iter()
        .enumerate()
        .filter(|(_, (of, _))| *of == process);
    let (position, _) = of_process.nth(nth)?;
    Some(if copy {
        messages[position].1.clone()
    } else {
        messages.remove(position).1
    })
}
