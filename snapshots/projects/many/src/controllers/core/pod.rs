// SPDX-License-Identifier: MIT

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use operator_runtime::{Action, Controller, ReconcileError};

use crate::Context;

/// What logs, metrics and probes call this controller.
const NAME: &str = "core-pod";

/// What this controller watches. `make manifests` derives its permissions from the same list.
///
/// Name what it creates with `.owns::<Deployment>()`, what else it depends on with
/// `.watches::<ConfigMap>(map)`, and what it only reads or writes with
/// `.needs::<Secret>(&[Verb::Get])`.
pub fn controller() -> Controller<Pod, Context> {
    Controller::external(NAME, reconcile)
}

/// Why reconciling failed. It is tried again, after a longer time each time.
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

/// Brings the cluster closer to what `object` wants. Called after every change, so idempotent.
async fn reconcile(object: Arc<Pod>, _: Arc<Context>) -> Result<Action, Error> {
    tracing::debug!(name = object.name_any(), "nothing to do");
    Ok(Action::await_change())
}
