//! The declaration of a webhook, without its function.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::{
    api::admissionregistration::v1::MatchCondition,
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kube::{
    Resource,
    core::{GroupVersionKind, GroupVersionResource},
};

use super::{
    CONVERT, FailurePolicy, MatchPolicy, NAMESPACE_NAME, OWN_NAMESPACE, Operation,
    ReinvocationPolicy, SideEffects,
};

/// The purpose of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Changes the object.
    Defaulting,
    /// Allows or denies the change.
    Validating,
}

/// A webhook without its function.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) purpose: Purpose,
    /// The type of the objects.
    pub(crate) kind: GroupVersionKind,
    /// The resource in requests, without subresources.
    pub(crate) resource: GroupVersionResource,
    pub(crate) operations: Vec<Operation>,
    pub(crate) subresources: Vec<String>,
    pub(crate) path: String,
    /// The first label of the name.
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

    /// The selector of namespaces, which begins with no condition.
    pub(crate) fn namespace_selector(&mut self) -> &mut LabelSelector {
        self.namespace_selector.get_or_insert_default()
    }

    /// Sets the resource in requests to that of `P`.
    pub(crate) fn parent<P: Resource<DynamicType = ()>>(&mut self) {
        let (group, version) = (P::group(&()), P::version(&()));
        self.resource = GroupVersionResource::gvr(&group, &version, &P::plural(&()));
    }

    /// The webhook's name for the API server: a domain name of at least three labels.
    pub(crate) fn name(&self) -> String {
        let GroupVersionKind {
            group,
            version,
            kind,
        } = &self.kind;
        let group = if group.is_empty() {
            "core.k8s.io"
        } else {
            group
        };
        format!("{}.{}.{version}.{group}", self.label, kind.to_lowercase())
    }

    /// The group and the kind of the objects.
    pub(crate) fn group_kind(&self) -> (&str, &str) {
        (&self.kind.group, &self.kind.kind)
    }

    /// Whether `other` is the same webhook for `version`.
    pub(crate) fn is_same_in(&self, other: &Self, version: &str) -> bool {
        self.kind.version == version
            && self.group_kind() == other.group_kind()
            && self.purpose == other.purpose
            && self.resource.resource == other.resource.resource
            && self.operations == other.operations
            && self.subresources == other.subresources
            && self.match_conditions == other.match_conditions
            && self.namespace_selector == other.namespace_selector
            && self.object_selector == other.object_selector
    }

    /// Whether a label other than the namespace's name is compared with what kustomize replaces everywhere.
    fn names_own_namespace_elsewhere(&self) -> bool {
        let expressions = self.namespace_selector.iter();
        let expressions = expressions.flat_map(|selector| selector.match_expressions.iter());
        expressions.flatten().any(|expression| {
            let mut values = expression.values.iter().flatten();
            expression.key != NAMESPACE_NAME && values.any(|value| value == OWN_NAMESPACE)
        })
    }

    /// Checks the declaration for the API server and the operator.
    fn check(&self) -> Result<(), String> {
        let seconds = self.timeout.as_secs();
        let parts = self.path.strip_prefix('/').unwrap_or_default().split('/');
        let is_part = |part: &str| {
            let mut bytes = part.bytes();
            !part.is_empty() && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        let deletes = self.operations.contains(&Operation::Delete);
        let wrong = if self.path != "/" && !parts.into_iter().all(is_part) {
            "its path is not a `/` followed by letters, digits, `-`, `_` and further `/`"
        } else if self.path == CONVERT {
            "its path is reserved for conversion"
        } else if self.operations.is_empty() {
            "it has no operations"
        } else if self.purpose == Purpose::Defaulting && deletes {
            "a deleted object cannot be defaulted"
        } else if self.purpose == Purpose::Validating && self.reinvocation.is_some() {
            "only a defaulting webhook has a reinvocation policy"
        } else if self.timeout.subsec_nanos() > 0 || !(1..=30).contains(&seconds) {
            "its timeout is not in whole seconds from 1 to 30"
        } else if self.names_own_namespace_elsewhere() {
            "kustomize would replace the value `system` of its namespace selector by the operator's namespace"
        } else {
            return Ok(());
        };
        Err(format!(
            "webhook `{}` at `{}`: {wrong}",
            self.name(),
            self.path
        ))
    }
}

