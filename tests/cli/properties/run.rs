//! Runs a property on all cores: proptest's runner has one thread, so each share of the cases has a runner with a seed of
//! its own. Which cases there are does not depend on the number of cores.

use std::{
    fmt::Debug,
    hash::{BuildHasher, RandomState},
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};

use super::story;

/// The cases of one share.
const SHARE: u32 = 50;

/// `PROPTEST_CASES`, or the number that continuous integration runs.
pub fn given(usual: u32) -> u32 {
    number("PROPTEST_CASES").map_or(usual, |cases| cases.try_into().expect("a number of cases"))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs `check` on `cases` values; says what was wrong with the smallest that fails in each of the first failing shares.
pub fn run<S: Strategy>(what: &str, cases: u32, strategy: fn() -> S, check: fn(&S::Value))
where
    S::Value: Debug,
{
    let seed = number("PROPTEST_RNG_SEED").unwrap_or_else(|| RandomState::new().hash_one(what));
    let shares = cases.div_ceil(SHARE) as usize;
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Shrinking panics again and again; what is left in the end is told.
    let name = format!("{what} {seed}");
    silence(&name);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let work = || loop {
                let share = next.fetch_add(1, Ordering::Relaxed);
                if share >= shares || failures.lock().unwrap().len() > 2 {
                    break;
                }
                let cases = SHARE.min(cases - share as u32 * SHARE);
                if let Some(failure) = share_of(seed, share, cases, strategy, check) {
                    failures.lock().unwrap().push(failure);
                }
            };
            let worker = thread::Builder::new().name(name.clone());
            worker.spawn_scoped(scope, work).expect("a thread");
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "PROPTEST_RNG_SEED={seed}\n\n{}",
        failures.join("\n\n")
    );
    println!("{cases} {what} (PROPTEST_RNG_SEED={seed})");
}

/// What was wrong with the smallest value of a share that fails.
fn share_of<S: Strategy>(
    seed: u64,
    share: usize,
    cases: u32,
    strategy: fn() -> S,
    check: fn(&S::Value),
) -> Option<String>
where
    S::Value: Debug,
{
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&(share as u64).to_le_bytes());
    let config = Config {
        cases,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let result = TestRunner::new_with_rng(config, rng).run(&strategy(), |value| {
        check(&value);
        Ok(())
    });
    match result {
        Ok(()) => None,
        Err(TestError::Abort(why)) => Some(why.to_string()),
        Err(TestError::Fail(why, value)) => {
            // Once more, for its story.
            let _ = panic::catch_unwind(AssertUnwindSafe(|| check(&value)));
            Some(format!("{why}\n\n{}\n\n{value:?}", story::lines()))
        }
    }
}

/// Threads of this name say nothing when they panic.
fn silence(name: &str) {
    let (name, usual) = (name.to_owned(), panic::take_hook());
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() != Some(&name) {
            usual(info);
        }
    }));
}
