//! Simulates random histories of an election in virtual time: several replicas with their own clocks, an
//! API server with resource versions, and faults of processes, clocks and network.
//!
//! The replicas are the production [`Elector`](super::elector::Elector) and [`Fence`](crate::fence::Fence).
//! that run in a cluster.

mod replica;
mod server;
mod trouble;
mod world;

use world::World;

const SCHEDULES: u64 = 2_000;

/// The guarantees of the simulated world, which a test can drop.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// The API server refuses a write with an outdated resource version.
    compares_versions: bool,
    /// A connection checks the fence again before it writes.
    checks_connections: bool,
}

const REAL: Rules = Rules {
    compares_versions: true,
    checks_connections: true,
};

/// The events of a history.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    elected: u64,
    lost: u64,
    released: u64,
    written: u64,
    refused: u64,
}

/// Runs the histories of these seeds. The error gives the seed, the time, and the violation.
fn run(seeds: std::ops::Range<u64>, rules: Rules) -> Result<Summary, String> {
    let mut total = Summary::default();
    for seed in seeds {
        let one = World::new(seed, rules)
            .run()
            .map_err(|error| format!("seed {seed}: {error}"))?;
        total.elected += one.elected;
        total.lost += one.lost;
        total.released += one.released;
        total.written += one.written;
        total.refused += one.refused;
    }
    Ok(total)
}

#[test]
fn only_the_leader_writes_and_only_before_its_deadline() {
    let total = run(0..SCHEDULES, REAL).unwrap();
    println!("{SCHEDULES} schedules: {total:?}");
    // Each event must occur for the test to mean anything.
    let Summary {
        elected,
        lost,
        released,
        written,
        refused,
    } = total;
    assert!(elected > 4 * SCHEDULES, "{total:?}");
    assert!(lost > SCHEDULES && released > SCHEDULES / 2, "{total:?}");
    assert!(written > 50 * SCHEDULES && refused > 0, "{total:?}");
}

#[test]
fn the_simulation_notices_dropped_guarantees() {
    let worse = [
        Rules {
            compares_versions: false,
            ..REAL
        },
        Rules {
            checks_connections: false,
            ..REAL
        },
    ];
    for rules in worse {
        let error = run(0..SCHEDULES, rules).unwrap_err();
        println!("{rules:?}: {error}");
    }
}
