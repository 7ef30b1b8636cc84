//! What a deal means to people: the text of its Event.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use k8s_openapi::{
    api::{
        core::v1::{ConfigMap, ObjectReference},
        events::v1::Event,
    },
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{Resource, api::ObjectMeta};

use super::{
    assignment::Assignment,
    deal::{MemberView, Standing},
    follow::label,
    identity::Identity,
};

/// The longest note of an Event that the API server accepts.
const LONGEST: usize = 1024;

/// Who joins and who leaves with an assignment, and how many slots each replica gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct News {
    /// A replica was gone before it had passed on its slots, or stopped them in order.
    pub(super) is_loss: bool,
    pub(super) text: String,
}

impl News {
    /// `None` if no slot gets another owner in the end: a deal before has announced the moves that go on.
    /// `has_left` says which of the members that are gone have ended in order.
    pub(super) fn of(
        old: &Assignment,
        new: &Assignment,
        members: &[MemberView],
        has_left: impl Fn(&Identity) -> bool,
    ) -> Option<Self> {
        let (before, after) = (heirs(old), heirs(new));
        let moved = before.iter().zip(&after).filter(|(old, new)| old != new);
        let moved = moved.count();
        if moved == 0 {
            return None;
        }
        let standing = |identity: &Identity| {
            let member = members.iter().find(|member| member.identity == *identity);
            member.map(|member| member.standing)
        };
        let is_lost =
            |identity: &Identity| standing(identity) == Some(Standing::Gone) && !has_left(identity);
        let (before, after) = (counts(&before), counts(&after));
        let names: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
        let says = |identity: &Identity| {
            let name = name(identity, &names);
            let count = |slots: &Counts| slots.get(identity).copied();
            match (count(&before), count(&after)) {
                (None, Some(now)) => Some(format!("{name} joins and gets {now}")),
                (Some(old), None) => {
                    let why = match standing(identity) {
                        Some(Standing::Gone) if is_lost(identity) => "is gone",
                        Some(Standing::Gone) => "has left",
                        Some(Standing::Leaving) => "leaves",
                        _ => "stands by",
                    };
                    Some(format!("{name} {why} and had {old}"))
                }
                (Some(old), Some(now)) if old != now => {
                    Some(format!("{name} has {now} in place of {old}"))
                }
                _ => None,
            }
        };
        let said: Vec<_> = names.iter().copied().filter_map(says).collect();
        let text = format!(
            "{moved} of {} slots move: {}",
            new.shares().count(),
            said.join(", ")
        );
        let mut owners = old.shares().filter_map(|(_, share)| share.phase.owner());
        Some(Self {
            is_loss: owners.any(is_lost),
            text,
        })
    }
}

/// What an Event says, and who says it.
pub(super) struct Announcement<'a> {
    pub(super) operator: &'a str,
    pub(super) identity: &'a str,
    pub(super) namespace: &'a str,
    /// The name and the UID of the ConfigMap.
    pub(super) object: (&'a str, &'a str),
    pub(super) is_bad: bool,
    pub(super) reason: &'a str,
    pub(super) note: String,
}

/// The Event of one deal. It is one of its own: kube's recorder would count it as the same as the last one,
/// whose note stays.
pub(super) fn event(announced: &Announcement<'_>) -> Event {
    let (now, (object, uid)) = (Timestamp::now(), announced.object);
    let short = |text: &str, most| text.chars().take(most).collect::<String>();
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{}.{:x}", short(object, 200), now.as_nanosecond())),
            namespace: Some(announced.namespace.to_owned()),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(now)),
        action: Some("DealSlots".to_owned()),
        reason: Some(announced.reason.to_owned()),
        note: Some(announced.note.chars().take(LONGEST).collect()),
        type_: Some(
            if announced.is_bad {
                "Warning"
            } else {
                "Normal"
            }
            .to_owned(),
        ),
        regarding: Some(ObjectReference {
            api_version: Some(ConfigMap::api_version(&()).into_owned()),
            kind: Some(ConfigMap::kind(&()).into_owned()),
            name: Some(object.to_owned()),
            namespace: Some(announced.namespace.to_owned()),
            uid: Some(uid.to_owned()),
            ..ObjectReference::default()
        }),
        reporting_controller: Some(label(announced.operator)),
        reporting_instance: Some(short(pod(announced.identity), 128)),
        ..Event::default()
    }
}

