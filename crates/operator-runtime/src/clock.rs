//! Time that only runs forward, and runs on while the machine sleeps.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

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
