//! A running operator under test.

use std::thread::JoinHandle;

use anyhow::{Context as _, Error, Result, anyhow, ensure};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::{Client, Config, Resource};
use tokio_util::sync::CancellationToken;

use super::record::Record;
use crate::webhook::asked::{Asked, Task};

/// An operator that runs on threads of its own. Dropping it stops it as SIGTERM would.
#[derive(Debug)]
pub struct Operator {
    pub(super) config: Config,
    pub(super) rules: Vec<PolicyRule>,
    pub(super) record: Record,
    pub(super) asked: Asked,
    pub(super) stop: CancellationToken,
    pub(super) thread: Option<JoinHandle<Result<()>>>,
}

/// The reason why an operator ended before it was stopped.
pub(super) fn ended(thread: JoinHandle<Result<()>>) -> Error {
    match thread.join() {
        Ok(Err(error)) => error,
        Ok(Ok(())) => anyhow!("the operator ended"),
        Err(_) => anyhow!("the operator panicked"),
    }
}

impl Operator {
    /// A client with the operator's identity. It belongs to the tokio runtime in which it is created.
    ///
    /// # Errors
    /// If the client cannot be made.
    pub fn client(&self) -> Result<Client> {
        Ok(Client::try_from(self.config.clone())?)
    }

    /// The unused permissions of the operator, such as `patch widgets.example.com/status`.
    ///
    /// Permissions on `finalizers` are left out: no request uses them. The API server checks them for owner
    /// references with `blockOwnerDeletion`.
    pub fn unused(&self) -> Vec<String> {
        self.record.unused(&self.rules)
    }

    /// The API server's messages for refused (403) requests of the operator, whose permissions are not
    /// declared.
    pub fn refused(&self) -> Vec<String> {
        self.record.refused()
    }

    /// Whether the API server has called a defaulting webhook of this operator for an object of this type
    /// and name. If not, the defaults came from the schema, or there are none.
    pub fn defaulted<K: Resource<DynamicType = ()>>(&self, object: &K) -> bool {
        self.asked.has(Task::Default, object)
    }

    /// Like [`defaulted`](Self::defaulted), for a validating webhook.
    pub fn validated<K: Resource<DynamicType = ()>>(&self, object: &K) -> bool {
        self.asked.has(Task::Validate, object)
    }

    /// Whether the API server has called this operator to convert an object of this name to the version of
    /// `K`.
    pub fn converted<K: Resource<DynamicType = ()>>(&self, object: &K) -> bool {
        self.asked.has(Task::Convert, object)
    }

    /// Stops the operator as SIGTERM would, and waits until it has ended.
    ///
    /// # Errors
    /// If the operator failed, or the API server [refused](Self::refused) a request.
    pub fn stop(mut self) -> Result<()> {
        self.stop.cancel();
        let thread = self.thread.take().context("stopped twice")?;
        thread
            .join()
            .map_err(|_| anyhow!("the operator panicked"))??;
        let refused = self.refused();
        ensure!(
            refused.is_empty(),
            "the operator was refused:\n{}",
            refused.join("\n")
        );
        Ok(())
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}
