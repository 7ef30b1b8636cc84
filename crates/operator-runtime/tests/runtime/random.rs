//! Random inputs: in a run for a change, few and always the same; `FUZZ_INPUTS` sets how many, `PROPTEST_RNG_SEED` which ones.

use std::env;

/// How many inputs are tried.
pub fn inputs() -> u32 {
    number("FUZZ_INPUTS").map_or(20_000, |all| all.try_into().expect("a number of inputs"))
}

/// The seed of the inputs, which is printed for the one who repeats the run.
pub fn seed() -> u64 {
    let seed = number("PROPTEST_RNG_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("PROPTEST_RNG_SEED={seed}");
    seed
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number")),
    )
}
