//! The figures of all servers, and what they are to each other.

use std::{fmt, time::Duration};

use crate::measure::{Figures, Paced};

/// Figures by server, in the order in which they were first added.
pub struct Table {
    rows: Vec<Row>,
    servers: Vec<(&'static str, Vec<Figures>)>,
}

struct Row {
    name: String,
    /// How many follow the point.
    digits: usize,
    /// What it shows, if the server has it.
    of: Box<Column>,
}

type Column = dyn Fn(&Figures) -> Option<f64>;

impl Row {
    fn new(
        name: impl Into<String>,
        digits: usize,
        of: impl Fn(&Figures) -> Option<f64> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            digits,
            of: Box::new(of),
        }
    }
}

/// What the last columns show: the first's figures divided by the second's.
const RATIOS: [[&str; 2]; 2] = [["manager", "floor"], ["manager", "controller-runtime"]];

impl Table {
    /// A table with these fixed rates.
    pub fn of(rates: &[u32]) -> Self {
        let mut rows = Vec::new();
        for (index, name) in ["default", "leave", "validate"].into_iter().enumerate() {
            rows.extend([
                Row::new(format!("{name}, reviews/s"), 0, move |f| {
                    Some(f.admissions[index].rate)
                }),
                Row::new(format!("{name}, CPU/review, µs"), 1, move |f| {
                    Some(micros(f.admissions[index].cpu))
                }),
            ]);
        }
        for (index, rate) in rates.iter().enumerate() {
            let row = |name, digits, of: fn(&Paced) -> Duration| {
                Row::new(format!("at {rate}/s, {name}, µs"), digits, move |f| {
                    f.paced.get(index).map(|paced| micros(of(paced)))
                })
            };
            rows.extend([
                row("p50", 0, |paced| paced.p50),
                row("p99", 0, |paced| paced.p99),
                row("p99.9", 0, |paced| paced.p999),
                row("CPU/review", 1, |paced| paced.cpu),
            ]);
        }
        rows.extend([
            Row::new("peak until here, MiB", 1, |f| Some(mib(f.memory))),
            Row::new("convert a list, ms", 1, |f| {
                Some(micros(f.conversion?.wall) / 1e3)
            }),
            Row::new("convert a list, CPU, ms", 1, |f| {
                Some(micros(f.conversion?.cpu) / 1e3)
            }),
            Row::new("peak, MiB", 1, |f| Some(mib(f.conversion?.memory))),
            Row::new("binary, MB", 1, |f| Some(f.binary as f64 / 1e6)),
        ]);
        Self {
            rows,
            servers: Vec::new(),
        }
    }

    pub fn add(&mut self, server: &'static str, figures: Figures) {
        match self.servers.iter_mut().find(|(name, _)| *name == server) {
            Some((_, rounds)) => rounds.push(figures),
            None => self.servers.push((server, vec![figures])),
        }
    }

    /// The middle one of what the rounds show; of two, the smaller.
    fn median(&self, server: &str, row: &Row) -> Option<f64> {
        let (_, rounds) = self.servers.iter().find(|(name, _)| *name == server)?;
        let mut values: Vec<_> = rounds.iter().filter_map(&row.of).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len().checked_sub(1)? / 2).copied()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:26}", "")?;
        for (name, _) in &self.servers {
            write!(f, "{name:>20}")?;
        }
        for [one, other] in RATIOS {
            write!(f, "{:>30}", format!("{one} / {other}"))?;
        }
        for row in &self.rows {
            write!(f, "\n{:26}", row.name)?;
            let mut cell = |value: Option<f64>, width, digits| match value {
                Some(value) => write!(f, "{value:>width$.digits$}"),
                None => write!(f, "{:>width$}", "-"),
            };
            for (server, _) in &self.servers {
                cell(self.median(server, row), 20, row.digits)?;
            }
            for [one, other] in RATIOS {
                let ratio = self.median(one, row).zip(self.median(other, row));
                cell(ratio.map(|(one, other)| one / other), 30, 2)?;
            }
        }
        writeln!(f)
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}
