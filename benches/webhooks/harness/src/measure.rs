//! One server, once.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::{
    Load,
    load::{self, Target},
    review::{self, Question},
    server::{Running, Server},
};

/// Before anything is measured, of each kind of load.
const WARM_UP: Duration = Duration::from_millis(500);

/// What a run took.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// An object that gets a default; one that needs none; and one that is checked.
    pub admissions: [Admission; 3],
    /// All three in turn, at each of the fixed rates.
    pub paced: Vec<Paced>,
    /// The most memory in use at once until then, in bytes.
    pub memory: u64,
    pub conversion: Option<Conversion>,
    /// The size of the binary, in bytes.
    pub binary: u64,
}

/// As fast as there were answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Admission {
    /// Reviews a second.
    pub rate: f64,
    /// CPU time for each.
    pub cpu: Duration,
}

/// At a fixed rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paced {
    pub p50: Duration,
    pub p99: Duration,
    pub p999: Duration,
    /// CPU time for each review.
    pub cpu: Duration,
}

/// Reviews with many objects.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conversion {
    /// From the request to the last byte of the answer, in the median.
    pub wall: Duration,
    /// CPU time for each review.
    pub cpu: Duration,
    /// The most memory in use at once, in bytes.
    pub memory: u64,
}

pub fn measure(server: &Server, load: &Load, directory: &Path) -> Result<Figures> {
    let questions = review::admissions();
    let running = server.start(directory, &questions[0])?;
    let mut figures = Figures {
        binary: running.binary,
        ..Figures::default()
    };
    if server.answers {
        let mistaken = review::mistaken();
        let mut connection = running.target.connect()?;
        mistaken.check(connection.ask(&mistaken.request)?)?;
    }
    for (question, admission) in questions.iter().zip(&mut figures.admissions) {
        *admission = admit(&running, question, load)?;
    }
    for rate in &load.rates {
        let paced = pace(&running, &questions, *rate, load.time)?;
        figures.paced.push(paced);
    }
    figures.memory = running.process.peak_memory()?;
    if server.answers && load.objects > 0 {
        figures.conversion = Some(convert(&running, load)?);
    }
    running.stop()?;
    Ok(figures)
}

fn admit(running: &Running, question: &Question, load: &Load) -> Result<Admission> {
    load::closed(&running.target, question, WARM_UP)?;
    let (begin, before) = (Instant::now(), running.process.cpu()?);
    let count = load::closed(&running.target, question, load.time)?;
    Ok(Admission {
        rate: f64::from(count) / begin.elapsed().as_secs_f64(),
        cpu: (running.process.cpu()? - before) / count,
    })
}

fn pace(running: &Running, questions: &[Question], rate: u32, time: Duration) -> Result<Paced> {
    let ask = |time| load::paced(&running.target, questions, rate, time);
    ask(WARM_UP)?;
    let before = running.process.cpu()?;
    // Twice as long as the others, because the slowest of a hundred count.
    let took = ask(2 * time)?;
    Ok(Paced {
        p50: quantile(&took, 0.5)?,
        p99: quantile(&took, 0.99)?,
        p999: quantile(&took, 0.999)?,
        cpu: (running.process.cpu()? - before) / u32::try_from(took.len())?,
    })
}

fn convert(running: &Running, load: &Load) -> Result<Conversion> {
    let questions = review::conversions(load.objects);
    let ask = |target: &Target, time| load::serial(target, &questions, time);
    ask(&running.target, WARM_UP)?;
    let before = running.process.cpu()?;
    let took = ask(&running.target, load.time)?;
    Ok(Conversion {
        wall: quantile(&took, 0.5)?,
        cpu: (running.process.cpu()? - before) / u32::try_from(took.len())?,
        memory: running.process.peak_memory()?,
    })
}

/// Of a sorted list.
fn quantile(sorted: &[Duration], part: f64) -> Result<Duration> {
    let index = (sorted.len() as f64 * part) as usize;
    sorted.get(index).copied().context("nothing was asked")
}
