//! Decides who leads, by client-go's rules. Pure: takes times and returns a decision.

use std::time::Duration;

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};

/// A Lease, and the time at which its current record was first seen.
///
/// The timestamps in the record come from another machine's wall clock, and no decision uses them.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) lease: Lease,
    /// Time since boot.
    pub(crate) at: Duration,
}

impl Observed {
    /// The observation after the Lease was seen at `now`. An unchanged record keeps its time.
    pub(crate) fn update(previous: Option<&Self>, lease: Lease, now: Duration) -> Self {
        let same = previous.filter(|previous| previous.lease.spec == lease.spec);
        Self {
            at: same.map_or(now, |previous| previous.at),
            lease,
        }
    }

    /// The identity in the record; empty if there is no holder.
    pub(crate) fn holder(&self) -> &str {
        let spec = self.lease.spec.as_ref();
        spec.and_then(|spec| spec.holder_identity.as_deref())
            .unwrap_or_default()
    }
}

/// The meaning of a record for one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// There is no holder, or the holder has not renewed for a lease duration.
    Free,
    /// The candidate itself holds the Lease.
    Ours,
    /// Another candidate may lead until this time since boot.
    Held(Duration),
}

/// Decides by the duration in the record, which its holder relies on; `default` replaces a missing
/// duration.
pub(crate) fn decide(
    observed: &Observed,
    identity: &str,
    default: Duration,
    now: Duration,
) -> Decision {
    let holder = observed.holder();
    if holder.is_empty() {
        return Decision::Free;
    }
    if holder == identity {
        return Decision::Ours;
    }
    let spec = observed.lease.spec.as_ref();
    let seconds = spec.and_then(|spec| spec.lease_duration_seconds);
    let duration = seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .filter(|seconds| *seconds > 0)
        .map_or(default, Duration::from_secs);
    match observed.at + duration {
        until if until <= now => Decision::Free,
        until => Decision::Held(until),
    }
}

/// The record by which `identity` acquires or renews the Lease, replacing `old`.
pub(super) fn claim(
    old: Option<&LeaseSpec>,
    identity: &str,
    duration: Duration,
    wall: Timestamp,
) -> LeaseSpec {
    let old_holder = old.and_then(|old| old.holder_identity.as_deref());
    let acquired = old.and_then(|old| old.acquire_time.clone());
    let transitions = old.map_or(0, |old| old.lease_transitions.unwrap_or_default());
    let wall = MicroTime(wall);
    let (acquired, transitions) = match old {
        None => (wall.clone(), 0),
        Some(_) if old_holder == Some(identity) => (acquired.unwrap_or(wall.clone()), transitions),
        Some(_) => (wall.clone(), transitions.saturating_add(1)),
    };
    LeaseSpec {
        holder_identity: Some(identity.to_owned()),
        lease_duration_seconds: Some(whole_seconds(duration)),
        acquire_time: Some(acquired),
        renew_time: Some(wall),
        lease_transitions: Some(transitions),
        ..old.cloned().unwrap_or_default()
    }
}

/// The record of a released Lease, which any candidate may acquire at once.
pub(super) fn release(old: &LeaseSpec, wall: Timestamp) -> LeaseSpec {
    LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        acquire_time: Some(MicroTime(wall)),
        renew_time: Some(MicroTime(wall)),
        ..old.clone()
    }
}

