//! Free ports for test processes.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, TcpListener},
    ops::RangeInclusive,
    sync::{Mutex, PoisonError},
};

use anyhow::{Result, bail};

/// The range below the ephemeral ports of Linux (from 32768) and other systems (from 49152).
const PORTS: RangeInclusive<u16> = 10_000..=32_767;

/// A free TCP port of this machine for a process that a test starts.
///
/// Unlike the port of a listener on port 0, no outgoing connection can take it before the process binds it,
/// and no other call in this process returns it.
///
/// # Errors
///
/// When a thousand ports were tried, and all were in use.
pub fn free_port() -> Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    for _ in 0..1000 {
        let port = fastrand::u16(PORTS);
        let is_free = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok();
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        if is_free && given.insert(port) {
            return Ok(port);
        }
    }
    bail!(
        "found no free port between {} and {}",
        PORTS.start(),
        PORTS.end()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_and_given_once() {
        // Each is bound at once: other processes of this machine look for free ports in the same range.
        let bound = || {
            let port = free_port().unwrap();
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
            (port, listener.expect("a port that is free"))
        };
        let bound: Vec<(u16, TcpListener)> = (0..100).map(|_| bound()).collect();
        assert!(bound.iter().all(|(port, _)| PORTS.contains(port)));
        drop(bound);
        let ports = (0..100).map(|_| free_port().unwrap());
        assert_eq!(ports.collect::<BTreeSet<u16>>().len(), 100);
    }
}
