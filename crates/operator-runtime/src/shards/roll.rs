//! The leader's roll of the members: whose Lease exists, who is gone for ever, and what each has acted on.
//!
//! A member is *gone* when it never writes again. That is a permanent fact, which any dealer may use at any
//! time, and the only one that depends on clocks:
//!
//! - Its Lease was deleted by a compare-and-swap, and had not changed for its whole duration before: it had not
//!   been renewed, so the permit of the member, which is shorter, is over.
//! - It has released its Lease, after the last of its fences closed.
//! - Its Lease was deleted by others, a whole lease duration ago. A member whose Lease is missing does not make
//!   it again, and cannot renew its permit. The absence counts only if the member was known before the list
//!   that lacks it began: a member that joins is no member that is absent.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use k8s_openapi::api::coordination::v1::Lease;

use super::{
    assignment::Assignment,
    deal::{MemberView, Standing},
    identity::Identity,
    notes::{MEMBER, Notes, SHARDS},
};
use crate::leader::decide::{Decision, Observed, decide};

/// What is known of all members. All times are times since boot.
#[derive(Debug)]
pub(crate) struct Roll {
    /// The lease duration, where a Lease does not say its own.
    lease: Duration,
    members: BTreeMap<Identity, Known>,
    /// The members that the assignment names.
    named: BTreeSet<Identity>,
    /// The object that was seen last, and whether all its members are listed.
    object: Option<String>,
    complete: bool,
}

#[derive(Debug)]
struct Known {
    state: State,
    notes: Notes,
}

#[derive(Debug)]
enum State {
    /// Named by an assignment; no list was made since.
    Named,
    Seen(Box<Observed>),
    /// There is no Lease any more; the member is gone at this time.
    Absent(Duration),
    /// With what is left of its Lease, if anything is.
    Gone(Option<Expired>),
}

/// A list of the Leases that has begun. What began before it is in it.
#[derive(Debug)]
pub(crate) struct Listing {
    object: Option<String>,
    expected: BTreeSet<Identity>,
    /// Those of them that nothing is left of.
    gone: BTreeSet<Identity>,
}

/// A Lease to delete, with the preconditions of the deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expired {
    pub(crate) identity: Identity,
    /// The name of the Lease.
    pub(crate) name: String,
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

impl Expired {
    fn new(identity: &Identity, observed: &Observed) -> Self {
        let metadata = &observed.lease.metadata;
        Self {
            identity: identity.clone(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
        }
    }
}

impl Roll {
    pub(crate) fn new(lease: Duration) -> Self {
        Self {
            lease,
            members: BTreeMap::new(),
            named: BTreeSet::new(),
            object: None,
            complete: false,
        }
    }

    /// Takes the object of the assignment, and the owners that it names, *before* the next list of the Leases.
    pub(crate) fn name(&mut self, object: &str, assignment: &Assignment) {
        if self.object.as_deref() != Some(object) {
            self.object = Some(object.to_owned());
            self.complete = false;
        }
        let shares = assignment.shares().map(|(_, share)| &share.phase);
        let named = shares.flat_map(|phase| phase.owner().into_iter().chain(phase.to()));
        self.named = named.cloned().collect();
        for identity in &self.named {
            if !self.members.contains_key(identity) {
                let known = Known {
                    state: State::Named,
                    notes: Notes::default(),
                };
                self.members.insert(identity.clone(), known);
            }
        }
    }

    /// Whether a list is needed: before the first deal of an object, and for owners that no Lease is known of.
    pub(crate) fn wants_list(&self) -> bool {
        let named = |known: &Known| matches!(known.state, State::Named);
        self.object.is_some() && !self.complete || self.members.values().any(named)
    }

    /// Call this before a list of the Leases is asked for. The list must be consistent: without a resource
    /// version, so that no cache answers it.
    pub(crate) fn begin(&self) -> Listing {
        let is_gone = |known: &Known| matches!(known.state, State::Gone(None));
        let gone = self.members.iter().filter(|(_, known)| is_gone(known));
        Listing {
            object: self.object.clone(),
            expected: self.members.keys().cloned().collect(),
            gone: gone.map(|(identity, _)| identity.clone()).collect(),
        }
    }

    /// Takes the result of a list. Forgets members that were gone before it began, and that the assignment does
    /// not name: no watch shows anything of them any more.
    pub(crate) fn list(
        &mut self,
        listing: Listing,
        leases: impl IntoIterator<Item = Lease>,
        now: Duration,
    ) {
        let mut absent = listing.expected;
        for lease in leases {
            if let Some(identity) = self.see(lease, now) {
                absent.remove(&identity);
            }
        }
        for identity in absent {
            if listing.gone.contains(&identity) && !self.named.contains(&identity) {
                self.members.remove(&identity);
            } else {
                self.miss(&identity, now);
            }
        }
        self.complete = listing.object.is_some() && listing.object == self.object;
    }

