mod simulation;

use std::collections::BTreeSet;

use super::*;

const CHANGED: Cause = cause(0, false);
const URGENT: Cause = cause(0, true);
const RESYNCED: Cause = cause(LOW_PRIORITY, true);

const fn cause(priority: i32, urgent: bool) -> Cause {
    Cause { priority, urgent }
}

fn line() -> (Line<&'static str>, Instant) {
    (Line::new(), Instant::now())
}

fn take(line: &mut Line<&'static str>, now: Instant) -> Option<&'static str> {
    line.advance(now);
    line.take(now).map(|taken| taken.object)
}

#[tokio::test]
async fn first_in_first_out_each_once() {
    let (mut line, now) = line();
    assert!(line.add(&"a", CHANGED, now));
    assert!(line.add(&"b", CHANGED, now));
    assert!(!line.add(&"a", CHANGED, now));
    assert_eq!(take(&mut line, now), Some("a"));
    assert_eq!(take(&mut line, now), Some("b"));
    assert_eq!(take(&mut line, now), None);
}

#[tokio::test]
async fn an_object_that_changes_while_it_runs_runs_again_afterwards() {
    let (mut line, now) = line();
    line.add(&"a", CHANGED, now);
    assert_eq!(take(&mut line, now), Some("a"));
    line.add(&"a", CHANGED, now);
    line.add(&"b", CHANGED, now);
    assert_eq!(take(&mut line, now), Some("b"));
    assert_eq!(take(&mut line, now), None);
    line.done(&"a");
    assert_eq!(take(&mut line, now), Some("a"));
    line.done(&"a");
    line.done(&"b");
    assert_eq!(take(&mut line, now), None);
    assert!(line.objects.is_empty(), "nothing is kept of what is done");
}

#[tokio::test]
async fn the_earliest_time_counts_and_a_run_forgets_it() {
    let (mut line, now) = line();
    let second = Duration::from_secs(1);
    line.add_at(&"a", now + 3 * second, URGENT);
    line.add_at(&"a", now + 2 * second, URGENT);
    line.add_at(&"a", now + 4 * second, URGENT);
    assert_eq!(line.next_due(), Some(now + 2 * second));
    assert_eq!(take(&mut line, now + second), None);
    assert_eq!(take(&mut line, now + 2 * second), Some("a"));
    line.add_at(&"a", now + 9 * second, URGENT);
    line.add(&"a", CHANGED, now);
    line.done(&"a");
    assert_eq!(take(&mut line, now + 2 * second), Some("a"));
    assert_eq!(line.next_due(), None);
}

#[tokio::test]
async fn an_object_that_always_changes_delays_the_others_by_one_run() {
    let (mut line, now) = line();
    line.add(&"busy", CHANGED, now);
    line.add(&"a", CHANGED, now);
    line.add(&"b", CHANGED, now);
    let mut runs = Vec::new();
    for _ in 0..6 {
        let object = take(&mut line, now).unwrap();
        line.add(&"busy", CHANGED, now);
        line.done(&object);
        runs.push(object);
    }
    assert_eq!(runs, ["busy", "a", "b", "busy", "busy", "busy"]);
}

#[tokio::test]
async fn changed_objects_come_before_resynced_ones() {
    let (mut line, now) = line();
    for object in ["a", "b", "c", "d"] {
        assert!(line.add(&object, RESYNCED, now));
    }
    // A queued object, and a new one.
    assert!(!line.add(&"c", CHANGED, now));
    assert!(line.add(&"e", CHANGED, now));
    assert!(!line.add(&"e", RESYNCED, now));
    assert_eq!(line.depths().collect::<Vec<_>>(), [(-100, 3), (0, 2)]);
    let mut order = Vec::new();
    while let Some(object) = take(&mut line, now) {
        order.push(object);
        // An object that changes while it runs does not wait for the others, either.
        if order == ["c", "e", "a"] {
            line.add(&"a", RESYNCED, now);
            line.add(&"a", CHANGED, now);
        }
        line.done(&object);
    }
    assert_eq!(order, ["c", "e", "a", "a", "b", "d"]);
    assert_eq!((line.depths().count(), line.objects.len()), (0, 0));
    line.add(&"a", RESYNCED, now);
    assert!(line.take(now).unwrap().urgent, "a resync is a reason");
}

#[tokio::test]
async fn the_longest_waiting_object_is_passed_by_four_others() {
    let (mut line, now) = line();
    for object in ["a", "b"] {
        line.add(&object, RESYNCED, now);
    }
    let mut order = Vec::new();
    for _ in 0..12 {
        line.add(&"busy", CHANGED, now);
        line.add(&"busier", cause(1, false), now);
        let object = take(&mut line, now).unwrap();
        line.done(&object);
        order.push(object);
    }
    let passes = ["busier"; PASSES as usize];
    let expected = [&passes[..], &["a"], &passes, &["b"], &passes[..2]];
    assert_eq!(order, expected.concat());
}

#[tokio::test]
async fn the_highest_priority_of_an_object_counts() {
    let (mut line, now) = line();
    let later = now + Duration::from_secs(1);
    let mut taken = |adds: &[i32], delay: Option<i32>| {
        let cause = |priority: i32| cause(priority, true);
        adds.iter()
            .for_each(|priority| _ = line.add(&"a", cause(*priority), now));
        delay.inspect(|priority| line.add_at(&"a", later, cause(*priority)));
        let taken = line.take(now).unwrap();
        line.done(&"a");
        taken.priority
    };
    assert_eq!(taken(&[-100], None), -100);
    assert_eq!(taken(&[-100, 7, 0], None), 7);
    assert_eq!(taken(&[-100], Some(7)), 7, "a resync before the retry");
    assert_eq!(taken(&[-100], None), -100, "nothing is kept");
}

#[tokio::test]
async fn an_object_queued_for_another_reason_is_urgent() {
    let (mut line, now) = line();
    let mut urgent = |adds: &[bool]| {
        adds.iter()
            .for_each(|urgent| _ = line.add(&"a", cause(0, *urgent), now));
        let taken = line.take(now).unwrap();
        line.done(&"a");
        taken.urgent
    };
    assert!(!urgent(&[false, false]));
    assert!(urgent(&[false, true, false]));
    assert!(!urgent(&[false]), "it was urgent before");
    line.add_at(&"a", now, URGENT);
    line.advance(now);
    assert!(line.take(now).unwrap().urgent, "its time has come");
    line.done(&"a");
    line.add_at(&"a", now, CHANGED);
    line.advance(now);
    assert!(!line.take(now).unwrap().urgent, "it is only looked at");
}

/// Random changes, failures and delays: each object ends at its newest version, and no object runs twice at
/// once.
#[tokio::test]
async fn every_object_ends_at_its_newest_version() {
    for seed in 0..300 {
        let random = fastrand::Rng::with_seed(seed);
        model(random);
    }
}

fn model(mut random: fastrand::Rng) {
    const OBJECTS: usize = 6;
    let mut line: Line<usize> = Line::new();
    let mut now = Instant::now();
    let mut newest = [0_u32; OBJECTS];
    let mut reconciled = [0_u32; OBJECTS];
    let mut running: BTreeSet<(usize, u32)> = BTreeSet::new();
    let mut steps = 0;
    loop {
        let quiet = steps >= 400;
        match random.u8(0..if quiet { 6 } else { 10 }) {
            0..3 if running.len() < 3 => {
                line.advance(now);
                if let Some(Taken { object, .. }) = line.take(now) {
                    let seen = newest[object];
                    assert!(
                        running.iter().all(|(other, _)| *other != object),
                        "{object} runs twice"
                    );
                    running.insert((object, seen));
                }
            }
            0..5 => {
                if let Some((object, seen)) = running.pop_first() {
                    if !quiet && random.bool() {
                        line.add_at(
                            &object,
                            now + Duration::from_millis(random.u64(0..50)),
                            URGENT,
                        );
                    } else {
                        reconciled[object] = seen;
                    }
                    line.done(&object);
                }
            }
            5 => now += Duration::from_millis(random.u64(0..20)),
            6 => _ = line.add(&random.usize(0..OBJECTS), RESYNCED, now),
            _ => {
                let object = random.usize(0..OBJECTS);
                newest[object] += 1;
                line.add(&object, CHANGED, now);
            }
        }
        steps += 1;
        if quiet && running.is_empty() && line.objects.is_empty() {
            break;
        }
        assert!(steps < 20_000, "something is never reconciled");
    }
    assert_eq!(reconciled, newest);
}
