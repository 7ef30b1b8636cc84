//! Random histories of an election in virtual time: several replicas, clocks of their own, an API
//! server with resource versions, and everything between them that can go wrong.
//!
//! The replicas are the [`Elector`](super::elector::Elector) and the [`Fence`](crate::fence::Fence)
//! that run in a cluster.

mod replica;
mod server;
mod trouble;
mod world;

use world::World;

const SCHEDULES: u64 = 2_000;

/// What the simulated world does, so that a test can make it worse than the real one.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// The API server refuses a write that expects another resource version.
    compares_versions: bool,
    /// A connection checks the fence again before it writes.
    checks_connections: bool,
}

const REAL: Rules = Rules {
    compares_versions: true,
    checks_connections: true,
};

/// What happened in a history.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    elected: u64,
    lost: u64,
    released: u64,
    written: u64,
    refused: u64,
}

/// Runs the histories of these seeds; the error names the seed, the time, and what went wrong.
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
fn nobody_writes_beside_a_leader_or_after_its_deadline() {
    let total = run(0..SCHEDULES, REAL).unwrap();
    println!("{SCHEDULES} schedules: {total:?}");
    // Each of them means something only if it happens.
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
fn the_simulation_notices_what_would_go_wrong() {
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
