//! Measures the operators of this benchmark: for each row and each of them a fresh control plane, objects that exist
//! already, and then the operator, until every object is available. It asserts no times.

mod measure;
mod operator;
mod requests;
mod start;
mod table;

use std::{env, path::PathBuf, str::FromStr};

use anyhow::{Context, Result};
use clap::Parser;

use operator::{OPERATORS, Operator};
use table::Table;

#[derive(Parser)]
struct Args {
    /// What to measure: a number of objects and how many the operator may reconcile at once
    #[arg(value_name = "OBJECTSxCONCURRENCY", default_values = ["1000x1", "1000x10"])]
    rows: Vec<Row>,

    /// Operators to measure, comma-separated [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = OPERATORS.map(|operator| operator.name))]
    only: Vec<String>,

    /// How often to measure each; the table shows medians
    #[arg(long, default_value_t = 1)]
    rounds: usize,

    /// Measure one start of `manager` for each row instead, with an edit meanwhile and a resync after it
    #[arg(long)]
    start: bool,

    /// How many Deployments of others there are before the operators start
    #[arg(long, default_value_t = 0)]
    others: usize,

    /// Let `manager` watch only the Deployments with the label of its own
    #[arg(long)]
    own_only: bool,

    /// Where the operators are, and their logs and metrics are left [default: beside this program]
    #[arg(long, value_name = "DIRECTORY")]
    operators: Option<PathBuf>,
}

/// One part of the table.
#[derive(Clone, Copy, Debug)]
struct Row {
    objects: usize,
    concurrency: usize,
}

impl FromStr for Row {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('x').and_then(|(objects, concurrency)| {
            Some((objects.parse().ok()?, concurrency.parse().ok()?))
        });
        match parsed {
            Some((objects @ 1.., concurrency @ 1..)) => Ok(Self {
                objects,
                concurrency,
            }),
            _ => Err("expected two numbers, as in `1000x10`".into()),
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let directory = match args.operators {
        Some(directory) => directory,
        None => env::current_exe()?
            .parent()
            .context("no directory")?
            .to_owned(),
    };
    let selected = |operator: &&Operator| {
        args.only.is_empty() || args.only.iter().any(|name| name == operator.name)
    };
    if args.start {
        let manager = OPERATORS.iter().find(|operator| operator.name == "manager");
        let manager = manager.context("no operator")?;
        for row in args.rows {
            println!("{}", start::start(manager, row, &directory).await?);
        }
        return Ok(());
    }
    for row in args.rows {
        let mut table = Table::default();
        for round in 1..=args.rounds {
            for operator in OPERATORS.iter().filter(selected) {
                eprintln!(
                    "{row:?}: {}, round {round} of {}",
                    operator.name, args.rounds
                );
                let more: &[_] = match args.own_only && operator.name == "manager" {
                    true => &["--own-only"],
                    false => &[],
                };
                let figures = measure::measure(operator, row, args.others, more, &directory)
                    .await
                    .with_context(|| format!("cannot measure {}", operator.name))?;
                table.add(operator.name, figures);
            }
        }
        println!(
            "{} objects, concurrency {}\n{table}",
            row.objects, row.concurrency
        );
    }
    Ok(())
}
