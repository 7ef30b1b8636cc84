//! Kinds of load, each over its own connections.

use std::{
    num::NonZeroU64,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use rustls::ClientConfig;

use crate::{connection::Connection, review::Question};

/// How many requests are asked at once.
const CONNECTIONS: u32 = 4;

/// Where to ask.
#[derive(Clone)]
pub struct Target {
    pub port: u16,
    pub tls: Arc<ClientConfig>,
}

impl Target {
    pub fn connect(&self) -> Result<Connection> {
        Connection::open(self.port, self.tls.clone())
    }

    fn connections(&self) -> Result<Vec<Connection>> {
        (0..CONNECTIONS).map(|_| self.connect()).collect()
    }
}

/// Asks as fast as there are answers, and says how many there were.
pub fn closed(target: &Target, question: &Question, time: Duration) -> Result<u32> {
    let connections = target.connections()?;
    let begin = Instant::now();
    let counts = each(connections, |_, mut connection| {
        let mut count = 0;
        while begin.elapsed() < time {
            question.check(connection.ask(&question.request)?)?;
            count += 1;
        }
        Ok(count)
    })?;
    Ok(counts.into_iter().sum())
}

/// Asks `rate` questions a second, and says how long each took, the shortest first. It counts from when the question was
/// to be asked, so that one that waits for another connection's answer counts what it waited.
pub fn paced(
    target: &Target,
    questions: &[Question],
    rate: u32,
    time: Duration,
) -> Result<Vec<Duration>> {
    let connections = target.connections()?;
    let interval = Duration::from_secs(1) / rate;
    let begin = Instant::now() + Duration::from_millis(10);
    let took = each(connections, |first, mut connection| {
        // Linux wakes a thread up to 50 µs late, unless asked not to.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        let mut took = Vec::new();
        for number in (first..).step_by(CONNECTIONS as usize) {
            let intended = interval * number;
            if intended >= time {
                break;
            }
            let intended = begin + intended;
            thread::sleep(intended.saturating_duration_since(Instant::now()));
            let question = &questions[number as usize % questions.len()];
            let answer = connection.ask(&question.request)?;
            took.push(intended.elapsed());
            question.check(answer)?;
        }
        Ok(took)
    })?;
    let mut took = took.concat();
    took.sort_unstable();
    Ok(took)
}

/// Asks the questions in turn, one after the other's answer, and says how long each took, the shortest first.
pub fn serial(target: &Target, questions: &[Question], time: Duration) -> Result<Vec<Duration>> {
    let mut connection = target.connect()?;
    let begin = Instant::now();
    let mut took = Vec::new();
    while begin.elapsed() < time {
        for question in questions {
            let asked = Instant::now();
            let answer = connection.ask(&question.request)?;
            took.push(asked.elapsed());
            question.check(answer)?;
        }
    }
    took.sort_unstable();
    Ok(took)
}

/// What each connection gets, on a thread of its own.
fn each<T: Send>(
    connections: Vec<Connection>,
    run: impl Fn(u32, Connection) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..)
            .zip(connections)
            .map(|(number, connection)| scope.spawn(move || run(number, connection)))
            .collect();
        let results = threads.into_iter();
        results
            .map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
            .collect()
    })
}
