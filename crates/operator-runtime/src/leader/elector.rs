//! A candidate as a state machine without clock and network: it returns the next step and takes the result.

#[cfg(test)]
mod tests;

use std::time::Duration;

use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};

use super::{
    config::Timing,
    decide::{Decision, Observed, claim, decide, release},
};
use crate::client::fence::Fence;

/// The next step. All times are times since boot.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Make this call, and pass its result to [`Elector::answer`].
    Call(Call),
    /// Wait until this time, or until the Lease changes.
    Wait(Duration),
    /// This process led and may no longer lead. Final.
    Lost,
    /// This process does not lead, and will not. Final.
    Left,
}

/// A call for the Lease. Writes carry the expected resource version.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Get,
    Create(Box<Lease>),
    Replace(Box<Lease>),
}

/// The result of a call.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The current Lease.
    Lease(Box<Lease>),
    /// There is no Lease of this name.
    Missing,
    /// The resource version of a write was outdated.
    Conflict,
    /// Any other error; a write may have succeeded or not.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Follower,
    Leader { until: Duration },
    Leaving { until: Duration },
    Lost,
    Left,
}

/// The candidate's current knowledge of the Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Too little for a write: the Lease must be read first.
    Nothing,
    Lease,
    NoLease,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Get,
    Create,
    Replace,
}

/// The state machine of a candidate.
#[derive(Debug)]
pub(crate) struct Elector {
    identity: String,
    timing: Timing,
    role: Role,
    known: Known,
    observed: Option<Observed>,
    /// The time of the next call.
    next: Duration,
    /// The call in flight, and the time at which it was sent.
    asked: Asked,
    sent: Duration,
}

impl Elector {
    pub(crate) fn new(identity: String, timing: Timing) -> Self {
        Self {
            identity,
            timing,
            role: Role::Follower,
            known: Known::Nothing,
            observed: None,
            next: Duration::ZERO,
            asked: Asked::Get,
            sent: Duration::ZERO,
        }
    }

    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// The time until which this process may write, if it leads.
    pub(crate) fn leads_until(&self) -> Option<Duration> {
        match self.role {
            Role::Leader { until } => Some(until),
            _ => None,
        }
    }

    /// Permits writes as long as this process leads.
    pub(crate) fn guard(&self, fence: &Fence) {
        match self.leads_until() {
            Some(until) => fence.hold(until),
            None => fence.close(),
        }
    }

    /// The last seen holder of the Lease; empty if there was none.
    pub(crate) fn holder(&self) -> &str {
        self.observed.as_ref().map_or("", Observed::holder)
    }

    /// The next step at `now`. `wall` is written into the Lease, for people.
    pub(crate) fn step(&mut self, now: Duration, wall: Timestamp) -> Step {
        self.expire(now);
        let call = match self.role {
            Role::Lost => return Step::Lost,
            Role::Left => return Step::Left,
            _ if self.known == Known::Nothing => self.read_at(now, self.next),
            Role::Leader { .. } | Role::Leaving { .. } if now < self.next => Err(self.next),
            Role::Leader { .. } => Ok(self.claim(wall)),
            Role::Leaving { .. } => Ok(self.release(wall)),
            Role::Follower => match self.decide(now) {
                Decision::Held(until) => self.read_at(now, self.next).map_err(|at| at.min(until)),
                Decision::Free | Decision::Ours => Ok(self.claim(wall)),
            },
        };
        match (call, self.role) {
            (Ok(call), _) => {
                self.asked = match call {
                    Call::Get => Asked::Get,
                    Call::Create(_) => Asked::Create,
                    Call::Replace(_) => Asked::Replace,
                };
                self.sent = now;
                Step::Call(call)
            }
            (Err(at), Role::Leader { until }) => Step::Wait(at.min(until)),
            (Err(at), _) => Step::Wait(at),
        }
    }