type Counts<'a> = BTreeMap<&'a Identity, usize>;

/// The owner of each slot in the end.
fn heirs(assignment: &Assignment) -> Vec<Option<&Identity>> {
    let heirs = assignment.shares().map(|(_, share)| share.phase.heir());
    heirs.collect()
}

fn counts<'a>(heirs: &[Option<&'a Identity>]) -> Counts<'a> {
    let mut counts = Counts::new();
    for heir in heirs.iter().flatten() {
        *counts.entry(*heir).or_default() += 1;
    }
    counts
}

/// The name of the pod. Where a container was started again in its pod, the last part tells which process it is.
fn name<'a>(identity: &'a Identity, all: &BTreeSet<&Identity>) -> Cow<'a, str> {
    let (pod, process) = identity.as_str().rsplit_once('_').unwrap_or_default();
    let is_same = |other: &&&Identity| **other != identity && self::pod(other.as_str()) == pod;
    match all.iter().find(is_same) {
        Some(_) => format!("{pod} (process {})", process.get(..4).unwrap_or(process)).into(),
        None => self::pod(identity.as_str()).into(),
    }
}

/// The name of the pod, without the random part of its identity.
fn pod(identity: &str) -> &str {
    identity.rsplit_once('_').map_or(identity, |(pod, _)| pod)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        shards::{assignment::Phase, deal::next},
        slots::Slots,
    };

    fn member(name: &str, standing: Standing, acted: u64) -> MemberView {
        MemberView {
            identity: format!("{name}_0f").parse().unwrap(),
            standing,
            acted: Some(acted),
            draining: Slots::NONE,
            filling: Slots::NONE,
        }
    }

    /// Deals until nothing is left to do, and returns the news. `stopped` has ended in order.
    fn news(assignment: &mut Assignment, members: &[(&str, Standing)]) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let number = assignment.number();
            let member = |(name, standing): &(&str, Standing)| member(name, *standing, number);
            let members: Vec<_> = members.iter().map(member).collect();
            let Some(new) = next(assignment, &members, None) else {
                return all;
            };
            let has_left = |member: &Identity| pod(member.as_str()) == "stopped";
            let news = News::of(assignment, &new, &members, has_left);
            if let Some(News { is_loss, text }) = news {
                all.push(format!("{}{text}", if is_loss { "!" } else { "" }));
            }
            *assignment = new;
        }
    }

    #[test]
    fn processes_of_one_pod_are_told_apart() {
        let [old, new, other] = ["a_0f12-3", "a_77aa-3", "b_0f12-3"].map(|it| it.parse().unwrap());
        let all = BTreeSet::from([&old, &new, &other]);
        let names = [&old, &new, &other].map(|it| name(it, &all));
        assert_eq!(names, ["a (process 0f12)", "a (process 77aa)", "b"]);
    }

    #[test]
    fn each_move_is_announced_once() {
        use Standing::{Gone, Leaving, Live};
        let mut assignment = Assignment::new(64);
        for (members, expected) in [
            (
                &[("a", Live)][..],
                "64 of 64 slots move: a joins and gets 64",
            ),
            (
                &[("a", Live), ("b", Live)],
                "32 of 64 slots move: a has 32 in place of 64, b joins and gets 32",
            ),
            (
                &[("a", Leaving), ("b", Live)],
                "32 of 64 slots move: a leaves and had 32, b has 64 in place of 32",
            ),
            (
                &[("b", Gone), ("stopped", Live)],
                "!64 of 64 slots move: b is gone and had 64, stopped joins and gets 64",
            ),
            (
                &[("stopped", Gone), ("c", Live)],
                "64 of 64 slots move: c joins and gets 64, stopped has left and had 64",
            ),
        ] {
            assert_eq!(news(&mut assignment, members), [expected]);
        }
        let is_held = |phase: &Phase| matches!(phase, Phase::Held { .. });
        assert_eq!(assignment.slots(is_held), Slots::all());
        assert_eq!(news(&mut assignment, &[("c", Live)]), [""; 0]);
    }
}
