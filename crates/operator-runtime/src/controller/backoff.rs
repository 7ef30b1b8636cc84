//! Exponential back-off per object.

use std::{collections::HashMap, hash::Hash, time::Duration};

use parking_lot::Mutex;

const FIRST: Duration = Duration::from_millis(5);
const LAST: Duration = Duration::from_secs(1000);

/// Consecutive failures per object. Each doubles the delay, as in controller-runtime.
pub(super) struct Backoff<T>(Mutex<HashMap<T, u32>>);

impl<T> Default for Backoff<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone + Hash + Eq> Backoff<T> {
    /// Counts a failure and returns the delay.
    pub(super) fn failed(&self, object: &T) -> Duration {
        let mut failures = self.0.lock();
        let failures = failures.entry(object.clone()).or_default();
        let delay = delay(*failures);
        *failures = failures.saturating_add(1);
        delay
    }

    /// Resets to the first delay.
    pub(super) fn reset(&self, object: &T) {
        self.0.lock().remove(object);
    }
}

fn delay(failures: u32) -> Duration {
    2_u32
        .checked_pow(failures)
        .map_or(LAST, |factor| FIRST.saturating_mul(factor).min(LAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_last_and_start_again() {
        let backoff = Backoff::default();
        assert_eq!(backoff.failed(&"a"), Duration::from_millis(5));
        assert_eq!(backoff.failed(&"a"), Duration::from_millis(10));
        assert_eq!(backoff.failed(&"b"), Duration::from_millis(5));
        backoff.reset(&"a");
        assert_eq!(backoff.failed(&"a"), Duration::from_millis(5));
        assert_eq!(delay(17), Duration::from_millis(655_360));
        assert_eq!(delay(18), LAST);
        assert_eq!(delay(u32::MAX), LAST);
    }
}
