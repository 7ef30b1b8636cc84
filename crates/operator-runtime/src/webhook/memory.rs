//! The memory that requests take up, bounded for all of them together: everybody who reaches the port may send them,
//! and the container has a limit.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// What one request may do.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// Bytes of the body, whatever the memory is.
    pub(super) most: usize,
    /// How long it waits for memory, before it is refused. Shorter than the API server waits for an answer, so that
    /// it learns why.
    pub(super) patience: Duration,
}

/// Bytes that each byte of a body takes up, with what is made of it. Measured by `VmHWM`, with objects of 3 MiB: 2 to 5
/// if a large string is read or converted, 8 if it is changed; 6 to 19 if there are entries of 40 bytes, for a
/// defaulting webhook that changes each. An object of nothing but empty entries takes up 12 if it is read, and 50 if
/// each is changed.
const FACTOR: usize = 20;

/// The memory of all requests.
pub(super) struct Memory {
    /// In KiB.
    size: u32,
    free: Arc<Semaphore>,
    /// How long a client may take to send a body, and to receive an answer. The API server does both at once.
    pub(super) slowest: Duration,
    /// Held by a conversion of more than a moment. One at a time: what it takes up depends on more than a length.
    pub(super) turn: Arc<Mutex<()>>,
}

/// Memory that is taken up until the last clone is dropped.
pub(super) type Taken = Arc<OwnedSemaphorePermit>;

impl Default for Memory {
    fn default() -> Self {
        Self::new(DEFAULT)
    }
}

/// Bytes of memory for the default limit of a generated Deployment, which is 128Mi, with 56 MiB for the operator and its
/// stores.
const DEFAULT: u64 = 72 << 20;

/// The same, as the command line has it.
pub(super) const DEFAULT_SIZE: &str = "72Mi";

impl Memory {
    pub(super) fn new(bytes: u64) -> Self {
        let size = u32::try_from(bytes / 1024).unwrap_or(u32::MAX).max(1);
        Self {
            size,
            free: Arc::new(Semaphore::new(size as usize)),
            slowest: Duration::from_secs(20),
            turn: Arc::default(),
        }
    }

    /// Bytes that a body may have: its memory is at most all there is.
    pub(super) fn most(&self, cost: Cost) -> usize {
        (self.all() / FACTOR).min(cost.most)
    }

    /// All bytes.
    pub(super) fn all(&self) -> usize {
        (self.size as usize).saturating_mul(1024)
    }

    /// Memory for a body of this length, as soon as there is enough, in the order of the requests. All of it at
    /// once: requests that each had a part of theirs would wait for each other. None if it takes too long.
    pub(super) async fn take(&self, cost: Cost, length: usize) -> Option<Taken> {
        let size = length.saturating_mul(FACTOR).div_ceil(1024);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let taken = self.free.clone().acquire_many_owned(size.min(self.size));
        let taken = timeout(cost.patience, taken).await.ok()?;
        Some(Arc::new(taken.expect("it is never closed")))
    }

    #[cfg(test)]
    /// KiB that nobody takes up.
    pub(super) fn free(&self) -> usize {
        self.free.available_permits()
    }
}

/// Room for a text of this length. glibc gives what is longer than 32 MiB pages of its own, and those back as soon as
/// it is freed. What is shorter may stay with the heap of its thread, where nobody counts it, and what is not written
/// takes up none.
pub(super) fn room(length: usize) -> Vec<u8> {
    const LARGE: usize = 1 << 20;
    const OWN_PAGES: usize = 33 << 20;
    match length {
        LARGE.. => Vec::with_capacity(length.max(OWN_PAGES)),
        _ => Vec::with_capacity(length),
    }
}

/// A number of bytes as Kubernetes writes it, such as `72Mi`; at least 1Mi.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|end: char| !end.is_ascii_digit());
    let unit: Option<u64> = match &text[digits.len()..] {
        "" => Some(1),
        "Ki" => Some(1 << 10),
        "Mi" => Some(1 << 20),
        "Gi" => Some(1 << 30),
        _ => None,
    };
    let bytes = unit.and_then(|unit| digits.parse::<u64>().ok()?.checked_mul(unit));
    let bytes = bytes.filter(|bytes| *bytes >= 1 << 20);
    bytes.ok_or_else(|| "expected a number of bytes of at least 1Mi, such as `72Mi`".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;
    use tokio::task::yield_now;

    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            (DEFAULT_SIZE, Some(DEFAULT)),
            ("1048576", Some(1 << 20)),
            ("2048Ki", Some(2 << 20)),
            ("1Gi", Some(1 << 30)),
            ("1Ki", None),
            ("72M", None),
            ("Mi", None),
            ("-1Mi", None),
            ("1.5Gi", None),
            ("99999999999999999999Gi", None),
            ("99999999999Gi", None),
            ("", None),
        ] {
            assert_eq!(size(text).ok(), bytes, "{text}");
        }
    }

    /// As many as want, each more than half: one after the other.
    #[tokio::test]
    async fn requests_wait_for_memory_and_do_not_hold_parts_of_it() {
        let cost = Cost {
            most: 1 << 20,
            patience: Duration::from_secs(60),
        };
        let memory = Arc::new(Memory::new(100 << 10));
        assert_eq!(memory.most(cost), 5 << 10);
        let running = Arc::new(AtomicUsize::new(0));
        let tasks = (0..20).map(|_| {
            let (memory, running) = (memory.clone(), running.clone());
            tokio::spawn(async move {
                let taken = memory.take(cost, 3 << 10).await;
                let others = running.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
                running.fetch_sub(1, Ordering::Relaxed);
                taken.map(|_| others)
            })
        });
        for others in join_all(tasks).await {
            assert_eq!(others.unwrap(), Some(0));
        }
        // One that takes up more than there is has all of it.
        let all = memory.take(cost, 1 << 20).await;
        assert_eq!(memory.free(), 0);
        drop(all);
        assert_eq!(memory.free(), 100);
    }
}