/// Checks each declaration, and all of them together.
///
/// # Errors
/// The reason, for the author of the declarations.
pub(crate) fn check<'a>(
    declarations: impl IntoIterator<Item = &'a Declaration>,
) -> Result<(), String> {
    let (mut paths, mut names) = (BTreeSet::new(), BTreeSet::new());
    for declaration in declarations {
        declaration.check()?;
        let (path, name) = (&declaration.path, declaration.name());
        if !paths.insert(path) {
            return Err(format!(
                "two webhooks have the path `{path}`: give one of them another `.path(..)`"
            ));
        }
        if !names.insert(name.clone()) {
            return Err(format!(
                "two webhooks have the name `{name}`: give one of them another `.name(..)`"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::{apps::v1::Deployment, autoscaling::v1::Scale, core::v1::Pod},
        apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement,
    };

    use super::*;

    #[test]
    fn paths_are_those_of_kubebuilder_and_names_are_domains() {
        let validating = Declaration::of::<Deployment>(Purpose::Validating);
        assert_eq!(validating.path, "/validate-apps-v1-deployment");
        assert_eq!(validating.name(), "validate.deployment.v1.apps");
        let defaulting = Declaration::of::<Pod>(Purpose::Defaulting);
        assert_eq!(defaulting.path, "/mutate--v1-pod");
        assert_eq!(defaulting.name(), "default.pod.v1.core.k8s.io");
        let mut scale = Declaration::of::<Scale>(Purpose::Validating);
        scale.parent::<Deployment>();
        assert_eq!(scale.path, "/validate-autoscaling-v1-scale");
        assert_eq!(
            scale.resource,
            GroupVersionResource::gvr("apps", "v1", "deployments")
        );
        assert_eq!(
            scale.kind,
            GroupVersionKind::gvk("autoscaling", "v1", "Scale")
        );
    }

    /// Excludes the namespaces whose label `key` is `system`.
    fn select(declaration: &mut Declaration, key: &str) {
        let requirement = LabelSelectorRequirement {
            key: key.to_owned(),
            operator: "NotIn".to_owned(),
            values: Some(vec![OWN_NAMESPACE.to_owned()]),
        };
        let selector = declaration.namespace_selector();
        selector.match_expressions = Some(vec![requirement]);
    }

    #[test]
    fn an_invalid_declaration_is_reported() {
        type Change = fn(&mut Declaration);
        let cases: [(Purpose, Change, &str); 16] = [
            (Purpose::Validating, |_| (), ""),
            (Purpose::Validating, |d| d.path = "/".into(), ""),
            (Purpose::Validating, |d| d.path = "/a-B_1/c".into(), ""),
            (
                Purpose::Validating,
                |d| d.path = String::new(),
                "its path is not a `/`",
            ),
            (
                Purpose::Validating,
                |d| d.path = "a".into(),
                "its path is not a `/`",
            ),
            (
                Purpose::Validating,
                |d| d.path = "/a//b".into(),
                "its path is not a `/`",
            ),
            (
                Purpose::Validating,
                |d| d.path = "/{a}".into(),
                "its path is not a `/`",
            ),
            (
                Purpose::Validating,
                |d| d.path = "/convert".into(),
                "reserved for conversion",
            ),
            (
                Purpose::Validating,
                |d| d.operations.clear(),
                "no operations",
            ),
            (Purpose::Validating, |d| select(d, NAMESPACE_NAME), ""),
            (
                Purpose::Validating,
                |d| select(d, "tier"),
                "replace the value `system`",
            ),
            (
                Purpose::Validating,
                |d| d.timeout = Duration::from_secs(31),
                "whole seconds",
            ),
            (
                Purpose::Validating,
                |d| d.timeout = Duration::from_millis(1500),
                "whole seconds",
            ),
            (
                Purpose::Validating,
                |d| d.timeout = Duration::ZERO,
                "whole seconds",
            ),
            (
                Purpose::Validating,
                |d| d.reinvocation = Some(ReinvocationPolicy::Never),
                "only a defaulting webhook",
            ),
            (
                Purpose::Defaulting,
                |d| d.operations.push(Operation::Delete),
                "cannot be defaulted",
            ),
        ];
        for (purpose, change, expected) in cases {
            let mut declaration = Declaration::of::<Pod>(purpose);
            change(&mut declaration);
            let error = check([&declaration]).err().unwrap_or_default();
            assert!(error.contains(expected), "{error}: {expected}");
            assert_eq!(error.is_empty(), expected.is_empty(), "{error}");
        }
    }

    #[test]
    fn no_two_have_the_same_path_or_name() {
        let one = Declaration::of::<Pod>(Purpose::Validating);
        let mut other = one.clone();
        let both = |other: &Declaration| check([&one, other]).err().unwrap_or_default();
        assert!(both(&other).contains("the path `/validate--v1-pod`"));
        other.path = "/other".to_owned();
        assert!(both(&other).contains("the name `validate.pod.v1.core.k8s.io`"));
        other.label = "other".to_owned();
        assert_eq!(both(&other), "");
    }
}
