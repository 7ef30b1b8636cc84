//! Hours of a busy queue, in virtual time.

use super::*;

const OBJECTS: usize = 10_000;
const SECOND: Duration = Duration::from_secs(1);
/// The time of a reconcile.
const RUN: Duration = Duration::from_millis(100);

/// What an object does after its reconcile.
#[derive(Clone, Copy)]
enum Then {
    Rest,
    /// It requeues after this time.
    Requeue(Duration),
    /// It fails, and is retried with the default back-off.
    Fail,
    /// Its object, or another one, changes this long after the start of its reconcile.
    Change(Duration, i32),
}

struct World {
    line: Line<usize>,
    now: Instant,
    /// The changes to come, by time.
    changes: BTreeMap<(Instant, usize), i32>,
    /// The running objects, by the time of their ends.
    running: BTreeMap<(Instant, usize), Taken<usize>>,
    failures: HashMap<usize, u32>,
    /// The number of reconciles of each object.
    runs: Vec<u32>,
    longest: Duration,
}

impl World {
    /// Every object is queued as at a start; `first` are queued by changes.
    fn new(first: usize) -> Self {
        let (mut line, now) = (Line::new(), Instant::now());
        for object in 0..OBJECTS {
            line.add(&object, RESYNCED, now);
        }
        for object in 0..first {
            line.add(&object, CHANGED, now);
        }
        Self {
            line,
            now,
            changes: BTreeMap::new(),
            running: BTreeMap::new(),
            failures: HashMap::new(),
            runs: vec![0; OBJECTS],
            longest: Duration::ZERO,
        }
    }

    fn run(mut self, workers: usize, time: Duration, then: impl Fn(usize) -> Then) -> Self {
        let end = self.now + time;
        while self.now < end {
            self.line.advance(self.now);
            while self.running.len() < workers {
                let Some(taken) = self.line.take(self.now) else {
                    break;
                };
                self.longest = self.longest.max(taken.waited);
                let object = taken.object;
                self.runs[object] += 1;
                if let Then::Change(delay, priority) = then(object) {
                    self.changes.insert((self.now + delay, object), priority);
                }
                self.running.insert((self.now + RUN, object), taken);
            }
            let next = [
                self.running.keys().next().map(|(at, _)| *at),
                self.changes.keys().next().map(|(at, _)| *at),
                self.line.next_due(),
            ];
            // Due objects wait for a worker.
            let next = next.into_iter().flatten().filter(|at| *at > self.now);
            self.now = next.min().unwrap_or(end);
            while let Some(first) = self.changes.first_entry() {
                let (at, object) = *first.key();
                if at > self.now {
                    break;
                }
                let priority = first.remove();
                self.line.add(&object, cause(priority, false), self.now);
            }
            while let Some(first) = self.running.first_entry() {
                let (at, object) = *first.key();
                if at > self.now {
                    break;
                }
                let taken = first.remove();
                let delay = match then(object) {
                    Then::Requeue(delay) => Some(delay),
                    Then::Fail => {
                        let failures = self.failures.entry(object).or_default();
                        let delay = Duration::from_millis(5) * 2_u32.pow((*failures).min(18));
                        *failures += 1;
                        Some(delay.min(1000 * SECOND))
                    }
                    Then::Rest | Then::Change(..) => None,
                };
                if let Some(delay) = delay {
                    let again = cause(taken.priority, true);
                    self.line.add_at(&object, self.now + delay, again);
                }
                self.line.done(&object);
            }
        }
        self
    }
}

/// Some objects alone need more than the workers can do. controller-runtime starves the others:
/// kubernetes-sigs/controller-runtime#3157 and #3496.
#[tokio::test]
async fn every_object_is_reconciled_within_five_times_the_time_of_all_in_a_row() {
    let busy = |number: usize, then: Then| {
        move |object: usize| match object < number {
            true => then,
            false => Then::Rest,
        }
    };
    let five_seconds = Then::Requeue(5 * SECOND);
    for (what, changed, workers, busy) in [
        ("60 requeue every 5 s", 0, 1, busy(60, five_seconds)),
        ("60 changed, and requeue", 60, 1, busy(60, five_seconds)),
        ("2,000 fail", 0, 1, busy(2000, Then::Fail)),
        ("2,000 changed, and fail", 2000, 1, busy(2000, Then::Fail)),
        (
            "60 change every 5 s",
            60,
            1,
            busy(60, Then::Change(5 * SECOND, 0)),
        ),
        (
            "60 change while they run",
            60,
            1,
            busy(60, Then::Change(RUN / 2, 0)),
        ),
        (
            "60 change with a high priority",
            60,
            1,
            busy(60, Then::Change(SECOND, 7)),
        ),
        (
            "200 requeue, three workers",
            200,
            3,
            busy(200, five_seconds),
        ),
    ] {
        let in_a_row = RUN * u32::try_from(OBJECTS / workers + 1).unwrap();
        let world = World::new(changed).run(workers, 2 * 3600 * SECOND, busy);
        let never = world.runs.iter().filter(|runs| **runs == 0).count();
        assert_eq!(never, 0, "{what}: never reconciled");
        let bound = in_a_row * (PASSES + 1);
        let longest = world.longest;
        assert!(
            longest <= bound,
            "{what}: one waited for {longest:?}, not {bound:?}"
        );
    }
}

/// What waits holds up nothing: an object that changes during the start waits for few others.
#[tokio::test]
async fn a_change_during_the_start_is_seen_at_once() {
    let mut world = World::new(0).run(1, 60 * SECOND, |_| Then::Rest);
    let now = world.now;
    world.line.add(&(OBJECTS - 1), CHANGED, now);
    let world = world.run(1, 2 * RUN, |_| Then::Rest);
    assert_eq!(world.runs[OBJECTS - 1], 1);
}