/// Rounds up: others must not take over earlier than the holder expects.
fn whole_seconds(duration: Duration) -> i32 {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Duration = Duration::from_secs(15);

    fn record(holder: Option<&str>, seconds: Option<i32>) -> LeaseSpec {
        LeaseSpec {
            holder_identity: holder.map(str::to_owned),
            lease_duration_seconds: seconds,
            ..LeaseSpec::default()
        }
    }

    fn wall(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn lease(spec: LeaseSpec) -> Lease {
        Lease {
            spec: Some(spec),
            ..Lease::default()
        }
    }

    #[test]
    fn who_leads() {
        use Decision::*;
        let held = |second| Held(Duration::from_secs(second));
        // The record is first seen at 100 s.
        let cases = [
            // No holder, in each spelling.
            (None, Some(15), 100, Free),
            (Some(""), Some(15), 100, Free),
            // Another holder, until its own duration is over.
            (Some("b"), Some(15), 100, held(115)),
            (Some("b"), Some(15), 114, held(115)),
            (Some("b"), Some(15), 115, Free),
            (Some("b"), Some(60), 115, held(160)),
            (Some("b"), Some(1), 101, Free),
            // A record without a usable duration.
            (Some("b"), None, 114, held(115)),
            (Some("b"), Some(0), 114, held(115)),
            (Some("b"), Some(-1), 115, Free),
            // This holder, even after a long pause: no other candidate has taken over.
            (Some("a"), Some(15), 100, Ours),
            (Some("a"), Some(15), 900, Ours),
        ];
        for (holder, seconds, now, expected) in cases {
            let observed = Observed {
                lease: lease(record(holder, seconds)),
                at: Duration::from_secs(100),
            };
            let decision = decide(&observed, "a", DEFAULT, Duration::from_secs(now));
            assert_eq!(decision, expected, "{holder:?} {seconds:?} at {now} s");
        }
        // A Lease made by hand.
        let observed = Observed {
            lease: Lease::default(),
            at: Duration::ZERO,
        };
        assert_eq!(decide(&observed, "a", DEFAULT, Duration::ZERO), Free);
    }

    #[test]
    fn time_counts_from_the_moment_a_change_was_seen() {
        let second = Duration::from_secs;
        let first = Observed::update(None, lease(record(Some("b"), Some(15))), second(1));
        assert_eq!(first.at, second(1));
        // Seen again, with another label but the same record.
        let mut labelled = first.lease.clone();
        labelled.metadata.resource_version = Some("2".to_owned());
        let again = Observed::update(Some(&first), labelled, second(3));
        assert_eq!(again.at, second(1));
        assert_eq!(again.lease.metadata.resource_version.as_deref(), Some("2"));
        // Renewed, by a clock that is years behind.
        let mut renewed = first.lease.clone();
        renewed.spec.as_mut().unwrap().renew_time = Some(MicroTime(wall(0)));
        let renewed = Observed::update(Some(&again), renewed, second(5));
        assert_eq!(renewed.at, second(5));
    }

    #[test]
    fn records() {
        let claimed = |old, at| claim(old, "a", Duration::from_millis(1500), wall(at));
        let first = claimed(None, 1);
        assert_eq!(first.holder_identity.as_deref(), Some("a"));
        assert_eq!(first.lease_duration_seconds, Some(2), "rounded up");
        assert_eq!(first.lease_transitions, Some(0));
        assert_eq!(first.acquire_time, Some(MicroTime(wall(1))));
        assert_eq!(first.renew_time, Some(MicroTime(wall(1))));

        let renewed = claimed(Some(&first), 2);
        assert_eq!(renewed.lease_transitions, Some(0));
        assert_eq!(renewed.acquire_time, Some(MicroTime(wall(1))));
        assert_eq!(renewed.renew_time, Some(MicroTime(wall(2))));

        let taken = claim(Some(&renewed), "b", DEFAULT, wall(3));
        assert_eq!(taken.holder_identity.as_deref(), Some("b"));
        assert_eq!(taken.lease_transitions, Some(1));
        assert_eq!(taken.acquire_time, Some(MicroTime(wall(3))));

        let released = release(&taken, wall(4));
        assert_eq!(released.holder_identity.as_deref(), Some(""));
        assert_eq!(released.lease_duration_seconds, Some(1));
        assert_eq!(released.lease_transitions, Some(1));

        let taken = claimed(Some(&released), 5);
        assert_eq!(taken.lease_transitions, Some(2));
    }
}
