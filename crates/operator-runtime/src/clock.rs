//! The system time, and a monotonic clock that includes suspend.

use std::{sync::Arc, time::Duration};

use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

/// The current time: the system's, unless a test has set another. Clones share the clock.
///
/// A reconcile that follows a schedule or lets objects expire reads the clock of its context, from
/// [`Manager::clock`](crate::Manager::clock).
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
    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.0.lock().unwrap_or_else(Timestamp::now)
    }

    /// Stops the clock at `time`.
    #[cfg(feature = "testing")]
    pub fn set(&self, time: Timestamp) {
        *self.0.lock() = Some(time);
    }

    /// Advances the clock, and stops it there.
    ///
    /// # Panics
    /// If the time is after the year 9999.
    #[cfg(feature = "testing")]
    pub fn advance(&self, by: Duration) {
        self.set(self.now() + by);
    }
}

/// `std::time::Instant` does not count the time during which a Linux machine is suspended, and leases
/// expire meanwhile.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;

/// On other systems, such as macOS, this clock includes suspend.
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

/// The time since boot, including suspend.
pub(crate) fn since_boot() -> Duration {
    // Negative values do not occur: the clock starts at zero.
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
