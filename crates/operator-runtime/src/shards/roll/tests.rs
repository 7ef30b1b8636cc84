use k8s_openapi::{apimachinery::pkg::apis::meta::v1::MicroTime, jiff::Timestamp};

use super::*;
use crate::shards::{
    assignment::{Phase, Share},
    notes::Acted,
};

const LEASE: Duration = Duration::from_secs(15);

fn second(second: u64) -> Duration {
    Duration::from_secs(second)
}

/// The Lease of a member that has acted on number 1, renewed at this second of its wall clock.
fn lease(name: &str, renewed: i64) -> Lease {
    let notes = Notes {
        acted: Some(Acted {
            object: "uid".to_owned(),
            number: 1,
        }),
        ..Notes::default()
    };
    let mut lease = Lease::default();
    lease.metadata.name = Some(format!("lease-{name}"));
    lease.metadata.uid = Some(format!("uid-{name}"));
    lease.metadata.resource_version = Some(renewed.to_string());
    lease.metadata.annotations = Some(notes.annotations(&name.parse().unwrap()));
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = Some(name.to_owned());
    spec.lease_duration_seconds = Some(15);
    spec.renew_time = Some(MicroTime(Timestamp::from_second(renewed).unwrap()));
    lease
}

fn held(owner: &str) -> Assignment {
    let owner = owner.parse().unwrap();
    let share = Share {
        epoch: 1,
        phase: Phase::Held { owner },
    };
    Assignment::new(1).next(vec![share])
}

fn list(roll: &mut Roll, leases: &[Lease], now: u64) {
    let listing = roll.begin();
    roll.list(listing, leases.iter().cloned(), second(now));
}

