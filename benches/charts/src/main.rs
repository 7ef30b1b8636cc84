//! Compares the time and the memory that helm-render takes for charts with those of Helm's library, which `tests/helm/oracle` calls.
//!
//! `bench-charts ORACLE CHART...` reads and renders each chart again and again in both, one after the other, and prints the ratios.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use helm_render::{Options, chart::Chart, render, values::Table};
use serde_json::{Value, json};

/// How long each of both renders a chart, at least.
const TIME: Duration = Duration::from_secs(2);

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let oracle = arguments
        .next()
        .context("the path of the oracle is missing")?;
    let mut oracle = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let process = oracle.id();
    let mut input = oracle.stdin.take().context("the oracle has an input")?;
    let mut output = BufReader::new(oracle.stdout.take().context("the oracle has an output")?);
    println!("{:44} {:>9} {:>9} {:>6}", "chart", "here", "Helm", "ratio");
    for chart in arguments {
        let name = Path::new(&chart)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let Ok((runs, here)) = here(&chart) else {
            println!("{name:44} does not render");
            continue;
        };
        let request = json!({"kind": "time", "path": chart, "runs": runs});
        let seconds = ask(&mut input, &mut output, &request)?["seconds"].take();
        let helm = seconds.as_f64().context("the oracle answers a time")? / f64::from(runs);
        println!(
            "{name:44} {:6.2} ms {:6.2} ms {:6.2}",
            here * 1e3,
            helm * 1e3,
            here / helm
        );
    }
    let (ours, theirs) = (peak("self")?, peak(&process.to_string())?);
    println!(
        "{:44} {:6.1} MB {:6.1} MB {:6.2}",
        "most memory (VmHWM)",
        ours / 1e3,
        theirs / 1e3,
        ours / theirs
    );
    drop(input);
    oracle.wait()?;
    Ok(())
}

/// The number of runs, and the seconds of each.
fn here(path: &str) -> Result<(u32, f64)> {
    let (given, options) = (Table::new(), Options::default());
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < TIME {
        render(&Chart::load(path)?, &given, &options)?;
        runs += 1;
    }
    Ok((runs, start.elapsed().as_secs_f64() / f64::from(runs)))
}

fn ask(
    input: &mut ChildStdin,
    output: &mut BufReader<ChildStdout>,
    request: &Value,
) -> Result<Value> {
    writeln!(input, "{request}")?;
    input.flush()?;
    let mut line = String::new();
    output.read_line(&mut line)?;
    let mut answer: Value = serde_json::from_str(&line)?;
    match answer["error"].as_str() {
        Some(error) => bail!("{error}"),
        None => Ok(answer["value"].take()),
    }
}

/// The most memory that a process has had, in kB.
fn peak(process: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line
        .context("the status has VmHWM")?
        .trim()
        .trim_end_matches(" kB");
    Ok(number.trim().parse()?)
}
