//! Simulates random histories in virtual time: processes with their own clocks, an API server with Leases and the
//! object of the assignment, and faults of processes, clocks and network.
//!
//! All that decides is production code: the [`Elector`](crate::leader::elector::Elector) of the leader and of each
//! member, the [`Fence`](crate::client::fence::Fence) of each slot, the member, its roll, and the dealer.

mod chores;
mod process;
mod server;
mod trouble;
mod world;

use world::World;

/// What a test runs each time.
const SCHEDULES: u64 = 250;

/// The guarantees of the simulated world, which a test can drop.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// A slot has stopped only when each of its requests was answered, or can no longer arrive.
    waits_for_answers: bool,
    /// A connection checks the fence again before it writes.
    checks_connections: bool,
}

const REAL: Rules = Rules {
    waits_for_answers: true,
    checks_connections: true,
};

/// The events of a history.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    started: u64,
    drained: u64,
    lost: u64,
    released: u64,
    expired: u64,
    objects: u64,
    written: u64,
    refused: u64,
    /// The longest time without service after the trouble, in milliseconds.
    unserved: u64,
}

/// Runs the histories of these seeds. The error gives the seed, the time, and the violation.
fn run(seeds: std::ops::Range<u64>, rules: Rules) -> Result<Summary, String> {
    let mut total = Summary::default();
    for seed in seeds {
        let one = World::new(seed, rules)
            .run()
            .map_err(|error| format!("seed {seed}: {error}"))?;
        total.started += one.started;
        total.drained += one.drained;
        total.lost += one.lost;
        total.released += one.released;
        total.expired += one.expired;
        total.objects += one.objects;
        total.written += one.written;
        total.refused += one.refused;
        total.unserved = total.unserved.max(one.unserved);
    }
    Ok(total)
}

fn check(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let total = run(seeds, REAL).unwrap();
    println!("{count} schedules: {total:?}");
    // Each event must occur for the test to mean anything.
    let Summary {
        started,
        drained,
        lost,
        released,
        expired,
        objects,
        written,
        refused,
        unserved: _,
    } = total;
    assert!(started > 10 * count && drained > 3 * count, "{total:?}");
    assert!(
        lost > count / 2 && released > count / 4 && expired > count / 2,
        "{total:?}"
    );
    assert!(
        objects > count && written > 50 * count && refused > 0,
        "{total:?}"
    );
}

#[test]
fn only_the_owner_of_a_slot_writes() {
    check(0..SCHEDULES);
}

#[test]
#[ignore = "takes minutes"]
fn only_the_owner_of_a_slot_writes_in_many_histories() {
    check(0..2_000);
}

#[test]
fn the_simulation_notices_dropped_guarantees() {
    let worse = [
        Rules {
            waits_for_answers: false,
            ..REAL
        },
        Rules {
            checks_connections: false,
            ..REAL
        },
    ];
    for rules in worse {
        let error = run(0..2_000, rules).unwrap_err();
        println!("{rules:?}: {error}");
        assert!(!error.contains("nobody serves"), "{error}");
    }
}
