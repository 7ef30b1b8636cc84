//! Attacks an operator under the memory limit of a generated Deployment, while `kubectl apply` sends an object through its
//! webhooks once a second. Everything runs on this machine, over loopback.

mod attack;
mod client;
mod limit;
mod site;

use std::{
    path::PathBuf,
    process::ExitCode,
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use clap::Parser;
use operator_runtime::envtest::ControlPlane;

use attack::{ATTACKS, Attack};
use limit::Limit;
use site::{Operator, Site};

/// The memory limit of a generated Deployment, in bytes.
const MEMORY: u64 = 128 << 20;

/// The longest time of an apply.
const LONGEST: Duration = Duration::from_secs(2);

/// The number of probes that fail one after the other before a kubelet kills a container.
const KUBELET: usize = 3;

/// Attack an operator, and print how it fares
#[derive(Parser)]
struct Args {
    /// Duration of each attack in seconds
    #[arg(long, default_value = "60")]
    seconds: u64,
    /// Only attacks with this word in their name
    #[arg(long, default_value = "")]
    only: String,
    /// The operator's binary [default: `siege-operator` beside this one]
    #[arg(long)]
    operator: Option<PathBuf>,
}

/// What happened during an attack.
#[derive(Default)]
struct Outcome {
    applied: usize,
    worst: Duration,
    failed: Vec<String>,
    probes: usize,
    unprobed: usize,
    /// In bytes.
    peak: u64,
    faults: Vec<String>,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let beside = std::env::current_exe()?.with_file_name("siege-operator");
    let operator = args.operator.unwrap_or(beside);
    let limit = Limit::new(MEMORY)?;
    let site = Site::new(ControlPlane::start()?, operator)?;
    println!(
        "| {:<48} | {:>11} | {:>7} | {:>6} | {:>13} | {:>7} | else",
        "attack", "worst apply", "applies", "failed", "failed probes", "VmHWM"
    );
    println!("|---|---:|---:|---:|---:|---:|---|");
    let mut held = true;
    for attack in ATTACKS
        .iter()
        .filter(|attack| attack.name.contains(&args.only))
    {
        let outcome = run(&site, &limit, attack, Duration::from_secs(args.seconds))?;
        println!(
            "| {:<48} | {:>11} | {:>7} | {:>6} | {:>13} | {:>7} | {}",
            attack.name,
            format!("{:.2} s", outcome.worst.as_secs_f64()),
            outcome.applied,
            outcome.failed.len(),
            format!("{} of {}", outcome.unprobed, outcome.probes),
            format!("{} MiB", outcome.peak >> 20),
            outcome.faults.join("; ")
        );
        if let Some(failed) = outcome.failed.first() {
            eprintln!("{}: {failed}", attack.name);
        }
        held &= outcome.failed.is_empty()
            && outcome.worst <= LONGEST
            && outcome.peak < MEMORY
            && outcome.faults.is_empty();
    }
    Ok(match held {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Starts an operator, and applies an object once a second under attack.
fn run(site: &Site, limit: &Limit, attack: &'static Attack, time: Duration) -> Result<Outcome> {
    let mut operator = Operator::start(site, limit, attack.http2)?;
    let holder = site.holder()?;
    ensure!(!holder.0.is_empty(), "nobody leads");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    for number in 0..attack.clients {
        let target = operator.target.clone();
        runtime.spawn(attack::again(attack, number, target));
    }
    // The attack is complete when the first object is applied.
    sleep(Duration::from_secs(2));
    let (mut outcome, mut missed) = (Outcome::default(), 0);
    let begin = Instant::now();
    let mut next = begin;
    while begin.elapsed() < time && operator.process.check().is_ok() {
        let asked = Instant::now();
        match site.apply(outcome.applied) {
            Ok(()) => {}
            Err(error) => outcome.failed.push(format!("{error:#}")),
        }
        outcome.applied += 1;
        outcome.worst = outcome.worst.max(asked.elapsed());
        outcome.probes += 1;
        match operator.target.probe() {
            Ok(()) => missed = 0,
            Err(_) => {
                (missed, outcome.unprobed) = (missed + 1, outcome.unprobed + 1);
                if missed == KUBELET {
                    let fault = "the kubelet would have killed it";
                    outcome.faults.push(fault.to_owned());
                }
            }
        }
        if let Ok(peak) = operator.process.peak_memory() {
            outcome.peak = peak;
        }
        next += Duration::from_secs(1);
        sleep(next.saturating_duration_since(Instant::now()));
    }
    runtime.shutdown_background();
    if let Err(error) = operator.process.check() {
        let first = error.to_string();
        let first = first.lines().next().unwrap_or_default().to_owned();
        outcome.faults.push(first);
        return Ok(outcome);
    }
    if site.holder()? != holder {
        outcome.faults.push("leadership was lost".to_owned());
    }
    operator.process.stop()?;
    Ok(outcome)
}
