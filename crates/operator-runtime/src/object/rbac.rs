//! Permissions as values: declared by controllers, and written as a role by `make manifests`.

use std::{
    any::TypeId,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::{Resource, core::ClusterResourceScope};

use crate::object::ScopedResource;

/// A verb of the Kubernetes API, or of RBAC (`bind`, `escalate`, `use`, `impersonate`). There is no
/// wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Verb {
    Bind,
    Create,
    Delete,
    DeleteCollection,
    Escalate,
    Get,
    Impersonate,
    List,
    Patch,
    Update,
    Use,
    Watch,
}

impl Verb {
    /// The verbs for a store or a watch.
    pub const READ: &[Self] = &[Self::Get, Self::List, Self::Watch];
    /// The verbs to apply owned objects and to watch them; deletion is left to garbage collection.
    pub(crate) const OWN: &[Self] = &[
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Create,
        Self::Patch,
    ];
}

/// Formats as in a role.
impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bind => "bind",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Escalate => "escalate",
            Self::Get => "get",
            Self::Impersonate => "impersonate",
            Self::List => "list",
            Self::Patch => "patch",
            Self::Update => "update",
            Self::Use => "use",
            Self::Watch => "watch",
        })
    }
}

/// A set of permissions: verbs by resource, and rules as they stand in a role.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    permissions: BTreeMap<Scope, Permission>,
    /// Without duplicates.
    others: Vec<PolicyRule>,
    /// Without duplicates, as the faults.
    notes: Vec<String>,
    faults: Vec<String>,
}

/// The target of a permission.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scope {
    group: String,
    resource: String,
    /// The object's name; `None` means all objects.
    name: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Permission {
    verbs: BTreeSet<Verb>,
    cluster_scoped: bool,
}

impl Rules {
    /// Adds `verbs` on the resource of type `K`.
    pub fn allow<K: Resource<DynamicType = ()> + 'static>(&mut self, verbs: &[Verb]) {
        self.insert(
            &K::group(&()),
            &K::plural(&()),
            cluster_scoped::<K>(),
            verbs,
        );
    }

    /// Adds `verbs` on the objects of type `K` with this name, by `resourceNames`.
    pub fn allow_named<K>(&mut self, name: &str, verbs: &[Verb])
    where
        K: Resource<DynamicType = ()> + 'static,
    {
        let scope = Scope {
            group: K::group(&()).into_owned(),
            resource: K::plural(&()).into_owned(),
            name: Some(name.to_owned()),
        };
        self.add(scope, cluster_scoped::<K>(), verbs.iter().copied());
    }

    /// Adds `verbs` on a subresource of type `K`, such as `status`.
    pub fn allow_subresource<K>(&mut self, subresource: &str, verbs: &[Verb])
    where
        K: Resource<DynamicType = ()> + 'static,
    {
        let resource = format!("{}/{subresource}", K::plural(&()));
        self.insert(&K::group(&()), &resource, cluster_scoped::<K>(), verbs);
    }

    /// Adds `verbs` on the resource of a type.
    pub fn allow_dynamic(&mut self, kind: &ScopedResource, verbs: &[Verb]) {
        let resource = &kind.resource;
        self.insert(&resource.group, &resource.plural, !kind.namespaced, verbs);
    }

    /// Adds `verbs` on a subresource of a type.
    pub fn allow_dynamic_subresource(
        &mut self,
        kind: &ScopedResource,
        subresource: &str,
        verbs: &[Verb],
    ) {
        let resource = format!("{}/{subresource}", kind.resource.plural);
        self.insert(&kind.resource.group, &resource, !kind.namespaced, verbs);
    }

    /// Adds a rule as it stands, which may have wildcards: for an operator that creates roles, and so must hold
    /// what they grant.
    pub fn allow_rule(&mut self, rule: PolicyRule) {
        if !self.others.contains(&rule) {
            self.others.push(rule);
        }
    }

    /// Adds a note for whoever runs `make manifests`, which prints it once: what these permissions may lack, because it does not
    /// follow from the code.
    pub fn note(&mut self, text: impl Into<String>) {
        add_once(&mut self.notes, text.into());
    }

    /// The notes, each once.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a fault, with which `make manifests` fails: why the permissions cannot be found out.
    pub fn fault(&mut self, text: impl Into<String>) {
        add_once(&mut self.faults, text.into());
    }

    /// The faults, each once.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Adds all permissions, notes and faults of `other`.
    pub fn extend(&mut self, other: &Self) {
        for (scope, permission) in &other.permissions {
            let verbs = permission.verbs.iter().copied();
            self.add(scope.clone(), permission.cluster_scoped, verbs);
        }
        let others = other.others.iter().cloned();
        others.for_each(|rule| self.allow_rule(rule));
        other.notes.iter().for_each(|note| self.note(note));
        other.faults.iter().for_each(|fault| self.fault(fault));
    }

    /// One rule per resource, and one per named object, sorted by group, resource and name. The verbs are
    /// sorted, too. The rules of [`allow_rule`](Self::allow_rule) follow.
    pub fn policy_rules(&self) -> Vec<PolicyRule> {
        let rule = |(scope, permission): (&Scope, &Permission)| PolicyRule {
            api_groups: Some(vec![scope.group.clone()]),
            resources: Some(vec![scope.resource.clone()]),
            resource_names: scope.name.clone().map(|name| vec![name]),
            verbs: permission.verbs.iter().map(ToString::to_string).collect(),
            ..PolicyRule::default()
        };
        let permissions = self.permissions.iter().map(rule);
        permissions.chain(self.others.iter().cloned()).collect()
    }

    /// The resources that only a ClusterRole can grant, as `plural.group`, and the paths that are no resources.
    pub fn cluster_scoped(&self) -> Vec<String> {
        let is_cluster_scoped = |(_, permission): &(_, &Permission)| permission.cluster_scoped;
        let name = |(scope, _): (&Scope, _)| match scope.group.as_str() {
            "" => scope.resource.clone(),
            group => format!("{}.{group}", scope.resource),
        };
        let permissions = self.permissions.iter().filter(is_cluster_scoped);
        let urls = self.others.iter().flat_map(|it| &it.non_resource_urls);
        let urls = urls.flatten().cloned();
        let mut names: Vec<_> = permissions.map(name).chain(urls).collect();
        names.dedup();
        names
    }

    fn insert(&mut self, group: &str, resource: &str, cluster_scoped: bool, verbs: &[Verb]) {
        let scope = Scope {
            group: group.to_owned(),
            resource: resource.to_owned(),
            name: None,
        };
        self.add(scope, cluster_scoped, verbs.iter().copied());
    }

    fn add(&mut self, scope: Scope, cluster_scoped: bool, verbs: impl Iterator<Item = Verb>) {
        let entry = self.permissions.entry(scope).or_default();
        entry.verbs.extend(verbs);
        entry.cluster_scoped |= cluster_scoped;
    }
}

