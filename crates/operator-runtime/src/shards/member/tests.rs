use super::*;
use crate::shards::assignment::Share;

fn name(text: &str) -> Identity {
    text.parse().unwrap()
}

fn slot(number: u8) -> Slot {
    Slot::new(number).unwrap()
}

/// One assignment of two slots a line, from number 2 on: each slot as `EPOCH PHASE`.
fn assignments(lines: &[[&str; 2]]) -> Vec<Assignment> {
    let mut last = Assignment::new(2);
    let mut all = Vec::new();
    for line in lines {
        let share = |text: &str| {
            let (epoch, phase) = text.split_once(' ').unwrap();
            Share {
                epoch: epoch.parse().unwrap(),
                phase: phase.parse::<Phase>().unwrap(),
            }
        };
        last = last.next(line.iter().map(|text| share(text)).collect());
        all.push(last.clone());
    }
    all
}

fn see(member: &mut Member, assignment: &Assignment) -> String {
    changes(member.see("uid", assignment).unwrap())
}

fn changes(Changes { start, drain }: Changes) -> String {
    let all = |kind, slots: Vec<(Slot, u64)>| {
        slots
            .into_iter()
            .map(move |(slot, epoch)| format!("{kind}{slot}@{epoch}"))
    };
    all('+', start)
        .chain(all('-', drain))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_hand_over_as_its_two_members_see_it() {
    let all = assignments(&[
        ["1 a", "1 a"],
        ["1 a", "1 a -> b, filling since 3"],
        ["1 a", "1 a -> b, moving since 4"],
        ["1 a", "2 b"],
    ]);
    let [mut a, mut b] = ["a", "b"].map(|text| Member::new(name(text)));
    assert_eq!(
        a.notes().to_string(),
        "acted-on= draining= filling= leaving=false"
    );
    assert_eq!(see(&mut a, &all[0]), "+0@1 +1@1");
    assert_eq!(see(&mut b, &all[0]), "");
    assert_eq!(
        a.notes().to_string(),
        "acted-on=uid/2 draining= filling= leaving=false"
    );
    // The owner still serves; the next one fills its cache.
    assert_eq!(see(&mut a, &all[1]), "");
    assert_eq!(see(&mut b, &all[1]), "");
    assert_eq!(
        b.notes().to_string(),
        "acted-on=uid/3 draining= filling=1 leaving=false"
    );
    assert_eq!(b.cached().to_string(), "1");
    b.filled(slot(0));
    b.filled(slot(1));
    assert_eq!(
        b.notes().to_string(),
        "acted-on=uid/3 draining= filling= leaving=false"
    );
    assert_eq!(
        (b.coming().to_string(), b.resting()),
        ("1".to_owned(), Slots::NONE)
    );
    // The owner stops.
    assert_eq!(see(&mut a, &all[2]), "-1@1");
    let mut other = b.clone();
    assert_eq!(see(&mut other, &all[2]), "");
    assert_eq!(other.resting().to_string(), "1");
    assert_eq!((a.holds(slot(0)), a.holds(slot(1))), (Some(1), None));
    assert_eq!(
        a.notes().to_string(),
        "acted-on=uid/4 draining=1 filling= leaving=false"
    );
    assert_eq!(a.cached().to_string(), "0-1");
    assert_eq!(changes(a.drained(slot(1))), "");
    assert_eq!(
        a.notes().to_string(),
        "acted-on=uid/4 draining= filling= leaving=false"
    );
    assert_eq!(a.cached().to_string(), "0");
    // The next one starts. It has skipped a number.
    assert_eq!(see(&mut b, &all[3]), "+1@2");
    assert_eq!(b.held().collect::<Vec<_>>(), [(slot(1), 2)]);
    // Old news.
    assert_eq!(see(&mut b, &all[0]), "");
    assert_eq!(see(&mut b, &all[3]), "");
    assert_eq!(b.notes().acted_on("uid"), Some(5));
}

#[test]
fn a_slot_that_comes_back_waits_until_it_has_stopped() {
    let all = assignments(&[["1 a", "1 a"], ["2 b", "1 a"], ["3 a", "1 a"]]);
    let mut a = Member::new(name("a"));
    assert_eq!(see(&mut a, &all[0]), "+0@1 +1@1");
    assert_eq!(see(&mut a, &all[1]), "-0@1");
    assert_eq!(see(&mut a, &all[2]), "");
    assert_eq!(a.holds(slot(0)), None);
    assert_eq!(changes(a.drained(slot(0))), "+0@3");
    // It never heard of the owner in between.
    let mut a = Member::new(name("a"));
    assert_eq!(see(&mut a, &all[0]), "+0@1 +1@1");
    assert_eq!(see(&mut a, &all[2]), "-0@1");
    assert_eq!(changes(a.drained(slot(0))), "+0@3");
}

#[test]
fn another_object() {
    let all = assignments(&[["1 a", "1 a"], ["1 b", "1 a"]]);
    let mut a = Member::new(name("a"));
    assert_eq!(see(&mut a, &all[0]), "+0@1 +1@1");
    // Even a slot that it gets there stops first.
    assert_eq!(changes(a.see("new", &all[1]).unwrap()), "-0@1 -1@1");
    assert_eq!(
        a.notes().to_string(),
        "acted-on=new/3 draining=0-1 filling= leaving=false"
    );
    assert_eq!(changes(a.drained(slot(0))), "");
    assert_eq!(changes(a.drained(slot(1))), "+1@1");
    // There is no way back.
    let before = a.clone();
    assert_eq!(a.see("uid", &all[1]), Err(Backwards));
    assert_eq!(a, before);
}

#[test]
fn leaving() {
    let all = assignments(&[
        ["1 a", "1 b"],
        ["1 a -> b, moving since 3", "1 b"],
        ["2 b", "1 b"],
    ]);
    let mut a = Member::new(name("a"));
    let mut idle = a.clone();
    idle.leave();
    assert!(idle.is_done());
    assert_eq!(see(&mut a, &all[0]), "+0@1");
    a.leave();
    assert_eq!(
        a.notes().to_string(),
        "acted-on=uid/2 draining= filling= leaving=true"
    );
    assert!(!a.is_done());
    let mut hasty = a.clone();
    assert_eq!(see(&mut a, &all[1]), "-0@1");
    assert_eq!(changes(a.drained(slot(0))), "");
    assert!(!a.is_done());
    assert_eq!(see(&mut a, &all[2]), "");
    assert!(a.is_done());
    // Without waiting for others.
    assert_eq!(changes(hasty.give_up()), "-0@1");
    assert!(!hasty.is_done());
    assert_eq!(changes(hasty.drained(slot(0))), "");
    assert!(hasty.is_done());
}
