//! The memory of webhook requests, with one limit for all of them: any client that reaches the port may
//! send requests, and the container has a limit.
//!
//! Memory is taken as bytes arrive, so an announced length takes none. Where it is used up, the request whose
//! client is slowest is dropped. It follows that half-read requests never wait for each other forever: of
//! those that wait, the fastest drops the others, one by one.

mod pool;

#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::body::{BodyDataStream, Bytes};
use futures::StreamExt;
use tokio::{
    sync::Mutex,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use pool::{Answer, Pool};

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

/// The longest body of a small request, in bytes: a Pod with its managed fields has 10 to 30 KB, and an update
/// contains it twice.
const SMALL: usize = 64 * 1024;

/// The part of the memory that large requests never take.
const RESERVE: usize = 12;

/// The time between two looks at the memory while a request waits for it: slow clients become slower.
const LOOKS: Duration = Duration::from_millis(20);

/// The longest wait of a large request for others that arrive fast.
const TURN: Duration = Duration::from_secs(1);

/// The lowest rate of a client, in bytes per second: 1 Mbit/s.
const RATE: f64 = 131_072.0;

/// The memory for all requests.
pub(super) struct Memory {
    pool: Arc<Pool>,
    /// The timeout for a client to send a body, and to receive a response. The API server does both at
    /// once.
    pub(super) slowest: Duration,
    /// The timeout for the first byte of a body.
    pub(super) first: Duration,
    /// Held by a conversion that takes long. One at a time, because its memory depends on more than the
    /// length.
    pub(super) turn: Arc<Mutex<()>>,
}

/// The memory of one request, until it is dropped.
pub(super) struct Claim {
    pool: Arc<Pool>,
    id: u64,
    /// The announced length of a large body, until its turn came.
    announced: Option<usize>,
    admitted: AtomicBool,
    first: Duration,
    patience: Duration,
    /// Cancelled when another request needs the memory, and this client is slower.
    dropped: CancellationToken,
}

/// A claim, until the last clone is dropped.
pub(super) type Taken = Arc<Claim>;

/// The reason why a request ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The memory is used up.
    Full,
    /// The client sends too slowly: so many bytes in this time.
    Slow(usize, Duration),
    /// The client's connection or its body is broken.
    Broken(String),
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(DEFAULT)
    }
}

/// The default limit in bytes, for the 128Mi of a generated Deployment, of which 56 MiB remain for the
/// operator, its stores and its connections.
pub(crate) const DEFAULT: u64 = 72 << 20;

/// The default limit as a flag.
pub(super) const DEFAULT_SIZE: &str = "72Mi";

impl Memory {
    pub(super) fn new(bytes: u64) -> Self {
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        Self {
            pool: Arc::new(Pool::new(size)),
            slowest: Duration::from_secs(20),
            first: Duration::from_secs(1),
            turn: Arc::default(),
        }
    }

    /// The limit of a body in bytes: it may take at most the memory of large requests.
    pub(super) fn most(&self, cost: Cost) -> usize {
        (self.pool.large() / FACTOR).min(cost.most)
    }

    /// The memory of large requests in bytes.
    pub(super) fn all(&self) -> usize {
        self.pool.large()
    }

    /// A claim for a request with a body of up to this length, if that is known. It takes memory when bytes
    /// arrive.
    pub(super) fn claim(&self, cost: Cost, announced: Option<usize>) -> Taken {
        let dropped = CancellationToken::new();
        Arc::new(Claim {
            id: self.pool.add(announced, dropped.clone()),
            pool: self.pool.clone(),
            announced: announced.filter(|length| *length > SMALL),
            admitted: AtomicBool::new(false),
            first: self.first,
            patience: cost.patience,
            dropped,
        })
    }

    /// The free memory in bytes.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.pool.free()
    }
}

impl Claim {
    /// Waits while fast clients send other large requests, if this one is longer than the memory. Such a request
    /// has many objects; kube-apiserver 1.37 sends one in each.
    pub(super) async fn turn(&self) -> Result<(), Stop> {
        match self.announced {
            Some(length) if length > self.pool.large() / FACTOR => {
                self.admitted.store(true, Ordering::Relaxed);
                let turn = self.wait(self.patience, || self.pool.promise(self.id, length, false));
                turn.await?.then_some(()).ok_or(Stop::Full)
            }
            _ => Ok(()),
        }
    }

    /// The next part of a body, with memory for it; `None` at the end of the body.
    pub(super) async fn read(&self, parts: &mut BodyDataStream) -> Result<Option<Bytes>, Stop> {
        let (waited, arrived) = self.pool.pace(self.id);
        let allowed = self.first + Duration::from_secs_f64(arrived as f64 / RATE);
        self.pool.waits(self.id);
        let part = tokio::select! {
            biased;
            part = timeout(allowed.saturating_sub(waited), parts.next()) => part,
            () = self.dropped.cancelled() => return Err(Stop::Full),
        };
        let part = part.map_err(|_| Stop::Slow(arrived, allowed))?;
        let part = part
            .transpose()
            .map_err(|error| Stop::Broken(error.to_string()))?;
        let length = part.as_ref().map_or(0, Bytes::len);
        self.pool.moved(self.id, length);
        if length > 0 {
            self.take(length).await?;
        }
        Ok(part)
    }

    /// Waits until the client takes this many bytes.
    pub(super) async fn write<T>(
        &self,
        send: impl Future<Output = T>,
        length: usize,
    ) -> Result<T, Stop> {
        self.pool.waits(self.id);
        let sent = tokio::select! {
            biased;
            sent = send => sent,
            () = self.dropped.cancelled() => return Err(Stop::Full),
        };
        self.pool.moved(self.id, length);
        Ok(sent)
    }

    /// Gives back the memory of all but this many bytes: the objects before them were answered.
    pub(super) fn keep(&self, bytes: usize) {
        self.pool.keep(self.id, bytes);
    }

    /// Takes memory for a part of a body.
    async fn take(&self, length: usize) -> Result<(), Stop> {
        if let Some(announced) = self.announced
            && !self.admitted.swap(true, Ordering::Relaxed)
        {
            let turn = self.wait(TURN, || self.pool.promise(self.id, announced, false));
            if !turn.await? {
                self.pool.promise(self.id, announced, true);
            }
        }
        match self
            .wait(self.patience, || self.pool.take(self.id, length))
            .await?
        {
            true => Ok(()),
            false => Err(Stop::Full),
        }
    }

    /// Whether the answer was `Taken` within this time.
    async fn wait(&self, longest: Duration, ask: impl Fn() -> Answer) -> Result<bool, Stop> {
        let end = Instant::now() + longest;
        loop {
            let changed = self.pool.changed.notified();
            if ask() == Answer::Taken {
                return Ok(true);
            }
            let now = Instant::now();
            if now >= end {
                return Ok(false);
            }
            tokio::select! {
                biased;
                () = self.dropped.cancelled() => return Err(Stop::Full),
                () = changed => {}
                () = sleep_until(end.min(now + LOOKS)) => {}
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.pool.remove(self.id);
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
