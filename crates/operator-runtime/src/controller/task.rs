//! Tasks beside a controller.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::{error::TaskError, runnable::Runnable};

type Run<C> = dyn Fn(Arc<C>, CancellationToken) -> Running + Send + Sync;
type Running = BoxFuture<'static, Result<(), TaskError>>;

/// A task that shares the context `C` of a controller.
pub(crate) struct Task<C> {
    name: &'static str,
    needs_leadership: bool,
    run: Box<Run<C>>,
}

impl<C: Send + Sync + 'static> Task<C> {
    pub(super) fn new<F, Fut, E>(name: &'static str, needs_leadership: bool, run: F) -> Self
    where
        F: Fn(Arc<C>, CancellationToken) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<TaskError>,
    {
        let run = move |context, stop| {
            let run = run(context, stop);
            async move { run.await.map_err(Into::into) }.boxed()
        };
        Self {
            name,
            needs_leadership,
            run: Box::new(run),
        }
    }

    pub(crate) fn with(self, context: Arc<C>) -> Runnable {
        let run = self.run;
        Runnable::new(self.name, self.needs_leadership, move |stop| {
            run(context, stop)
        })
    }
}
