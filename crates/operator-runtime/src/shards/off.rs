//! Shards without leader election, which they need: there are none.

use std::{convert::Infallible, time::Duration};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    cache::Shards,
    client::{Clients, fence::Fence},
    error::ElectionError,
    leader::Candidate,
    metrics::ShardMetrics,
    server::probes::Readiness,
};

pub(crate) struct Membership(Infallible);

#[derive(Default)]
pub(crate) struct Progress;

impl Progress {
    pub(crate) fn show(&self, _: &Readiness, _: &str, _: Shards) {}
}

impl Membership {
    pub(crate) fn start(
        _: &Clients,
        candidate: &Candidate,
        _: Shards,
        _: Fence,
        _: watch::Receiver<bool>,
        _: ShardMetrics,
        _: Progress,
    ) -> Result<Self, ElectionError> {
        match *candidate.timing.never() {}
    }

    pub(crate) fn lost(&self) -> &CancellationToken {
        match self.0 {}
    }

    pub(crate) async fn leave(&mut self, _: Duration) {
        match self.0 {}
    }

    pub(crate) async fn release(self) {
        match self.0 {}
    }
}
