// SPDX-License-Identifier: MIT

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use operator_runtime::{Action, Controller, ReconcileError};

use crate::Context;

/// The name of this controller in logs, metrics and probes.
const NAME: &str = "apps-deployment";

/// Declares the types that this controller uses. `make manifests` derives its permissions from here.
///
/// Add `.owns::<Deployment>()` for types that it creates, `.watches::<ConfigMap>(map)` for other
/// types that it depends on, and `.needs::<Secret>(&[Verb::Get])` for types that it only reads or writes.
pub fn controller() -> Controller<Deployment, Context> {
    Controller::external(NAME, reconcile)
}

/// The errors of `reconcile`. A failed reconcile is retried with exponential back-off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a call to the API server failed")]
    Kube(#[from] kube::Error),
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Kube(_) => "ApiCallFailed",
        }
    }
}

/// Drives the cluster toward `deployment.spec`. Runs after every change, so it must be idempotent.
async fn reconcile(deployment: Arc<Deployment>, _: Arc<Context>) -> Result<Action, Error> {
    tracing::debug!(name = deployment.name_any(), "nothing to do");
    Ok(Action::await_change())
}
