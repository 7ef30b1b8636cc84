//! The responses of a replica's webhook, under constant requests.

use std::{
    future::pending,
    iter::Sum,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Result;
use k8s_openapi::jiff::Timestamp;
use operator_runtime::NotLeading;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::audit::Term;
use crate::followers::Endpoint;

/// The time between two reviews, and between two checks.
const PAUSE: Duration = Duration::from_millis(100);

/// The API server's timeout for a webhook.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time within which the end of a process is noticed.
const NOTICED: Duration = Duration::from_secs(5);

/// Whether a replica must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its process has started, and is not ready yet.
    Starts,
    /// It must answer.
    Serves,
    /// It is paused, killed, or terminating.
    Ends,
    /// It does not reach the API server, which would not reach it either.
    CutOff,
    /// Its network works again, and its connections may not have noticed.
    Reconnects,
}

use Phase::*;

#[derive(Clone, Debug)]
pub struct Review {
    pub asked: Timestamp,
    /// The time of the response, and the denial if there was one. `None` if the replica left [`Serves`]
    /// meanwhile.
    pub answer: Option<(Timestamp, Result<(), String>)>,
}

/// Sends reviews to one replica until it is dropped.
#[derive(Debug)]
pub struct Asker {
    phase: watch::Sender<Phase>,
    made: Arc<Mutex<Vec<Review>>>,
    task: JoinHandle<()>,
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Asker {
    pub fn begin(endpoint: Endpoint, health: SocketAddr) -> Self {
        let phase = watch::Sender::new(Starts);
        let made = Arc::new(Mutex::new(Vec::new()));
        let task = Task {
            endpoint,
            health,
            made: made.clone(),
        };
        let task = tokio::spawn(task.run(phase.clone()));
        Self { phase, made, task }
    }

    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    pub fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    pub fn made(&self) -> Vec<Review> {
        lock(&self.made).clone()
    }
}

struct Task {
    endpoint: Endpoint,
    health: SocketAddr,
    made: Arc<Mutex<Vec<Review>>>,
}

impl Task {
    async fn run(self, phase: watch::Sender<Phase>) {
        let mut phases = phase.subscribe();
        loop {
            let now = *phases.borrow_and_update();
            let until_it_serves = async {
                match now {
                    Ends | CutOff => pending().await,
                    Serves => self.ask().await,
                    Starts => self.until_ready().await,
                    Reconnects => {
                        self.until_ready().await;
                        self.until_connected().await;
                    }
                }
            };
            tokio::select! {
                biased;
                _ = phases.changed() => {}
                () = until_it_serves => {
                    let serves = |phase: &mut Phase| {
                        let same = *phase == now;
                        if same {
                            *phase = Serves;
                        }
                        same
                    };
                    phase.send_if_modified(serves);
                }
            }
        }
    }

    /// Sends reviews forever.
    async fn ask(&self) {
        loop {
            let (asked, answer) = (Timestamp::now(), None);
            lock(&self.made).push(Review { asked, answer });
            let answer = match self.review().await {
                Ok(answer) => (Timestamp::now(), answer),
                Err(error) => {
                    // If the process has ended, there is no response to wait for.
                    sleep(NOTICED).await;
                    (Timestamp::now(), Err(format!("no answer: {error:#}")))
                }
            };
            if let Some(review) = lock(&self.made).last_mut() {
                review.answer = Some(answer);
            }
            sleep(PAUSE).await;
        }
    }

    async fn until_connected(&self) {
        loop {
            match self.review().await {
                Ok(Ok(())) => return,
                // Lost connections do not justify this response; the next one counts.
                Ok(Err(denied)) if denied.contains(&NotLeading.to_string()) => return,
                _ => sleep(PAUSE).await,
            }
        }
    }

    /// Whether the webhook allows the review; an error if it does not answer.
    async fn review(&self) -> Result<Result<(), String>> {
        let answer = timeout(PATIENCE, self.endpoint.review()).await??;
        Ok(match answer["response"]["allowed"] == true {
            true => Ok(()),
            false => Err(answer.to_string()),
        })
    }

    async fn until_ready(&self) {
        let ask = async || -> Result<String> {
            let mut stream = TcpStream::connect(self.health).await?;
            stream.write_all(b"GET /readyz HTTP/1.0\r\n\r\n").await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            Ok(answer)
        };
        let is_ready = async || {
            let answer = timeout(NOTICED, ask()).await;
            matches!(answer, Ok(Ok(answer)) if answer.starts_with("HTTP/1.0 200"))
        };
        while !is_ready().await {
            sleep(PAUSE).await;
        }
    }
}

fn lock(made: &Mutex<Vec<Review>>) -> MutexGuard<'_, Vec<Review>> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of reviews.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub asked: usize,
    pub allowed: usize,
    /// The replica was disturbed before it answered.
    pub interrupted: usize,
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            asked: sum.asked + one.asked,
            allowed: sum.allowed + one.allowed,
            interrupted: sum.interrupted + one.interrupted,
        })
    }
}

/// The reviews of followers and of leaders, and the denied ones.
#[derive(Debug, Default)]
pub struct Answers {
    pub followers: Count,
    pub leaders: Count,
    pub refused: Vec<String>,
}

impl Answers {
    /// Adds the reviews of a replica.
    pub fn add(&mut self, replica: &str, reviews: &[Review], terms: &[Term]) {
        for review in reviews {
            let end = review
                .answer
                .as_ref()
                .map_or(review.asked, |answer| answer.0);
            let leads = |term: &Term| term.includes(replica, review.asked, end);
            let (role, reviewed) = match terms.iter().any(leads) {
                true => ("leader", &mut self.leaders),
                false => ("follower", &mut self.followers),
            };
            reviewed.asked += 1;
            match &review.answer {
                None => reviewed.interrupted += 1,
                Some((_, Ok(()))) => reviewed.allowed += 1,
                Some((at, Err(refused))) => {
                    let asked = review.asked;
                    let line = format!("{role} {replica}, {asked} to {at}: {refused}");
                    self.refused.push(line);
                }
            }
        }
    }
}
