//! What time it is, and time that only runs forward, also while the machine sleeps.

use std::{sync::Arc, time::Duration};

use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

/// Tells the time: that of the system, unless a test has set another; a clone is the same clock.
///
/// A reconcile that depends on the time, because it follows a schedule or lets things expire, asks the clock
/// of its context, which comes from [`Manager::clock`](crate::Manager::clock).
///
/// ```
/// use std::time::Duration;
/// use operator_runtime::Clock;
///
/// let clock = Clock::default();
/// # #[cfg(feature = "testing")]
/// # {
/// clock.set("2030-01-01T11:59:00Z".parse()?);
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now().to_string(), "2030-01-01T12:00:00Z");
/// # }
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clock(Arc<Mutex<Option<Timestamp>>>);

impl Clock {
    /// What time it is.
    pub fn now(&self) -> Timestamp {
        self.0.lock().unwrap_or_else(Timestamp::now)
    }

    /// Stops the clock at `time`.
    #[cfg(feature = "testing")]
    pub fn set(&self, time: Timestamp) {
        *self.0.lock() = Some(time);
    }

    /// Sets the clock forward, and stops it there.
    ///
    /// # Panics
    /// After the year 9999.
    #[cfg(feature = "testing")]
    pub fn advance(&self, by: Duration) {
        self.set(self.now() + by);
    }
}

/// `std::time::Instant` stands still while a Linux machine is suspended, which is when leases run out.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;

/// Elsewhere, such as on macOS, this is the clock that counts sleep.
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

/// The time since the machine started, the time that it slept included.
pub(crate) fn since_boot() -> Duration {
    // Negative values do not occur: the clock begins at zero.
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn runs_forward() {
        let before = since_boot();
        sleep(Duration::from_millis(20));
        let passed = since_boot() - before;
        assert!(passed >= Duration::from_millis(20), "{passed:?}");
    }
}
