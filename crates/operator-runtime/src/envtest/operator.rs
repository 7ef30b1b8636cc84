//! An operator as it will run in a cluster.

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

/// Why an operator ended before it was stopped.
pub(super) fn ended(thread: JoinHandle<Result<()>>) -> Error {
    match thread.join() {
        Ok(Err(error)) => error,
        Ok(Ok(())) => anyhow!("the operator ended"),
        Err(_) => anyhow!("the operator panicked"),
    }
}

impl Operator {
    /// A client that is the operator. It belongs to the tokio runtime that it is made in.
    ///
    /// # Errors
    /// If the client cannot be made.
    pub fn client(&self) -> Result<Client> {
        Ok(Client::try_from(self.config.clone())?)
    }

    /// The permissions that the operator has and has not used yet, such as
    /// `patch widgets.example.com/status`.
    ///
    /// Not those on `finalizers`: no request asks for them; the API server does when somebody makes
    /// the deletion of an owner wait.
    pub fn unused(&self) -> Vec<String> {
        self.record.unused(&self.rules)
    }

    /// What the API server has refused to the operator, in its words, because that is not declared.
    pub fn refused(&self) -> Vec<String> {
        self.record.refused()
    }

    /// Whether the API server has asked a defaulting webhook of this operator about an object of this
    /// type and name. Else, what a test sees came from the schema, or from nobody.
    pub fn asked_to_default<K: Resource<DynamicType = ()>>(&self, object: &K) -> bool {
        self.asked.has(Task::Default, object)
    }

    /// As [`asked_to_default`](Self::asked_to_default), of a validating webhook.
    pub fn asked_to_validate<K: Resource<DynamicType = ()>>(&self, object: &K) -> bool {
        self.asked.has(Task::Validate, object)
    }

    /// Whether the API server has asked this operator to convert an object of this name to the version of
    /// the type `K`.
    pub fn asked_to_convert<K: Resource<DynamicType = ()>>(&self, object: &K) -> bool {
        self.asked.has(Task::Convert, object)
    }

    /// Stops the operator as SIGTERM would, and waits until it has ended.
    ///
    /// # Errors
    /// If the operator failed, or was [refused](Self::refused) something.
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
