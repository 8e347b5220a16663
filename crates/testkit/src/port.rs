//! Choosing a free loopback port. It reserves nothing: whoever binds the port may still lose it and must choose another.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

/// The range lies below the one that systems give to outgoing connections, so a client that keeps trying to reach a server
/// that is down can neither take the server's port nor connect to itself.
const FIRST: u16 = 10_000;
const COUNT: u16 = 22_000;

/// A loopback port that was free a moment ago, chosen at random.
///
/// # Panics
///
/// If a thousand random ports in a row are taken.
#[must_use]
pub fn free_port() -> u16 {
    for _ in 0..1_000 {
        let random = RandomState::new().build_hasher().finish();
        let offset = u16::try_from(random % u64::from(COUNT))
            .expect("a remainder below 22,000 fits in 16 bits");
        let port = FIRST + offset;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no free loopback port among a thousand random ones");
}