fn add_once(texts: &mut Vec<String>, text: String) {
    if !texts.contains(&text) {
        texts.push(text);
    }
}

fn cluster_scoped<K: Resource<DynamicType = ()> + 'static>() -> bool {
    TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Node},
    };

    use super::*;

    fn lines(rules: &Rules) -> Vec<String> {
        let line = |rule: PolicyRule| {
            let group = rule.api_groups.unwrap().join(",");
            let resource = rule.resources.unwrap().join(",");
            let names = rule.resource_names.map(|names| names.join(","));
            let name = names.map_or(String::new(), |name| format!(" {name}"));
            format!("{group}/{resource}{name}: {}", rule.verbs.join(" "))
        };
        rules.policy_rules().into_iter().map(line).collect()
    }

    #[test]
    fn rules_are_merged_and_sorted() {
        let mut rules = Rules::default();
        rules.allow::<Deployment>(&[Verb::Watch, Verb::Get]);
        rules.allow_subresource::<Deployment>("status", &[Verb::Patch]);
        rules.allow::<ConfigMap>(&[Verb::Get]);
        let mut others = Rules::default();
        others.allow::<Deployment>(&[Verb::Get, Verb::Create]);
        rules.extend(&others);
        assert_eq!(
            lines(&rules),
            [
                "/configmaps: get",
                "apps/deployments: create get watch",
                "apps/deployments/status: patch",
            ]
        );
    }

    #[test]
    fn cluster_scoped_resources_are_told_apart() {
        let mut rules = Rules::default();
        rules.allow::<ConfigMap>(&[Verb::Get]);
        assert!(rules.cluster_scoped().is_empty());
        rules.allow::<Node>(&[Verb::Get]);
        rules.allow_named::<Node>("a", &[Verb::Patch]);
        assert_eq!(rules.cluster_scoped(), ["nodes"]);
    }

    #[test]
    fn rules_that_stand_in_a_role_are_last_and_once() {
        let other = PolicyRule {
            api_groups: Some(vec!["*".to_owned()]),
            resources: Some(vec!["*".to_owned()]),
            verbs: vec!["*".to_owned()],
            ..PolicyRule::default()
        };
        let mut rules = Rules::default();
        rules.allow_rule(other.clone());
        rules.allow::<ConfigMap>(&[Verb::Get]);
        let mut others = Rules::default();
        others.allow_rule(other);
        rules.extend(&others);
        assert_eq!(lines(&rules), ["/configmaps: get", "*/*: *"]);
    }

    #[test]
    fn notes_and_faults_are_kept_once_and_in_order() {
        let mut rules = Rules::default();
        rules.note("b");
        let mut others = Rules::default();
        others.note("a");
        others.note("b");
        others.fault("c");
        rules.extend(&others);
        rules.extend(&others);
        assert_eq!(rules.notes(), ["b", "a"]);
        assert_eq!(rules.faults(), ["c"]);
        assert!(lines(&rules).is_empty());
    }

    #[test]
    fn an_object_that_is_named_has_a_rule_of_its_own() {
        let mut rules = Rules::default();
        rules.allow_named::<ConfigMap>("b", &[Verb::Watch]);
        rules.allow_named::<ConfigMap>("b", &[Verb::List]);
        rules.allow::<ConfigMap>(&[Verb::Create]);
        let mut others = Rules::default();
        others.allow_named::<ConfigMap>("a", &[Verb::Get]);
        rules.extend(&others);
        assert_eq!(
            lines(&rules),
            [
                "/configmaps: create",
                "/configmaps a: get",
                "/configmaps b: list watch"
            ]
        );
    }
}
