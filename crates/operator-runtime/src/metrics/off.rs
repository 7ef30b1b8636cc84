//! Metrics without their feature: no metric is recorded.

mod outcome;

use std::time::Duration;

use tower::Layer;

pub(crate) use outcome::Outcome;

/// Records nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) certificate_reads: Counter,
    pub(crate) certificate_errors: Counter,
}

impl Metrics {
    pub(crate) fn controller(&self, _: &'static str, _: u16) -> ControllerMetrics {
        ControllerMetrics
    }

    pub(crate) fn queue(&self, _: &'static str) -> QueueMetrics {
        QueueMetrics
    }

    pub(crate) fn webhook(&self, _: &str) -> WebhookMetrics {
        WebhookMetrics
    }

    pub(crate) fn webhook_panics(&self) -> Counter {
        Counter
    }

    pub(crate) fn conversion_panics(&self) -> Counter {
        Counter
    }

    pub(crate) fn calls(&self, _: &str) -> Calls {
        Calls
    }

    pub(crate) fn connections(&self, _: &str) -> ConnectionMetrics {
        ConnectionMetrics
    }

    pub(crate) fn leader(&self, _: &str, _: bool) {}

    pub(crate) fn shards(&self) -> ShardMetrics {
        ShardMetrics
    }

    pub(crate) fn shared(&self, _: &'static str, _: impl Fn() -> usize + Send + Sync + 'static) {}

    pub(crate) fn certificate(
        &self,
        _: &'static str,
        _: impl Fn() -> Option<i64> + Send + Sync + 'static,
    ) {
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Counter;

impl Counter {
    pub(crate) fn inc(&self) {}
}

/// A layer that adds nothing.
#[derive(Clone, Debug)]
pub(crate) struct Calls;

impl<S> Layer<S> for Calls {
    type Service = S;

    fn layer(&self, inner: S) -> S {
        inner
    }
}

pub(crate) struct ConnectionMetrics;

impl ConnectionMetrics {
    pub(crate) fn opened(&self) {}

    pub(crate) fn ended(&self) {}

    pub(crate) fn closed(&self, _: &'static str) {}
}

pub(crate) struct ControllerMetrics;

impl ControllerMetrics {
    pub(crate) fn undecodable(&self) {}

    pub(crate) fn running(&self) -> Running {
        Running
    }

    pub(crate) fn ended(&self, _: Outcome, _: Duration) {}
}

pub(crate) struct QueueMetrics;

impl QueueMetrics {
    pub(crate) fn added(&self) {}

    pub(crate) fn depths(&self, _: impl Iterator<Item = (i32, usize)>) {}

    pub(crate) fn waited(&self, _: Duration) {}

    pub(crate) fn retried(&self) {}

    pub(crate) fn work(&self) -> Work {
        Work
    }
}

#[derive(Clone, Debug)]
pub(crate) struct WebhookMetrics;

impl WebhookMetrics {
    pub(crate) fn begin(&self) -> Running {
        Running
    }
}

/// Work on one object.
pub(crate) struct Work;

/// A running reconcile or request.
pub(crate) struct Running;

impl Running {
    pub(crate) fn answered(self, _: u16) {}
}

#[derive(Clone, Debug)]
pub(crate) struct ShardMetrics;

impl ShardMetrics {
    pub(crate) fn slots(&self, _: usize, _: usize, _: usize) {}

    pub(crate) fn started(&self, _: Duration, _: Duration) {}

    pub(crate) fn dealt(&self, _: usize, _: usize) {}
}
