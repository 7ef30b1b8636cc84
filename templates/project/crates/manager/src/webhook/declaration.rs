//! What the API server is told of a webhook.

use std::time::Duration;

use k8s_openapi::{
    api::admissionregistration::v1::MatchCondition,
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kube::{
    Resource,
    core::{GroupVersionKind, GroupVersionResource},
};

use super::Operation;

/// What a webhook may do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Change it.
    Defaulting,
    /// Deny its change.
    Validating,
}

/// What happens when a webhook gives no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The request fails.
    Fail,
    /// The request goes on as if there were no webhook.
    Ignore,
}

/// Which versions of a type a webhook is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchPolicy {
    /// All; objects are converted to the webhook's version.
    Equivalent,
    /// Only its own.
    Exact,
}

/// Whether a webhook changes anything but its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideEffects {
    /// It does not.
    None,
    /// It does, but never for a [dry run](super::Request::dry_run).
    NoneOnDryRun,
}

/// Whether a defaulting webhook is asked again when others changed the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReinvocationPolicy {
    /// It is not.
    Never,
    /// It is, at least once.
    IfNeeded,
}

/// A webhook without its function.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) purpose: Purpose,
    /// What objects are.
    pub(crate) kind: GroupVersionKind,
    /// What requests name, without sub-resources.
    pub(crate) resource: GroupVersionResource,
    pub(crate) operations: Vec<Operation>,
    pub(crate) subresources: Vec<String>,
    pub(crate) path: String,
    /// The first part of the name.
    pub(crate) label: String,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) timeout: Duration,
    pub(crate) match_policy: Option<MatchPolicy>,
    pub(crate) match_conditions: Vec<MatchCondition>,
    pub(crate) namespace_selector: Option<LabelSelector>,
    pub(crate) object_selector: Option<LabelSelector>,
    pub(crate) side_effects: SideEffects,
    pub(crate) reinvocation: Option<ReinvocationPolicy>,
}

impl Declaration {
    pub(crate) fn of<K: Resource<DynamicType = ()>>(purpose: Purpose) -> Self {
        let (group, version, kind) = (K::group(&()), K::version(&()), K::kind(&()));
        let (verb, label) = match purpose {
            Purpose::Defaulting => ("mutate", "default"),
            Purpose::Validating => ("validate", "validate"),
        };
        let (dashed, lower) = (group.replace('.', "-"), kind.to_lowercase());
        Self {
            purpose,
            kind: GroupVersionKind::gvk(&group, &version, &kind),
            resource: GroupVersionResource::gvr(&group, &version, &K::plural(&())),
            operations: vec![Operation::Create, Operation::Update],
            subresources: Vec::new(),
            path: format!("/{verb}-{dashed}-{version}-{lower}"),
            label: label.to_owned(),
            failure_policy: FailurePolicy::Fail,
            timeout: Duration::from_secs(10),
            match_policy: None,
            match_conditions: Vec::new(),
            namespace_selector: None,
            object_selector: None,
            side_effects: SideEffects::None,
            reinvocation: None,
        }
    }

    /// Makes `P` the type that requests name.
    pub(crate) fn parent<P: Resource<DynamicType = ()>>(&mut self) {
        let (group, version) = (P::group(&()), P::version(&()));
        self.resource = GroupVersionResource::gvr(&group, &version, &P::plural(&()));
    }
}
