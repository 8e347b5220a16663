//! The way to Redis as a whole: one node, or the nodes of a cluster, found by slot and by Redis' own redirections.
//! A command is sent again only after a reply that says it was not carried out, or when it was not sent at all.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use redis::{Cmd, Pipeline, ServerError, ServerErrorKind, Value};

use super::AddError;
use super::node::Node;
use super::reply::{Added, Adds, Exchange, Request};
use super::single_flight::SingleFlight;
use super::slots::{Slots, redirected_to};

/// How many replies that say "elsewhere" are followed for one exchange.
const MAX_REDIRECTIONS: u32 = 5;

/// Redis, standalone or cluster.
#[derive(Debug)]
pub(crate) struct Link {
    /// The nodes that were configured; at least one.
    seeds: Vec<Arc<Node>>,
    /// Nodes by address, seeds included.
    nodes: RwLock<HashMap<String, Arc<Node>>>,
    clustered: AtomicBool,
    slots: RwLock<Slots>,
    learning: SingleFlight<Result<(), AddError>>,
}

/// What happened so far to one exchange.
#[derive(Default)]
struct Attempts {
    redirections: u32,
    reconnected: bool,
    relearned: bool,
}

impl Link {
    /// A link to `seeds`; more than one means a cluster. A single one that turns out to belong to a cluster is fine too.
    pub(crate) fn new(seeds: Vec<Node>) -> Self {
        let seeds: Vec<Arc<Node>> = seeds.into_iter().map(Arc::new).collect();
        let nodes = seeds
            .iter()
            .map(|node| (node.address().to_owned(), Arc::clone(node)))
            .collect();
        Self {
            clustered: AtomicBool::new(seeds.len() > 1),
            nodes: RwLock::new(nodes),
            slots: RwLock::default(),
            learning: SingleFlight::new(),
            seeds,
        }
    }

    /// Carries `commands`, all of one slot, out: all of them or, on an error, none as far as is known.
    pub(crate) async fn add(&self, slot: u16, commands: &[Cmd]) -> Result<Vec<Added>, AddError> {
        self.run(slot, &Adds(commands)).await
    }

