use super::*;

/// A member that has done all that any assignment could ask.
fn view(name: &str) -> MemberView {
    MemberView {
        identity: name.parse().unwrap(),
        standing: Standing::Live,
        acted: Some(1),
        draining: Slots::NONE,
        filling: Slots::NONE,
    }
}

fn views(names: &str) -> Vec<MemberView> {
    names.split_whitespace().map(view).collect()
}

/// Makes the members act on each assignment at once, until nothing is left to do. Returns the texts of `owners`,
/// in one line each.
fn deal(
    assignment: &mut Assignment,
    members: &mut [MemberView],
    limit: Option<usize>,
) -> Vec<String> {
    let mut steps = Vec::new();
    while let Some(next) = next(assignment, members, limit) {
        assert_eq!(next.number(), assignment.number() + 1);
        *assignment = next;
        steps.push(text(assignment));
        assert!(steps.len() < 100, "no end: {steps:#?}");
        for member in &mut *members {
            if member.standing != Standing::Gone {
                member.acted = Some(assignment.number());
            }
        }
    }
    steps
}

fn text(assignment: &Assignment) -> String {
    assignment.write(Some("uid"))["owners"]
        .trim_end()
        .replace('\n', "; ")
}

/// An assignment of `count` slots that these members hold evenly.
fn dealt(count: u8, members: &mut [MemberView]) -> Assignment {
    let mut assignment = Assignment::new(count);
    deal(&mut assignment, members, None);
    assignment
}

/// How many slots each member has.
fn loads(assignment: &Assignment) -> BTreeMap<String, usize> {
    let mut loads = BTreeMap::new();
    for (_, share) in assignment.shares() {
        let heir = share.phase.heir().map_or("free", Identity::as_str);
        *loads.entry(heir.to_owned()).or_default() += 1;
    }
    loads
}

#[test]
fn a_new_object_waits_for_all_members() {
    let new = Assignment::new(4);
    assert_eq!(next(&new, &[], None), None);
    let mut members = views("a b");
    let expected = "a: 0-1@1; b: 2-3@1";
    assert_eq!(text(&next(&new, &members, None).unwrap()), expected);
    // Another member, which may serve slots under the object before.
    for standing in [Standing::Live, Standing::Leaving, Standing::Absent] {
        members.push(MemberView {
            standing,
            acted: None,
            ..view("c")
        });
        assert_eq!(next(&new, &members, None), None, "{standing:?}");
        members.pop();
    }
    // It has acted, and has not stopped one slot yet.
    members.push(MemberView {
        standing: Standing::Leaving,
        draining: "1".parse().unwrap(),
        ..view("c")
    });
    let expected = "a: 0,2@1; b: 3@1; (free): 1@0";
    assert_eq!(text(&next(&new, &members, None).unwrap()), expected);
    members[2] = MemberView {
        standing: Standing::Gone,
        acted: None,
        ..view("c")
    };
    assert!(next(&new, &members, None).is_some());
}

#[test]
fn a_slot_moves_in_steps() {
    let mut members = views("a");
    let first = dealt(2, &mut members);
    assert_eq!(text(&first), "a: 0-1@1");
    members.push(view("b"));
    let filling = next(&first, &members, None).unwrap();
    assert_eq!(text(&filling), "a: 0@1; a -> b, filling since 3: 1@1");
    // Not yet: the new owner knows nothing of it, or still fills.
    members[0].acted = Some(3);
    assert_eq!(next(&filling, &members, None), None);
    members[1].acted = Some(3);
    members[1].filling = "1".parse().unwrap();
    assert_eq!(next(&filling, &members, None), None);
    members[1].filling = Slots::NONE;
    let moving = next(&filling, &members, None).unwrap();
    assert_eq!(text(&moving), "a: 0@1; a -> b, moving since 4: 1@1");
    // Not yet: the owner knows nothing of it, or still stops.
    assert_eq!(next(&moving, &members, None), None);
    members[0].acted = Some(4);
    members[0].draining = "1".parse().unwrap();
    assert_eq!(next(&moving, &members, None), None);
    members[0].draining = Slots::NONE;
    let held = next(&moving, &members, None).unwrap();
    assert_eq!(text(&held), "a: 0@1; b: 1@2");
    assert_eq!(next(&held, &members, None), None);
    // The numbers of an old text mean something else.
    assert!(!was_turned_back(&moving, &members) && was_turned_back(&filling, &members));
}

