//! The figures of one row, and what they are to each other.

use std::{fmt, time::Duration};

use crate::measure::Figures;

/// Figures by operator, in the order in which they were first added.
#[derive(Default)]
pub struct Table(Vec<(&'static str, Vec<Figures>)>);

impl Table {
    pub fn add(&mut self, operator: &'static str, figures: Figures) {
        match self.0.iter_mut().find(|(name, _)| *name == operator) {
            Some((_, rounds)) => rounds.push(figures),
            None => self.0.push((operator, vec![figures])),
        }
    }

    fn medians(&self, operator: &str) -> Option<Figures> {
        let (_, rounds) = self.0.iter().find(|(name, _)| *name == operator)?;
        let time = |of: fn(&Figures) -> Duration| median(rounds.iter().map(of).collect());
        let size = |of: fn(&Figures) -> u64| median(rounds.iter().map(of).collect());
        Some(Figures {
            wall: time(|figures| figures.wall),
            first_child: time(|figures| figures.first_child),
            cpu: time(|figures| figures.cpu),
            idle: time(|figures| figures.idle),
            memory: size(|figures| figures.memory),
            binary: size(|figures| figures.binary),
            ..rounds.last()?.clone()
        })
    }
}

/// The middle one of a list that is not empty; of two, the smaller.
fn median<T: Copy + Ord>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[(values.len() - 1) / 2]
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:28}{:>9}{:>13}{:>12}{:>11}{:>9}{:>13}{:>10}",
            "", "wall", "CPU/object", "CPU in 10 s", "peak", "binary", "first child", "requests"
        )?;
        writeln!(
            f,
            "{:28}{:>9}{:>13}{:>12}{:>11}{:>9}{:>13}{:>10}",
            "", "s", "ms", "idle, ms", "MiB", "MB", "s", "/object"
        )?;
        for (name, _) in &self.0 {
            let Some(figures) = self.medians(name) else {
                continue;
            };
            writeln!(
                f,
                "{name:28}{:>9.2}{:>13.2}{:>12}{:>11.1}{:>9.1}{:>13.2}{:>10.2}",
                figures.wall.as_secs_f64(),
                figures.cpu.as_secs_f64() * 1e3,
                figures.idle.as_millis(),
                figures.memory as f64 / 1024.0 / 1024.0,
                figures.binary as f64 / 1e6,
                figures.first_child.as_secs_f64(),
                figures.requests_each,
            )?;
        }
        for other in ["floor", "controller-runtime"] {
            let (Some(ours), Some(theirs)) = (self.medians("manager"), self.medians(other)) else {
                continue;
            };
            let ratio = |of: fn(&Figures) -> f64| of(&ours) / of(&theirs);
            writeln!(
                f,
                "{:28}{:>9.2}{:>13.2}{:>12}{:>11.2}{:>9.2}{:>13.2}{:>10.2}",
                format!("manager / {other}"),
                ratio(|figures| figures.wall.as_secs_f64()),
                ratio(|figures| figures.cpu.as_secs_f64()),
                "",
                ratio(|figures| figures.memory as f64),
                ratio(|figures| figures.binary as f64),
                ratio(|figures| figures.first_child.as_secs_f64()),
                ratio(|figures| figures.requests_each),
            )?;
        }
        for (name, rounds) in &self.0 {
            if let Some(figures) = rounds.last() {
                writeln!(f, "{name}: {}", figures.requests)?;
            }
        }
        Ok(())
    }
}
