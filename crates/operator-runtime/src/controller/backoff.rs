//! The delays of retries: exponential back-off per object, and a rate for all objects together.

use std::{
    collections::HashMap,
    hash::Hash,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// The delays of a controller's retries. The default delays are controller-runtime's.
#[derive(Clone, Copy)]
pub(super) struct Retries {
    pub(super) first: Duration,
    pub(super) last: Duration,
    pub(super) rate: Option<Rate>,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(5),
            last: Duration::from_secs(1000),
            rate: None,
        }
    }
}

impl Retries {
    fn delay(&self, failures: u32) -> Duration {
        let factor = 2_u32.saturating_pow(failures);
        self.first.saturating_mul(factor).min(self.last)
    }
}

/// A token bucket, as in client-go: a retry takes a token, or waits until there is one.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    /// The time in which the bucket gains a token.
    pub(super) interval: Duration,
    /// The number of tokens of a full bucket.
    pub(super) burst: u32,
}

impl Rate {
    /// Takes a token and returns the delay. The bucket is full at `full`.
    fn take(&self, full: &mut Instant, now: Instant) -> Duration {
        *full = (*full).max(now) + self.interval;
        let empty = self.interval.saturating_mul(self.burst);
        full.duration_since(now).saturating_sub(empty)
    }
}

/// Consecutive failures per object. Each doubles the delay.
pub(super) struct Backoff<T> {
    retries: Retries,
    failures: Mutex<HashMap<T, u32>>,
    /// The time at which the bucket of the rate is full.
    full: Mutex<Instant>,
}

impl<T: Clone + Hash + Eq> Backoff<T> {
    pub(super) fn new(retries: Retries) -> Self {
        Self {
            retries,
            failures: Mutex::default(),
            full: Mutex::new(Instant::now()),
        }
    }

    /// Counts a failure and returns the delay.
    pub(super) fn failed(&self, object: &T) -> Duration {
        let mut failures = self.failures.lock();
        let failures = failures.entry(object.clone()).or_default();
        let delay = self.retries.delay(*failures);
        *failures = failures.saturating_add(1);
        match self.retries.rate {
            Some(rate) => delay.max(rate.take(&mut self.full.lock(), Instant::now())),
            None => delay,
        }
    }

    /// Resets to the first delay.
    pub(super) fn reset(&self, object: &T) {
        self.failures.lock().remove(object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn delays_double_up_to_the_last_and_start_again() {
        let backoff = Backoff::new(Retries::default());
        assert_eq!(backoff.failed(&"a"), Duration::from_millis(5));
        assert_eq!(backoff.failed(&"a"), Duration::from_millis(10));
        assert_eq!(backoff.failed(&"b"), Duration::from_millis(5));
        backoff.reset(&"a");
        assert_eq!(backoff.failed(&"a"), Duration::from_millis(5));
        let delay = |failures| Retries::default().delay(failures);
        assert_eq!(delay(17), Duration::from_millis(655_360));
        assert_eq!(delay(18), 1000 * SECOND);
        assert_eq!(delay(u32::MAX), 1000 * SECOND);
    }

    #[test]
    fn retries_of_all_objects_have_a_rate() {
        let rate = Rate {
            interval: SECOND / 10,
            burst: 3,
        };
        let now = Instant::now();
        let mut full = now;
        let mut take = |now| rate.take(&mut full, now).as_millis();
        let delays: Vec<_> = (0..5).map(|_| take(now)).collect();
        assert_eq!(delays, [0, 0, 0, 100, 200]);
        // Two tokens pay the debt; the third is taken.
        assert_eq!(take(now + 3 * SECOND / 10), 0);
        assert_eq!(take(now + 3 * SECOND / 10), 100);
        let later: Vec<_> = (0..4).map(|_| take(now + 60 * SECOND)).collect();
        assert_eq!(later, [0, 0, 0, 100], "the bucket holds three tokens");
    }

    #[test]
    fn the_longer_delay_counts() {
        let rate = Some(Rate {
            interval: 60 * SECOND,
            burst: 1,
        });
        let (first, last) = (SECOND, 90 * SECOND);
        let backoff = Backoff::new(Retries { first, last, rate });
        assert_eq!(backoff.failed(&"a"), SECOND);
        let delay = backoff.failed(&"b");
        assert!(delay > 50 * SECOND && delay <= 60 * SECOND, "{delay:?}");
    }
}