#[test]
fn members_that_end_in_the_middle() {
    let start = || {
        let mut members = views("a");
        let first = dealt(1, &mut members);
        members.extend([view("b"), view("c")]);
        members[0].standing = Standing::Leaving;
        let filling = next(&first, &members, None).unwrap();
        assert_eq!(text(&filling), "a -> b, filling since 3: 0@1");
        members[1].acted = Some(3);
        let moving = next(&filling, &members, None).unwrap();
        assert_eq!(text(&moving), "a -> b, moving since 4: 0@1");
        (filling, moving, members)
    };
    let after = |assignment: &Assignment, members: &[MemberView]| {
        next(assignment, members, None).map_or_else(String::new, |next| text(&next))
    };
    // The owner.
    let (filling, moving, mut members) = start();
    members[0].standing = Standing::Gone;
    assert_eq!(after(&filling, &members), "b: 0@2");
    assert_eq!(after(&moving, &members), "b: 0@2");
    // An owner that is absent may still write.
    members[0].standing = Standing::Absent;
    assert_eq!(after(&moving, &members), "");
    // The next owner, or both.
    for standing in [Standing::Leaving, Standing::Absent, Standing::Gone] {
        let (filling, moving, mut members) = start();
        members[1].standing = standing;
        assert_eq!(after(&filling, &members), "a -> c, filling since 4: 0@1");
        assert_eq!(after(&moving, &members), "a -> c, moving since 4: 0@1");
        members[0].standing = Standing::Gone;
        assert_eq!(after(&filling, &members), "c: 0@2");
        assert_eq!(after(&moving, &members), "c: 0@2");
        // All.
        members[2].standing = Standing::Gone;
        assert_eq!(after(&moving, &members), "");
    }
    // Nobody is left but the owner, which has to stop before it gets the slot again.
    let (_, mut moving, mut members) = start();
    members.truncate(2);
    members[0].standing = Standing::Live;
    members[1].standing = Standing::Gone;
    let steps = deal(&mut moving, &mut members, None);
    assert_eq!(steps, ["a -> a, moving since 4: 0@1", "a: 0@2"]);
}

#[test]
fn who_is_unknown_or_has_not_acted() {
    let mut members = views("a");
    let first = dealt(2, &mut members);
    // The owner is not among the members: it keeps its slots.
    assert_eq!(next(&first, &views("b"), None), None);
    // A member that joins gets nothing before it has acted on this object, whatever the reason.
    let mut joins = view("b");
    joins.acted = None;
    let mut members = [view("a"), joins];
    assert_eq!(next(&first, &members, None), None);
    members[0].standing = Standing::Gone;
    assert_eq!(next(&first, &members, None), None);
    members[1].acted = Some(1);
    assert_eq!(text(&next(&first, &members, None).unwrap()), "b: 0-1@2");
}

#[test]
fn one_owner_at_a_time_and_first_who_leaves() {
    let mut members = views("a b");
    let mut assignment = dealt(8, &mut members);
    assert_eq!(text(&assignment), "a: 0-3@1; b: 4-7@1");
    members.extend([view("c"), view("d")]);
    let steps = deal(&mut assignment, &mut members, None);
    assert_eq!(
        steps,
        [
            "a: 0-1@1; b: 4-7@1; a -> c, filling since 3: 2-3@1",
            "a: 0-1@1; b: 4-7@1; a -> c, moving since 4: 2-3@1",
            "a: 0-1@1; b: 4-5@1; c: 2-3@2; b -> d, filling since 5: 6-7@1",
            "a: 0-1@1; b: 4-5@1; c: 2-3@2; b -> d, moving since 6: 6-7@1",
            "a: 0-1@1; b: 4-5@1; c: 2-3@2; d: 6-7@2",
        ]
    );
    // A rolling update: one joins, one leaves.
    members.push(view("e"));
    members[3].standing = Standing::Leaving;
    let steps = deal(&mut assignment, &mut members, None);
    let expected = "a: 0-1@1; b: 4-5@1; c: 2-3@2; e: 6-7@3";
    assert_eq!(
        (steps.len(), steps.last().map(String::as_str)),
        (3, Some(expected))
    );
    // The last one that leaves keeps its slots.
    for member in &mut members {
        member.standing = Standing::Leaving;
    }
    assert_eq!(next(&assignment, &members, None), None);
}

#[test]
fn at_most_so_many_members() {
    let mut members = views("a b c");
    let mut assignment = Assignment::new(6);
    deal(&mut assignment, &mut members, Some(2));
    assert_eq!(text(&assignment), "a: 0-2@1; b: 3-5@1");
    // One stands by, and takes over; a fourth one does not push it away.
    members[0].standing = Standing::Gone;
    members.insert(0, view("A"));
    deal(&mut assignment, &mut members, Some(2));
    assert_eq!(text(&assignment), "A: 0-2@2; b: 3-5@1");
    // More, and fewer.
    deal(&mut assignment, &mut members, Some(3));
    assert_eq!(loads(&assignment).len(), 3);
    deal(&mut assignment, &mut members, Some(1));
    assert_eq!(loads(&assignment), BTreeMap::from([("A".to_owned(), 6)]));
}

