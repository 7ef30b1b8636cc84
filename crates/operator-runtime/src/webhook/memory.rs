//! The memory of webhook requests, with one limit for all of them: any client that reaches the port may
//! send requests, and the container has a limit.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The limits of one request.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// The limit of the body in bytes, whatever the memory limit is.
    pub(super) most: usize,
    /// The longest wait for memory. It is shorter than the API server's timeout, so that the API server
    /// gets the reason.
    pub(super) patience: Duration,
}

/// The memory per byte of a body, including its decoded objects. Measured by `VmHWM`, with objects of 3
/// MiB: 2 to 5 if a large string is read or converted, 8 if it is changed; 6 to 19 for entries of 40 bytes,
/// with a defaulting webhook that changes each. An object of only empty entries takes 12 if it is read, and
/// 50 if each entry is changed.
const FACTOR: usize = 20;

/// The memory for all requests.
pub(super) struct Memory {
    /// In KiB.
    size: u32,
    free: Arc<Semaphore>,
    /// The timeout for a client to send a body, and to receive a response. The API server does both at
    /// once.
    pub(super) slowest: Duration,
    /// Held by a conversion that takes long. One at a time, because its memory depends on more than the
    /// length.
    pub(super) turn: Arc<Mutex<()>>,
}

/// Reserved memory, until the last clone is dropped.
pub(super) type Taken = Arc<OwnedSemaphorePermit>;

impl Default for Memory {
    fn default() -> Self {
        Self::new(DEFAULT)
    }
}

/// The default limit in bytes, for the 128Mi of a generated Deployment, of which 56 MiB remain for the
/// operator and its stores.
const DEFAULT: u64 = 72 << 20;

/// The default limit as a flag.
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

    /// The limit of a body in bytes: it may take at most all memory.
    pub(super) fn most(&self, cost: Cost) -> usize {
        (self.all() / FACTOR).min(cost.most)
    }

    /// All memory in bytes.
    pub(super) fn all(&self) -> usize {
        (self.size as usize).saturating_mul(1024)
    }

    /// Reserves memory for a body of this length, in the order of the requests; `None` after the wait is
    /// over. The whole amount is reserved at once: requests with partial reservations could deadlock.
    pub(super) async fn take(&self, cost: Cost, length: usize) -> Option<Taken> {
        let size = length.saturating_mul(FACTOR).div_ceil(1024);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let taken = self.free.clone().acquire_many_owned(size.min(self.size));
        let taken = timeout(cost.patience, taken).await.ok()?;
        Some(Arc::new(taken.expect("it is never closed")))
    }

    #[cfg(test)]
    /// The free memory in KiB.
    pub(super) fn free(&self) -> usize {
        self.free.available_permits()
    }
}

/// A buffer for a text of this length. glibc maps an allocation of more than 32 MiB separately, and unmaps
/// it when it is freed. A smaller allocation may stay in the heap of its thread, where it is not counted;
/// unwritten pages take no memory.
pub(super) fn room(length: usize) -> Vec<u8> {
    const LARGE: usize = 1 << 20;
    const OWN_PAGES: usize = 33 << 20;
    match length {
        LARGE.. => Vec::with_capacity(length.max(OWN_PAGES)),
        _ => Vec::with_capacity(length),
    }
}

/// A number of bytes in Kubernetes' notation, such as `72Mi`; at least 1Mi.
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

    /// Requests that each need more than half run one after the other.
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
        // A request that needs more than the limit gets all of it.
        let all = memory.take(cost, 1 << 20).await;
        assert_eq!(memory.free(), 0);
        drop(all);
        assert_eq!(memory.free(), 100);
    }
}
