//! Who asks the API server for what.

use std::sync::{Mutex, MutexGuard, PoisonError};

use k8s_openapi::api::authentication::v1::UserInfo;
use kube::core::{GroupVersionKind, GroupVersionResource};
use serde::Deserialize;
use serde_json::Value;

/// What is done to an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)]
pub enum Operation {
    #[default]
    Create,
    Update,
    Delete,
    /// Such as `kubectl exec`. What is sent, such as `PodExecOptions`, takes the place of an object
    /// that is created.
    Connect,
}

/// The request that the API server has to answer, beside its object.
#[derive(Debug)]
pub struct Request {
    /// What is done.
    pub operation: Operation,
    /// The object; empty if the API server is to make up its name.
    pub name: String,
    /// Where the object is; none for cluster-scoped types. A new object may not say so itself yet.
    pub namespace: Option<String>,
    /// The part of the object, such as `status`.
    pub sub_resource: Option<String>,
    /// Who asks.
    pub user: UserInfo,
    /// Whether nothing will be stored, so that nothing else may change either.
    pub dry_run: bool,
    /// The type of the object that the webhook gets.
    pub kind: GroupVersionKind,
    /// The resource of that type.
    pub resource: GroupVersionResource,
    /// The options of the operation, such as a `DeleteOptions`; null if there are none.
    pub options: Value,
    warnings: Mutex<Vec<String>>,
}

impl Request {
    /// Shows a warning to whoever asks, whether the request is denied or not; kubectl prints it. Better
    /// at most 120 characters; the API server cuts what is longer than 256 when there are many.
    pub fn warn(&self, text: impl Into<String>) {
        self.lock().push(text.into());
    }

    /// The warnings so far, as they will be shown.
    pub fn warnings(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A creation by nobody of nothing, for tests.
impl Default for Request {
    fn default() -> Self {
        Self {
            operation: Operation::Create,
            name: String::new(),
            namespace: None,
            sub_resource: None,
            user: UserInfo::default(),
            dry_run: false,
            kind: GroupVersionKind::gvk("", "", ""),
            resource: GroupVersionResource::gvr("", "", ""),
            options: Value::Null,
            warnings: Mutex::default(),
        }
    }
}
