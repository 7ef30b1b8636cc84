//! Decides the steps of a certificate rotation.
//!
//! Each step is one write of the Secret. The next step follows from the contents, the time, and how long
//! the contents have been published. A replica that ends between two steps leaves nothing undone.

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime};

use super::contents::{Contents, Slot};

/// The periods of certificates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periods {
    /// The lifetime of a certificate.
    pub(crate) lifetime: Duration,
    /// The time before its end at which a certificate is renewed.
    pub(crate) renew: Duration,
    /// The time in which every API server must learn of a caBundle, and every replica of a certificate.
    pub(crate) settle: Duration,
}

impl Default for Periods {
    /// A lifetime of a year, with the renewal when a third is left.
    fn default() -> Self {
        let year = Duration::from_secs(365 * 24 * 60 * 60);
        Self {
            lifetime: year,
            renew: year / 3,
            settle: Duration::from_secs(10 * 60),
        }
    }
}

impl Periods {
    /// The interval of clock checks: short enough not to be late, and to notice a corrected clock.
    pub(super) fn tick(&self) -> Duration {
        (self.renew / 100).min(Duration::from_secs(60 * 60))
    }
}

/// The next step with the Secret.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Serve a new certificate at once, because there is no valid one; with the reason.
    Begin(String),
    /// Issue the next certificate, and publish its CA beside the old one; with the reason.
    Prepare(String),
    /// Serve the next certificate.
    Switch,
    /// Publish only the CA of the served certificate.
    Finish,
    /// Wait for this time, or until a change.
    Wait(Duration),
}

/// The next step. `settled` is the time for which these contents are known to be published everywhere;
/// `None` if they are not.
///
/// The time is measured by this replica on a monotonic clock, so neither a jump of the clock nor a new
/// leader shortens it.
pub(super) fn decide(
    contents: &Contents,
    hosts: &[String],
    now: SystemTime,
    periods: &Periods,
    settled: Option<Duration>,
) -> Step {
    if let Err(reason) = contents.certificate(Slot::Serving) {
        return Step::Begin(reason);
    }
    let verify = |slot, at| contents.verify(slot, hosts, at);
    let usable = verify(Slot::Serving, now);
    let settle = match usable {
        Ok(()) => periods.settle,
        // Nothing to wait for: the API server already refuses the served certificate.
        Err(_) => Duration::ZERO,
    };
    let left = match settled {
        Some(settled) => settle.saturating_sub(settled),
        None => Duration::MAX,
    };
    let wait_for = |step| match left.min(periods.tick()) {
        Duration::ZERO => step,
        left => Step::Wait(left),
    };

    let due = now + periods.renew;
    if contents.has(Slot::Next) {
        return match verify(Slot::Next, now).and_then(|()| verify(Slot::Next, due)) {
            Ok(()) => wait_for(Step::Switch),
            Err(reason) => Step::Prepare(reason),
        };
    }
    let ends = |_| "it ends soon".to_owned();
    if let Err(reason) = usable.and_then(|()| verify(Slot::Serving, due).map_err(ends)) {
        return Step::Prepare(reason);
    }
    match contents.has_other_cas(hosts, now) {
        true => wait_for(Step::Finish),
        false => Step::Wait(periods.tick()),
    }
}
