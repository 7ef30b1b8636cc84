//! Leader election without its feature: this replica always leads.

use std::{convert::Infallible, future::pending, time::Duration};

use kube::Client;
use tokio::sync::watch;

use crate::client::fence::Fence;

/// A candidate, which does not exist without the feature.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) lease: String,
    pub(crate) timing: Timing,
    pub(crate) shards: Option<Infallible>,
}

#[derive(Clone, Debug)]
pub(crate) struct Timing(Infallible);

impl Timing {
    pub(crate) fn margin(&self) -> Duration {
        match self.0 {}
    }

    pub(crate) fn never(&self) -> &Infallible {
        &self.0
    }
}

/// Leadership that is always held.
#[derive(Clone, Debug)]
pub(crate) struct Leadership;

impl Leadership {
    pub(crate) fn always() -> Self {
        Self
    }

    pub(crate) async fn acquired(&self) {}

    pub(crate) fn lost(&self) -> &Self {
        self
    }

    /// Never returns.
    pub(crate) async fn cancelled(&self) {
        pending().await
    }

    pub(crate) fn leads(&self) -> watch::Receiver<bool> {
        watch::channel(true).1
    }
}

#[derive(Debug)]
pub(crate) struct Election(Infallible);

impl Election {
    pub(crate) fn start(_: Client, candidate: Candidate, _: Fence) -> Self {
        match candidate.timing.0 {}
    }

    pub(crate) fn leadership(&self) -> Leadership {
        match self.0 {}
    }

    pub(crate) async fn release(self) {
        match self.0 {}
    }
}