#[test]
fn fewest_slots_move() {
    for count in [1, 2, 3, 5, 8, 13, 64] {
        for size in 1..=9 {
            let mut members: Vec<_> = (0..size).map(|n| view(&format!("m{n}"))).collect();
            let assignment = dealt(count, &mut members);
            let even = |assignment: &Assignment, size: usize| {
                let (least, most) = (usize::from(count) / size, usize::from(count).div_ceil(size));
                let loads = loads(assignment);
                assert!(
                    loads.values().all(|load| (least..=most).contains(load)),
                    "{loads:?}"
                );
                assert_eq!(loads.values().sum::<usize>(), usize::from(count));
            };
            let moved = |after: &Assignment| {
                let pairs = assignment.shares().zip(after.shares());
                pairs.filter(|((_, a), (_, b))| a.epoch != b.epoch).count()
            };
            even(&assignment, size);
            // One joins: it gets its share, and nobody else gets anything.
            let mut joined = assignment.clone();
            let mut more = members.clone();
            more.push(view("new"));
            deal(&mut joined, &mut more, None);
            even(&joined, size + 1);
            let own = loads(&joined).get("new").copied().unwrap_or_default();
            assert_eq!(moved(&joined), own, "{count} {size}");
            // One leaves, or is gone: only its share moves.
            for standing in [Standing::Leaving, Standing::Gone] {
                for index in 0..size {
                    if size == 1 {
                        continue;
                    }
                    let mut fewer = members.clone();
                    fewer[index].standing = standing;
                    let own = assignment.owned_by(&fewer[index].identity);
                    let mut left = assignment.clone();
                    let steps = deal(&mut left, &mut fewer, None);
                    even(&left, size - 1);
                    assert_eq!(moved(&left), own.len(), "{count} {size}");
                    let most = if standing == Standing::Gone { 1 } else { 3 };
                    assert!(steps.len() <= most, "{steps:?}");
                }
            }
        }
    }
}

/// From any assignment that can be written, whoever lives, comes and goes: the end is even, and nothing that a
/// live member would have kept anyway goes to another.
#[test]
fn any_history_ends_evenly() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..300 {
        let count = [4, 7, 64][random.usize(..3)];
        let limit = [None, Some(2), Some(3)][random.usize(..3)];
        let mut members = views("m0 m1");
        let mut assignment = dealt(count, &mut members);
        for name in 2..12 {
            match random.usize(..6) {
                0 | 1 => members.push(MemberView {
                    acted: Some(assignment.number()),
                    ..view(&format!("m{name}"))
                }),
                kind => {
                    let index = random.usize(..members.len());
                    let standings = [Standing::Leaving, Standing::Absent, Standing::Gone];
                    let standing = &mut members[index].standing;
                    *standing = (*standing).max(standings[kind % 3]);
                }
            }
            // Some steps only, in which some members say nothing.
            for _ in 0..random.usize(..4) {
                let Some(next) = next(&assignment, &members, limit) else {
                    break;
                };
                for ((slot, before), (_, after)) in assignment.shares().zip(next.shares()) {
                    let same = before.phase.owner() == after.phase.owner();
                    assert!(
                        same && before.epoch == after.epoch || before.epoch + 1 == after.epoch,
                        "{slot}"
                    );
                }
                let owners = |is: fn(&Phase) -> bool| {
                    let shares = next.shares().filter(|(_, share)| is(&share.phase));
                    let owners = shares.filter_map(|(_, share)| share.phase.owner());
                    owners.cloned().collect::<std::collections::BTreeSet<_>>()
                };
                let moving = owners(|phase| phase.to().is_some());
                let live = moving.iter().filter(|owner| {
                    let member = members.iter().find(|member| member.identity == **owner);
                    member.is_some_and(|member| member.standing <= Standing::Leaving)
                });
                assert!(live.count() <= 1, "{}", text(&next));
                assignment = next;
                for member in &mut members {
                    if member.standing <= Standing::Leaving && random.bool() {
                        member.acted = Some(assignment.number());
                    }
                }
            }
        }
        members.push(view("last"));
        for member in &mut members {
            member.acted = Some(assignment.number());
            if member.standing == Standing::Absent {
                member.standing = Standing::Gone;
            }
        }
        deal(&mut assignment, &mut members, limit);
        let live = members
            .iter()
            .filter(|member| member.standing == Standing::Live)
            .count();
        let size = live.min(limit.unwrap_or(usize::MAX));
        let loads = loads(&assignment);
        let (least, most) = (usize::from(count) / size, usize::from(count).div_ceil(size));
        assert!(
            loads.values().all(|load| (least..=most).contains(load)),
            "{loads:?}"
        );
        assert_eq!(loads.len(), size.min(count.into()));
        assert_eq!(
            assignment
                .slots(|phase| matches!(phase, Phase::Held { .. }))
                .len(),
            usize::from(count)
        );
    }
}
