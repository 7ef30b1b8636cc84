//! The tasks of a manager.

use std::{any::Any, error::Error, panic::AssertUnwindSafe};

use futures::{FutureExt, future::BoxFuture};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{client::fence::in_every_replica, error::panic_message};

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

/// Runnables that stop together.
#[derive(Default)]
pub(crate) struct Group {
    tasks: JoinSet<(String, Result<(), TaskError>)>,
    stop: CancellationToken,
}

type Panic = Box<dyn Any + Send>;

/// The name of a runnable that ended, and its error.
pub(crate) type Ended = (String, Option<TaskError>);

impl Group {
    pub(crate) fn start(&mut self, runnable: Runnable) {
        let Runnable {
            name,
            needs_leadership,
            run,
        } = runnable;
        let stop = self.stop.clone();
        let run = AssertUnwindSafe(async move { run(stop).await }).catch_unwind();
        let task = async move {
            let panicked =
                |panic: Panic| Err(format!("panicked: {}", panic_message(&*panic)).into());
            (name, run.await.unwrap_or_else(panicked))
        };
        match needs_leadership {
            true => self.tasks.spawn(task),
            false => self.tasks.spawn(in_every_replica(task)),
        };
    }

    /// Waits for the first runnable that ends; never returns without runnables.
    pub(crate) async fn ended(&mut self) -> Ended {
        match self.tasks.join_next().await {
            Some(Ok((name, result))) => (name, result.err()),
            // Unreachable: panics are caught, and nothing is aborted.
            Some(Err(error)) => ("a task".to_owned(), Some(error.into())),
            None => std::future::pending().await,
        }
    }

    /// Cancels all runnables, and waits until they have ended.
    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        while let Some(end) = self.tasks.join_next().await {
            if let Ok((task, Err(error))) = end {
                tracing::error!(task, error, "task failed during shutdown");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use futures::future::{pending, ready};

    use super::*;

    fn group(runnables: impl IntoIterator<Item = Runnable>) -> Group {
        let mut group = Group::default();
        runnables
            .into_iter()
            .for_each(|runnable| group.start(runnable));
        group
    }

    async fn panics(_: CancellationToken) -> Result<(), TaskError> {
        panic!("at the disco");
    }

    #[tokio::test]
    async fn the_first_that_ends_is_named_with_its_error() {
        let fails = || ready(Err("broken".into()));
        for (runnable, error) in [
            (Runnable::new("task", false, |_| ready(Ok(()))), None),
            (
                Runnable::new("task", true, move |_| fails()),
                Some("broken"),
            ),
            (
                Runnable::new("task", false, panics),
                Some("panicked: at the disco"),
            ),
        ] {
            let waits = Runnable::new("waits", false, |_| pending());
            let (name, found) = group([waits, runnable]).ended().await;
            assert_eq!(name, "task");
            assert_eq!(found.map(|error| error.to_string()).as_deref(), error);
        }
    }

    #[tokio::test]
    async fn nothing_ends_where_nothing_runs() {
        assert!(Group::default().ended().now_or_never().is_none());
    }

    #[tokio::test]
    async fn a_stop_waits_for_every_end() {
        let ended = Arc::new(AtomicBool::new(false));
        let end = ended.clone();
        let slow = Runnable::new("slow", false, |stop| async move {
            stop.cancelled().await;
            tokio::task::yield_now().await;
            end.store(true, Ordering::Relaxed);
            Err("too late to matter".into())
        });
        group([slow, Runnable::new("panics", false, panics)])
            .stop()
            .await;
        assert!(ended.load(Ordering::Relaxed));
    }
}