    /// Takes a Lease that was just seen. Returns its member; none if it is not the Lease of a member.
    pub(crate) fn see(&mut self, lease: Lease, now: Duration) -> Option<Identity> {
        let annotations = lease.metadata.annotations.as_ref()?;
        let identity: Identity = annotations.get(MEMBER)?.parse().ok()?;
        // Who has written nothing readable has confirmed nothing.
        let notes = annotations.get(SHARDS).and_then(|text| text.parse().ok());
        let notes: Notes = notes.unwrap_or_default();
        let previous = self.members.get(&identity).map(|known| &known.state);
        let (was_gone, previous) = match previous {
            Some(State::Gone(_)) => (true, None),
            Some(State::Seen(observed)) => (false, Some(&**observed)),
            _ => (false, None),
        };
        let observed = Observed::update(previous, lease, now);
        let released = observed.lease.spec.is_some() && observed.holder().is_empty();
        let state = if was_gone || released {
            State::Gone(Some(Expired::new(&identity, &observed)))
        } else {
            State::Seen(Box::new(observed))
        };
        self.members
            .insert(identity.clone(), Known { state, notes });
        Some(identity)
    }

    /// Takes the deletion of a Lease by others, with its last state. If that has not changed for long, the
    /// permit is over soon: so a new leader need not wait again for members that the old one found gone.
    pub(crate) fn removed(&mut self, lease: Lease, now: Duration) {
        let Some(identity) = self.see(lease, now) else {
            return;
        };
        if let Some(known) = self.members.get_mut(&identity) {
            known.state = match &known.state {
                State::Seen(observed) => {
                    State::Absent(observed.at + duration(observed, self.lease))
                }
                _ => State::Gone(None),
            };
        }
    }

    /// Takes that a Lease is missing. When it was deleted, and renewed last, is unknown.
    pub(crate) fn miss(&mut self, identity: &Identity, now: Duration) {
        let Some(known) = self.members.get_mut(identity) else {
            return;
        };
        let duration = match &known.state {
            State::Seen(observed) => duration(observed, self.lease),
            State::Named => self.lease,
            State::Absent(_) => return,
            State::Gone(_) => {
                known.state = State::Gone(None);
                return;
            }
        };
        known.state = State::Absent(now + duration.max(self.lease));
    }

    /// Takes that this leader has deleted an [`Expired`] Lease.
    pub(crate) fn deleted(&mut self, expired: &Expired) {
        if let Some(known) = self.members.get_mut(&expired.identity) {
            known.state = State::Gone(None);
        }
    }

    /// The Leases to delete at `now`, by compare-and-swap: they were not renewed for their whole duration, or
    /// they are released. If that succeeds, call [`deleted`](Self::deleted).
    ///
    /// A released one stays as long as the assignment names its member, to tell any later leader that it is gone:
    /// without it, that leader would wait for a whole lease duration.
    pub(crate) fn expired(&self, now: Duration) -> Vec<Expired> {
        let expired = |(identity, known): (&Identity, &Known)| {
            let observed = match &known.state {
                State::Seen(observed) => observed,
                State::Gone(left) => {
                    return left.clone().filter(|_| !self.named.contains(identity));
                }
                State::Named | State::Absent(_) => return None,
            };
            let free = decide(observed, "", self.lease, now) == Decision::Free;
            free.then(|| Expired::new(identity, observed))
        };
        self.members.iter().filter_map(expired).collect()
    }

    /// Whether this member has released its Lease, after it had stopped all its slots.
    pub(crate) fn has_left(&self, identity: &Identity) -> bool {
        let known = self.members.get(identity);
        known.is_some_and(|known| matches!(known.state, State::Gone(Some(_))))
    }

    /// Whether another member than this one lives, and stays.
    pub(crate) fn lives_besides(&self, identity: &str) -> bool {
        let others = self.members.iter();
        let mut others = others.filter(|(other, _)| other.as_str() != identity);
        others.any(|(_, known)| matches!(known.state, State::Seen(_)) && !known.notes.leaving)
    }

    /// The next time at which a member may turn out to be gone.
    pub(crate) fn due(&self) -> Option<Duration> {
        let due = |known: &Known| match &known.state {
            State::Seen(observed) => Some(observed.at + duration(observed, self.lease)),
            State::Absent(until) => Some(*until),
            State::Named | State::Gone(_) => None,
        };
        self.members.values().filter_map(due).min()
    }

    /// All members, for [`deal::next`](super::deal::next) and for the object given to [`name`](Self::name);
    /// `None` before a list that began after that.
    pub(crate) fn members(&mut self, now: Duration) -> Option<Vec<MemberView>> {
        let object = self.object.as_ref().filter(|_| self.complete)?;
        for known in self.members.values_mut() {
            if matches!(known.state, State::Absent(until) if until <= now) {
                known.state = State::Gone(None);
            }
        }
        let view = |(identity, Known { state, notes }): (&Identity, &Known)| MemberView {
            identity: identity.clone(),
            standing: match state {
                State::Seen(_) if notes.leaving => Standing::Leaving,
                State::Seen(_) => Standing::Live,
                State::Named | State::Absent(_) => Standing::Absent,
                State::Gone(_) => Standing::Gone,
            },
            acted: notes.acted_on(object),
            draining: notes.draining,
            filling: notes.filling,
        };
        Some(self.members.iter().map(view).collect())
    }
}

/// How long the record of a Lease counts.
fn duration(observed: &Observed, default: Duration) -> Duration {
    let spec = observed.lease.spec.as_ref();
    let seconds = spec.and_then(|spec| spec.lease_duration_seconds);
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds
        .filter(|seconds| *seconds > 0)
        .map_or(default, Duration::from_secs)
}