    /// Sends what is for one slot to the node that serves it. It is sent again only if nothing of it was carried out.
    pub(super) async fn run<R: Request>(
        &self,
        slot: u16,
        request: &R,
    ) -> Result<R::Answer, AddError> {
        let exchange = request.exchange(false);
        let mut attempts = Attempts::default();
        loop {
            let node = self.node_for(slot).await?;
            let (rejection, connection) = match self.exchange(&node, &exchange, request).await {
                Ok((Exchange::Answered(answer), _)) => return Ok(answer),
                Ok((Exchange::Rejected(error), connection)) => (error, connection),
                Err(AddError::Unreachable { .. }) if self.is_clustered() && !attempts.relearned => {
                    attempts.relearned = true;
                    self.learn().await?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            match rejection.kind() {
                Some(ServerErrorKind::Moved) if attempts.redirections < MAX_REDIRECTIONS => {
                    attempts.redirections += 1;
                    self.follow(slot, &rejection, &node).await;
                }
                Some(ServerErrorKind::Ask) => return self.ask(request, rejection, &node).await,
                // A demoted node: whoever took over is found by connecting anew, or by learning the slots anew.
                Some(ServerErrorKind::ReadOnly) if !attempts.reconnected => {
                    attempts.reconnected = true;
                    node.discard(connection);
                    if self.is_clustered() {
                        self.learn().await?;
                    }
                }
                _ => return Err(AddError::Rejected(rejection)),
            }
        }
    }

    /// What came of the exchange, and the number of the connection it went over.
    async fn exchange<R: Request>(
        &self,
        node: &Node,
        exchange: &Pipeline,
        request: &R,
    ) -> Result<(Exchange<R::Answer>, u64), AddError> {
        let (replies, connection) = node.send(exchange).await?;
        match request.read(replies) {
            Ok(exchange) => Ok((exchange, connection)),
            Err(source) => Err(AddError::Lost {
                address: node.address().to_owned(),
                source,
            }),
        }
    }

    /// The slot is on its way: this once, the node that it goes to is asked.
    async fn ask<R: Request>(
        &self,
        request: &R,
        rejection: ServerError,
        from: &Node,
    ) -> Result<R::Answer, AddError> {
        let target = rejection
            .details()
            .and_then(|details| redirected_to(details, from.host()));
        let Some(node) = target.and_then(|address| self.node_at(&address)) else {
            return Err(AddError::Rejected(rejection));
        };
        match self
            .exchange(&node, &request.exchange(true), request)
            .await?
        {
            (Exchange::Answered(answer), _) => Ok(answer),
            (Exchange::Rejected(error), _) => Err(AddError::Rejected(error)),
        }
    }

    /// The slot has moved: remembers where to, and learns about the others, which have often moved too.
    async fn follow(&self, slot: u16, rejection: &ServerError, from: &Node) {
        self.clustered.store(true, Ordering::Relaxed);
        // Without an answer the redirection alone has to do.
        let _learned_or_not = self.learn().await;
        if let Some(address) = rejection
            .details()
            .and_then(|details| redirected_to(details, from.host()))
        {
            self.slots
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .moved(slot, address);
        }
    }

    async fn node_for(&self, slot: u16) -> Result<Arc<Node>, AddError> {
        let knows_none = || {
            let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
            slots.is_empty()
        };
        if self.is_clustered() && knows_none() {
            self.learn().await?;
        }
        Ok(self.known_node(slot))
    }

    /// The node that serves the slot, as far as is known.
    fn known_node(&self, slot: u16) -> Arc<Node> {
        if !self.is_clustered() {
            return Arc::clone(&self.seeds[0]);
        }
        let address = self
            .slots
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .address(slot)
            .map(str::to_owned);
        // A slot that nobody is known to serve: any node tells where it is, or that it is nowhere.
        let node = address.and_then(|address| self.node_at(&address));
        node.unwrap_or_else(|| Arc::clone(&self.seeds[0]))
    }

    /// Host and port of the node that serves the slot, as far as is known: for messages.
    pub(crate) fn address_of(&self, slot: u16) -> String {
        self.known_node(slot).address().to_owned()
    }

    fn node_at(&self, address: &str) -> Option<Arc<Node>> {
        let mut nodes = self.nodes.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = nodes.get(address) {
            return Some(Arc::clone(node));
        }
        let node = Arc::new(self.seeds[0].sibling(address)?);
        nodes.insert(address.to_owned(), Arc::clone(&node));
        Some(node)
    }

    /// Learns which node serves which slot. Callers that come meanwhile wait, and share what came of it.
    async fn learn(&self) -> Result<(), AddError> {
        self.learning.run(self.ask_for_slots()).await
    }

    /// Asks the nodes one after the other until one answers.
    async fn ask_for_slots(&self) -> Result<(), AddError> {
        let mut question = Pipeline::new();
        question.cmd("CLUSTER").arg("SLOTS");
        let mut outcome = Ok(());
        for node in self.known_nodes() {
            match node
                .send(&question)
                .await
                .map(|(mut replies, _)| replies.pop())
            {
                Ok(Some(Value::ServerError(error))) => outcome = Err(AddError::Rejected(error)),
                Ok(reply) => {
                    let learned = Slots::read(&reply.unwrap_or_default(), node.host());
                    *self.slots.write().unwrap_or_else(PoisonError::into_inner) = learned;
                    return Ok(());
                }
                // A question adds nothing, so a lost answer is no worse than no connection.
                Err(AddError::Lost { address, source }) => {
                    outcome = Err(AddError::Unreachable { address, source });
                }
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }

    /// The seeds first, then the others.
    fn known_nodes(&self) -> Vec<Arc<Node>> {
        let nodes = self.nodes.read().unwrap_or_else(PoisonError::into_inner);
        let is_seed = |node: &Arc<Node>| self.seeds.iter().any(|seed| Arc::ptr_eq(seed, node));
        let others = nodes.values().filter(|node| !is_seed(node)).cloned();
        self.seeds.iter().cloned().chain(others).collect()
    }

    fn is_clustered(&self) -> bool {
        self.clustered.load(Ordering::Relaxed)
    }
}
