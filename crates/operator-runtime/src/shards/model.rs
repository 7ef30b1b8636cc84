//! Explores the protocol exhaustively: every order of steps, delays, losses and faults, within bounds.
//!
//! The members are the production [`Member`](super::member::Member), and each write of the assignment comes from
//! the production [`next`](super::deal::next). The world around them is as bad as it may be:
//!
//! - A member may be shown any assignment that was ever written, or none, at any time.
//! - Any number of dealers write whenever they can. What a dealer knows of a member is what was true at any time
//!   since the object was made, for each member another time. That covers all delays between a member and its
//!   Lease, and between the Lease and a dealer, and two processes that both take themselves for the leader.
//! - Members join, leave, give up; the permit of a member ends at any time, and at any time after that, its
//!   Lease is deleted. The object is deleted, and made anew.
//!
//! Time does not occur: only the simulation has clocks.

mod explore;
mod recovery;
mod state;
mod steps;

use explore::{Explored, explore};
use state::{Left, State};

/// Where the exploration ends.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// The highest number of an assignment.
    number: u64,
    /// Each of so many states is checked for recovery.
    sample: usize,
}

/// The guarantees of the world, which a test can drop.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// The API server refuses a write on top of anything but the last one.
    compares_versions: bool,
    /// A dealer believes only what a member has said about its slots.
    waits_for_owners: bool,
    /// A dealer deals a new object only when it knows that all members have acted on it.
    waits_for_members: bool,
    /// A dealer lists the members after it has seen a new object.
    lists_members: bool,
    /// No member is found gone before its permit is over.
    waits_for_permits: bool,
}

const REAL: Rules = Rules {
    compares_versions: true,
    waits_for_owners: true,
    waits_for_members: true,
    lists_members: true,
    waits_for_permits: true,
};

/// A world to start from: slots, members that run, members that may join, faults, and writes by a dealer that does
/// not know all; and the highest number of an assignment.
type World = (u8, usize, usize, u8, u8, u64);

/// What a test explores each time.
const WORLDS: [World; 6] = [
    (1, 2, 0, 1, Left::ANY, 6),
    (1, 2, 1, 1, 1, 6),
    (2, 2, 0, 2, 0, 7),
    (2, 2, 0, 1, 1, 7),
    (2, 1, 1, 1, 0, 7),
    (2, 2, 1, 1, 0, 7),
];

/// What takes minutes.
const WIDE: [World; 9] = [
    (1, 2, 0, 2, 2, 6),
    (1, 2, 1, 1, 2, 6),
    (2, 2, 0, 3, 0, 7),
    (2, 1, 1, 2, 0, 7),
    (2, 1, 1, 1, 1, 7),
    (2, 2, 0, 1, 2, 7),
    (2, 2, 1, 1, 1, 6),
    (3, 2, 0, 1, 1, 6),
    (3, 2, 1, 1, 0, 7),
];

fn run(world: World, rules: Rules, sample: usize) -> Result<Explored, String> {
    let (slots, running, unborn, faults, stale, number) = world;
    let first = State::new(slots, running, unborn, Left { faults, stale });
    explore(first, rules, Bounds { number, sample })
}

fn run_all(worlds: &[World], sample: usize) {
    let mut total = Explored::default();
    for world in worlds {
        let explored = run(*world, REAL, sample).unwrap();
        println!("{world:?}: {explored:?}");
        total.add(&explored);
    }
    println!("{total:?}");
    // Each kind of step must occur for the test to mean anything.
    assert!(total.kinds.iter().all(|count| *count > 0), "{total:?}");
}

#[test]
fn no_history_breaks_an_invariant() {
    run_all(&WORLDS, 20);
}

#[test]
#[ignore = "takes minutes"]
fn no_longer_history_breaks_an_invariant() {
    run_all(&WIDE, 50);
}

#[test]
fn the_model_notices_dropped_guarantees() {
    let worse = [
        (
            (1, 2, 0, 1, 0, 6),
            Rules {
                compares_versions: false,
                ..REAL
            },
        ),
        (
            (1, 2, 0, 1, 0, 6),
            Rules {
                waits_for_owners: false,
                ..REAL
            },
        ),
        (
            (1, 2, 0, 2, 0, 6),
            Rules {
                waits_for_members: false,
                ..REAL
            },
        ),
        (
            (2, 1, 1, 1, 1, 6),
            Rules {
                lists_members: false,
                ..REAL
            },
        ),
        (
            (1, 2, 0, 0, 1, 6),
            Rules {
                waits_for_permits: false,
                ..REAL
            },
        ),
    ];
    for (world, rules) in worse {
        let error = run(world, rules, usize::MAX).unwrap_err();
        println!("{rules:?}: {error}");
        assert!(error.contains("serve slot"), "{error}");
    }
}
