//! The runs of all kinds: how many there are at once, how long one may take, and the fork server that is started when it is needed.

#[cfg(test)]
mod tests;

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::{
    sync::{Mutex, Semaphore},
    time::{sleep, timeout},
};

use crate::{
    error::Error,
    events::{Outcome, RunEvent},
    options::AnsibleOptions,
    server::{Begun, Ended, Server},
};

/// How long the server may take to end a run.
const END: Duration = Duration::from_secs(15);

/// How long the last events may take after the end of a run.
const REST: Duration = Duration::from_secs(5);

/// The pause before a server that ended is started again, which doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(30);

/// A server that served this long was well.
const WELL: Duration = Duration::from_secs(30);

/// Runs of roles and playbooks, in processes of a fork server.
pub(crate) struct Runs {
    pub(crate) options: AnsibleOptions,
    workers: Arc<Semaphore>,
    server: Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    server: Option<Arc<Server>>,
    started: Option<Instant>,
    pause: Duration,
}

impl Runs {
    pub(crate) fn new(options: AnsibleOptions) -> Self {
        Self {
            workers: Arc::new(Semaphore::new(options.workers.get())),
            options,
            server: Mutex::default(),
        }
    }

    /// The server; starts one, if none is alive. Those that end soon are started after ever longer pauses.
    pub(crate) async fn server(&self) -> Result<Arc<Server>, Error> {
        let mut slot = self.server.lock().await;
        if let Some(server) = slot.server.as_ref().filter(|server| server.is_alive()) {
            return Ok(server.clone());
        }
        if let Some(started) = slot.started {
            slot.pause = match started.elapsed() > WELL {
                true => FIRST_PAUSE,
                false => (slot.pause * 2).clamp(FIRST_PAUSE, LAST_PAUSE),
            };
            sleep(slot.pause).await;
        }
        slot.server = None;
        slot.started = Some(Instant::now());
        let server = Server::start(&self.options).await?;
        slot.server = Some(server.clone());
        Ok(server)
    }

    /// Runs what `request` asks for. If this is dropped, the run is ended.
    pub(crate) async fn run(
        &self,
        request: Value,
        limit: Duration,
        mut hear: impl FnMut(&RunEvent),
    ) -> Result<Outcome, Error> {
        let permit = self.workers.clone().acquire_owned().await;
        let permit = permit.map_err(|_| Error::Gone)?;
        let server = self.server().await?;
        let mut begun = server.begin(request, permit)?;
        drop(server);
        let mut outcome = Outcome::default();
        let run = follow(&mut begun, &mut outcome, &mut hear);
        let ended = match timeout(limit, run).await {
            Ok(ended) => ended?,
            Err(_) => {
                begun.cancel();
                // One that hangs in the kernel, or a server that hangs.
                if timeout(END, &mut begun.ended).await.is_err() {
                    begun.kill_server();
                }
                let place = outcome.place();
                return Err(Error::TimedOut { limit, place });
            }
        };
        if outcome.stats.is_none() && outcome.error.is_none() {
            return Err(match ended.error {
                Some(error) => Error::Start(error),
                None => Error::Ended {
                    how: how(&ended),
                    place: outcome.place(),
                },
            });
        }
        Ok(outcome)
    }
}

/// Takes the events of a run until its end.
async fn follow(
    begun: &mut Begun,
    outcome: &mut Outcome,
    hear: &mut impl FnMut(&RunEvent),
) -> Result<Ended, Error> {
    let mut ended = None;
    let events = tokio::select! {
        biased;
        events = &mut begun.events => events.ok(),
        end = &mut begun.ended => {
            ended = Some(end.map_err(|_| Error::Gone)?);
            // Its connection may not have been taken yet.
            timeout(REST, &mut begun.events).await.ok().and_then(Result::ok)
        }
    };
    if let Some(mut events) = events {
        while let Some(line) = events.next_line().await? {
            match serde_json::from_str(&line) {
                Ok(event) => {
                    outcome.note(&event);
                    hear(&event);
                }
                Err(error) => tracing::warn!(%error, line, "an event of Ansible is not understood"),
            }
        }
    }
    match ended {
        Some(ended) => Ok(ended),
        None => (&mut begun.ended).await.map_err(|_| Error::Gone),
    }
}

fn how(ended: &Ended) -> String {
    let mut how = String::new();
    // Writing to a string does not fail.
    _ = match (ended.signal, ended.code) {
        (Some(signal), _) => write!(how, "was killed by signal {signal}"),
        (None, code) => write!(how, "ended early, with code {}", code.unwrap_or_default()),
    };
    how
}