    /// Takes the result of the call that [`step`](Self::step) returned.
    pub(crate) fn answer(&mut self, answer: Answer, now: Duration) {
        let period = match self.role {
            Role::Follower => self.timing.poll,
            _ => self.timing.retry,
        };
        match answer {
            Answer::Lease(lease) => {
                self.see(*lease, now);
                if self.asked != Asked::Get {
                    self.wrote(now);
                } else if self.role != Role::Follower {
                    self.next = now;
                }
            }
            Answer::Missing if self.asked != Asked::Create => self.miss(now),
            Answer::Conflict => {
                self.known = Known::Nothing;
                self.next = now;
            }
            // Without a namespace, no Lease can be created.
            Answer::Missing | Answer::Failed => {
                self.known = Known::Nothing;
                self.next = self.sent + period;
                if matches!(self.role, Role::Leaving { .. }) {
                    self.role = Role::Left;
                }
            }
        }
        self.expire(now);
    }

    /// Takes a Lease that was just seen.
    pub(crate) fn see(&mut self, lease: Lease, now: Duration) {
        let observed = Observed::update(self.observed.as_ref(), lease, now);
        if observed.holder() != self.identity {
            self.overtaken();
        }
        self.observed = Some(observed);
        self.known = Known::Lease;
        self.next = now + self.timing.poll;
    }

    /// Takes the deletion of the Lease. Its holder may lead until the lease would have expired.
    pub(crate) fn miss(&mut self, now: Duration) {
        self.overtaken();
        self.known = Known::NoLease;
        self.next = now + self.timing.poll;
    }

    /// Releases the Lease, or stops trying to acquire it. The caller no longer writes.
    pub(crate) fn leave(&mut self, now: Duration) {
        self.expire(now);
        self.role = match self.role {
            Role::Leader { until } => Role::Leaving { until },
            Role::Follower => Role::Left,
            role => role,
        };
        self.next = now;
    }

    /// Renews the Lease now, if this process leads: the caller has something to say on it.
    pub(crate) fn hurry(&mut self, now: Duration) {
        if self.leads_until().is_some() {
            self.next = self.next.min(now);
        }
    }

    /// A write succeeded: no other candidate takes over for a lease duration after it was *sent*.
    fn wrote(&mut self, now: Duration) {
        let until = self.sent + self.timing.renew;
        match self.role {
            Role::Leaving { .. } => self.role = Role::Left,
            Role::Leader { .. } | Role::Follower if now < until => {
                self.role = Role::Leader { until };
                self.next = self.sent + self.timing.retry;
            }
            // The response came too late to lead by it.
            _ => self.known = Known::Nothing,
        }
    }

    fn expire(&mut self, now: Duration) {
        self.role = match self.role {
            Role::Leader { until } if until <= now => Role::Lost,
            Role::Leaving { until } if until <= now => Role::Left,
            role => role,
        };
    }

    /// The Lease is not, or no longer, held by this process: another candidate may lead.
    fn overtaken(&mut self) {
        self.role = match self.role {
            Role::Leader { .. } => Role::Lost,
            Role::Leaving { .. } => Role::Left,
            role => role,
        };
    }

    fn decide(&self, now: Duration) -> Decision {
        let decide = |seen| decide(seen, &self.identity, self.timing.lease, now);
        self.observed.as_ref().map_or(Decision::Free, decide)
    }

    /// A read if it is due, or else the time at which it will be.
    fn read_at(&self, now: Duration, due: Duration) -> Result<Call, Duration> {
        if now < due { Err(due) } else { Ok(Call::Get) }
    }

    fn claim(&self, wall: Timestamp) -> Call {
        let claim = |old| Some(claim(old, &self.identity, self.timing.lease, wall));
        match &self.observed {
            Some(Observed { lease, .. }) if self.known == Known::Lease => {
                let spec = claim(lease.spec.as_ref());
                Call::Replace(Box::new(Lease {
                    spec,
                    ..lease.clone()
                }))
            }
            _ => {
                let spec = claim(None);
                Call::Create(Box::new(Lease {
                    spec,
                    ..Lease::default()
                }))
            }
        }
    }

    fn release(&self, wall: Timestamp) -> Call {
        let observed = self.observed.as_ref();
        let mut lease = observed.map_or_else(Lease::default, |observed| observed.lease.clone());
        lease.spec = lease.spec.map(|old| release(&old, wall));
        Call::Replace(Box::new(lease))
    }
}
