//! What a manager runs beside its controllers.

use std::error::Error;

use futures::{FutureExt, future::BoxFuture};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The error of a task.
pub type TaskError = Box<dyn Error + Send + Sync>;

/// A task that runs until its token is cancelled.
pub(crate) struct Runnable {
    name: String,
    pub(crate) needs_leadership: bool,
    run: Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), TaskError>> + Send>,
}

impl Runnable {
    pub(crate) fn new<F, Fut>(name: impl Into<String>, needs_leadership: bool, run: F) -> Self
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), TaskError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            needs_leadership,
            run: Box::new(move |stop| run(stop).boxed()),
        }
    }
}

/// Runnables that are stopped together.
#[derive(Default)]
pub(crate) struct Group {
    tasks: JoinSet<(String, Result<(), TaskError>)>,
    stop: CancellationToken,
}

/// A runnable that ended, and with which error.
pub(crate) type Ended = (String, Option<TaskError>);

impl Group {
    pub(crate) fn start(&mut self, runnable: Runnable) {
        let run = (runnable.run)(self.stop.clone());
        let name = runnable.name;
        self.tasks.spawn(async move { (name, run.await) });
    }

    /// The first that ends; never returns if nothing runs.
    pub(crate) async fn ended(&mut self) -> Ended {
        match self.tasks.join_next().await {
            Some(Ok((name, result))) => (name, result.err()),
            Some(Err(panic)) => ("a task".to_owned(), Some(panic.into())),
            None => std::future::pending().await,
        }
    }

    /// Asks all to end, and waits until they have.
    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        while let Some(end) = self.tasks.join_next().await {
            if let Ok((task, Err(error))) = end {
                tracing::error!(task, error, "failed while it stopped");
            }
        }
    }
}
