//! Measures the webhook servers of this benchmark, one after the other: what the API server would ask them, over four
//! connections, first as fast as they answer and then at a fixed rate. It asserts no times, but checks every answer.

mod connection;
mod load;
mod measure;
mod review;
mod server;
mod table;

use std::{env, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use clap::Parser;

use server::{SERVERS, Server};
use table::Table;

#[derive(Parser)]
struct Args {
    /// How long each kind of load lasts
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
    seconds: Duration,

    /// Reviews in a second where the rate is fixed, one after the other
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1000, 5000])]
    rates: Vec<u32>,

    /// Objects in a review that asks for conversion; 0 leaves them out
    #[arg(long, value_name = "OBJECTS", default_value_t = 1000)]
    objects: usize,

    /// Servers to measure, comma-separated [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = SERVERS.map(|server| server.name))]
    only: Vec<String>,

    /// How often to measure each; the table shows medians
    #[arg(long, default_value_t = 1)]
    rounds: usize,

    /// Where the servers are, and their logs and metrics are left [default: beside this program]
    #[arg(long, value_name = "DIRECTORY")]
    servers: Option<PathBuf>,
}

/// How much is asked.
#[derive(Debug)]
struct Load {
    time: Duration,
    rates: Vec<u32>,
    objects: usize,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
    let expected = || "expected a number of seconds".to_owned();
    seconds.map(Duration::from_secs).ok_or_else(expected)
}

fn main() -> Result<()> {
    let args = Args::parse();
    let directory = match args.servers {
        Some(directory) => directory,
        None => env::current_exe()?
            .parent()
            .context("no directory")?
            .to_owned(),
    };
    let load = Load {
        time: args.seconds,
        rates: args.rates,
        objects: args.objects,
    };
    let selected =
        |server: &&Server| args.only.is_empty() || args.only.iter().any(|name| name == server.name);
    let mut table = Table::of(&load.rates);
    for round in 1..=args.rounds {
        for server in SERVERS.iter().filter(selected) {
            eprintln!("{}, round {round} of {}", server.name, args.rounds);
            let figures = measure::measure(server, &load, &directory)
                .with_context(|| format!("cannot measure {}", server.name))?;
            table.add(server.name, figures);
        }
    }
    println!("{table}");
    Ok(())
}
