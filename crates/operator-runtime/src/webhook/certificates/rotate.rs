//! When which certificate takes the place of another.
//!
//! Each step is one write of the Secret, and what comes next follows from its contents, the time, and for
//! how long everybody has had them. So a replica that ends between two steps leaves nothing undone.

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime};

use super::contents::{Contents, Slot};

/// How long what takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periods {
    /// How long a certificate can be used.
    pub(crate) lifetime: Duration,
    /// How long before its end another one is made.
    pub(crate) renew: Duration,
    /// How long every API server may take to learn of a bundle, and every replica of a certificate.
    pub(crate) settle: Duration,
}

impl Default for Periods {
    /// A year, of which a third is left when the next certificate is made.
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
    /// How often to look at the clock: often enough not to be late, and for one that was put right.
    pub(super) fn tick(&self) -> Duration {
        (self.renew / 100).min(Duration::from_secs(60 * 60))
    }
}

/// What to do with the Secret.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Serve a new certificate at once, because there is none, for the reason.
    Begin(String),
    /// Make the next certificate, and publish its CA beside the other, for the reason.
    Prepare(String),
    /// Serve the next certificate.
    Switch,
    /// Publish the CA of the certificate that is served, and no other.
    Finish,
    /// Nothing; after this time, or when something changes, look again.
    Wait(Duration),
}

/// What comes next. `settled` is for how long these contents are known to be published wherever the API
/// server looks; `None` if they are not.
///
/// It is time observed by this replica on a clock that only runs forward, so that no jump of the
/// clock shortens it, and neither does a new leader.
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
        // Nobody can be kept waiting: the API server refuses what is served.
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