/// The members at this time: `a:Live:1`.
fn members(roll: &mut Roll, now: u64) -> String {
    let members = roll.members(second(now)).expect("a complete list");
    let text = |member: &MemberView| {
        let acted = member
            .acted
            .map_or("-".to_owned(), |acted| acted.to_string());
        format!("{}:{:?}:{acted}", member.identity, member.standing)
    };
    members.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn roll(leases: &[Lease]) -> Roll {
    let mut roll = Roll::new(LEASE);
    roll.name("uid", &Assignment::new(1));
    list(&mut roll, leases, 100);
    roll
}

#[test]
fn a_lease_that_is_not_renewed_is_deleted() {
    let mut roll = roll(&[lease("a", 1), lease("b", 1)]);
    assert_eq!(members(&mut roll, 100), "a:Live:1 b:Live:1");
    assert_eq!(roll.due(), Some(second(115)));
    roll.see(lease("b", 2), second(110));
    assert_eq!(roll.expired(second(114)), []);
    let expired = roll.expired(second(115));
    assert_eq!(expired.len(), 1);
    let Expired {
        name,
        uid,
        resource_version,
        ..
    } = &expired[0];
    assert_eq!(name, "lease-a");
    assert_eq!(
        (uid.as_deref(), resource_version.as_deref()),
        (Some("uid-a"), Some("1"))
    );
    // Not gone before the deletion succeeded; and never back.
    assert_eq!(members(&mut roll, 200), "a:Live:1 b:Live:1");
    roll.deleted(&expired[0]);
    assert_eq!(members(&mut roll, 200), "a:Gone:1 b:Live:1");
    assert!(!roll.has_left(&"a".parse().unwrap()));
    roll.see(lease("a", 3), second(201));
    assert_eq!(members(&mut roll, 201), "a:Gone:1 b:Live:1");
    // What came back of it is deleted, too. Once a list says nothing of it any more, it is forgotten.
    let left = &roll.expired(second(112))[0];
    assert_eq!(left.resource_version.as_deref(), Some("3"));
    roll.deleted(&left.clone());
    roll.removed(lease("a", 3), second(202));
    assert_eq!(members(&mut roll, 202), "a:Gone:1 b:Live:1");
    roll.name("uid", &held("a"));
    list(&mut roll, &[lease("b", 2)], 203);
    assert_eq!(members(&mut roll, 203), "a:Gone:1 b:Live:1");
    roll.name("uid", &held("b"));
    list(&mut roll, &[lease("b", 2)], 203);
    assert_eq!(members(&mut roll, 203), "b:Live:1");
}

#[test]
fn a_member_that_releases_its_lease_is_gone_at_once() {
    let mut roll = roll(&[lease("a", 1)]);
    let mut released = lease("a", 2);
    released.spec.as_mut().unwrap().holder_identity = Some(String::new());
    roll.see(released, second(101));
    assert_eq!(members(&mut roll, 101), "a:Gone:1");
    assert!(roll.has_left(&"a".parse().unwrap()));
    // As long as the assignment names it, its Lease tells every other leader that it is gone.
    roll.name("uid", &held("a"));
    assert_eq!(roll.expired(second(200)), []);
    assert_eq!(members(&mut roll, 200), "a:Gone:1");
    roll.name("uid", &held("b"));
    assert_eq!(roll.expired(second(200)).len(), 1);
}

#[test]
fn a_lease_that_others_deleted() {
    let mut roll = roll(&[lease("a", 1)]);
    roll.miss(&"a".parse().unwrap(), second(110));
    roll.miss(&"a".parse().unwrap(), second(120));
    assert_eq!(members(&mut roll, 124), "a:Absent:1");
    assert_eq!(roll.due(), Some(second(125)));
    assert_eq!(members(&mut roll, 125), "a:Gone:1");
    // The duration in the Lease counts, if it is longer.
    let mut long = lease("b", 1);
    long.spec.as_mut().unwrap().lease_duration_seconds = Some(60);
    let mut roll = self::roll(&[long]);
    list(&mut roll, &[], 110);
    assert_eq!(members(&mut roll, 169), "b:Absent:1");
    assert_eq!(members(&mut roll, 170), "b:Gone:1");
}

#[test]
fn a_lease_whose_deletion_is_seen() {
    // It has not changed for a while: somebody else found that it is gone.
    let mut roll = roll(&[lease("a", 1)]);
    roll.removed(lease("a", 1), second(114));
    assert_eq!(members(&mut roll, 114), "a:Absent:1");
    assert_eq!(members(&mut roll, 115), "a:Gone:1");
    // It was renewed since, or was never seen.
    for name in ["a", "b"] {
        let mut roll = self::roll(&[lease("a", 1)]);
        roll.removed(lease(name, 2), second(110));
        let text = members(&mut roll, 124);
        assert!(text.contains(&format!("{name}:Absent:1")), "{text}");
        let text = members(&mut roll, 125);
        assert!(text.contains(&format!("{name}:Gone:1")), "{text}");
    }
    // It was released before.
    let mut released = lease("a", 2);
    released.spec.as_mut().unwrap().holder_identity = Some(String::new());
    let mut roll = self::roll(&[lease("a", 1)]);
    roll.removed(released, second(101));
    assert_eq!(members(&mut roll, 101), "a:Gone:1");
}

#[test]
fn an_owner_without_a_lease() {
    let mut roll = roll(&[]);
    assert!(!roll.wants_list());
    // A list that began before the owner was named says nothing about it.
    let old = roll.begin();
    roll.name("uid", &held("a"));
    assert!(roll.wants_list());
    roll.list(old, [], second(101));
    assert!(roll.wants_list());
    assert_eq!(members(&mut roll, 200), "a:Absent:-");
    assert_eq!(roll.due(), None);
    list(&mut roll, &[], 200);
    assert!(!roll.wants_list());
    assert_eq!(members(&mut roll, 214), "a:Absent:-");
    assert_eq!(members(&mut roll, 215), "a:Gone:-");
    // One that joins.
    roll.name("uid", &held("b"));
    roll.see(lease("b", 1), second(300));
    assert!(!roll.wants_list());
    assert_eq!(members(&mut roll, 300), "a:Gone:- b:Live:1");
}

#[test]
fn another_object_needs_another_list() {
    let mut roll = roll(&[lease("a", 1)]);
    let old = roll.begin();
    roll.name("new", &Assignment::new(1));
    assert!(roll.members(second(100)).is_none());
    roll.list(old, [lease("a", 1)], second(100));
    assert!(roll.wants_list());
    list(&mut roll, &[lease("a", 1)], 100);
    // It has acted on the object before.
    assert_eq!(members(&mut roll, 100), "a:Live:-");
}

#[test]
fn leases_that_say_less() {
    let mut strange = lease("a", 1);
    let annotations = strange.metadata.annotations.as_mut().unwrap();
    annotations.insert(SHARDS.to_owned(), "?".to_owned());
    let mut roll = roll(&[strange, Lease::default()]);
    assert_eq!(members(&mut roll, 100), "a:Live:-");
}
