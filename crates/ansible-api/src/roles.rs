//! What the roles grant that tasks create, and whose roles they bind.

use std::collections::BTreeSet;

use crate::{
    place::Place,
    scope::{Found, Scope, UNKNOWN},
    yaml::{Node, Value},
};

/// A rule of a role that a task creates. Who creates the role has to hold these rights, or `escalate`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Grant {
    pub api_groups: Vec<String>,
    pub resources: Vec<String>,
    pub verbs: Vec<String>,
    /// Empty if the rule is for all objects, or if the names come from variables.
    pub resource_names: Vec<String>,
    pub non_resource_urls: Vec<String>,
    /// Whether the role is a ClusterRole.
    pub is_cluster_wide: bool,
    /// The role in words, such as ``ClusterRole in roles/app/tasks/main.yml:3 (task `create`)``.
    pub role: String,
}

/// How many rules and names are kept.
const MOST: usize = 5_000;

/// What the roles and bindings say.
#[derive(Default)]
pub struct Roles {
    grants: BTreeSet<Grant>,
    /// The kind and name of each role that is bound, the name as it stands there, and what binds it.
    bound: BTreeSet<(String, String, String, String)>,
    /// The roles that tasks create: their kinds, and their names as they stand there.
    own: BTreeSet<(String, String)>,
    notes: BTreeSet<String>,
}

/// The texts of a list, and whether all are known.
fn texts(rule: &Node, key: &str, scope: &Scope<'_>) -> (Vec<String>, bool) {
    let mut texts = BTreeSet::new();
    for list in rule.all(key) {
        for found in scope.nodes(list) {
            match found {
                Found::Node(node) if matches!(node.value, Value::List(_)) => {
                    texts.extend(node.items().iter().flat_map(|it| scope.texts(it)));
                }
                Found::Node(node) if node.is_empty() => {}
                _ => {
                    texts.insert(UNKNOWN.to_string());
                }
            }
        }
    }
    let is_known = !texts.iter().any(|it| it.contains(UNKNOWN));
    (texts.into_iter().collect(), is_known)
}

impl Roles {
    /// Adds an object of the group `rbac.authorization.k8s.io`.
    pub fn add(&mut self, object: &Node, kind: &str, scope: &Scope<'_>, place: &Place) {
        match kind {
            "Role" | "ClusterRole" => {
                let name = object.get("metadata").and_then(|it| it.get("name"));
                let name = name.and_then(Node::text).unwrap_or_default();
                if self.own.len() < MOST {
                    self.own.insert((kind.to_owned(), name.to_owned()));
                }
                if object
                    .get("aggregationRule")
                    .is_some_and(|it| !it.is_empty())
                {
                    self.notes.insert(format!(
                        "{place}: the {kind} has an aggregationRule: the API server takes it only from an operator that may escalate \
                         ClusterRoles, which is as much as to be an administrator."
                    ));
                }
                for rules in object.all("rules") {
                    for found in scope.nodes(rules) {
                        match found {
                            Found::Node(it) if matches!(it.value, Value::List(_)) => {
                                for rule in it.items() {
                                    self.rule(rule, kind, scope, place);
                                }
                            }
                            Found::Node(it) if it.is_empty() => {}
                            _ => self.open(kind, place),
                        }
                    }
                }
            }
            "RoleBinding" | "ClusterRoleBinding" => {
                for reference in object.all("roleRef") {
                    let kinds = reference.get("kind").map(|it| scope.texts(it));
                    let Some(name) = reference.get("name") else {
                        continue;
                    };
                    let written = name.text().unwrap_or_default();
                    for role in kinds.unwrap_or_default() {
                        for name in scope.texts(name) {
                            if self.bound.len() < MOST {
                                let by = format!("{place}: a {kind}");
                                self.bound
                                    .insert((role.clone(), name, written.to_owned(), by));
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, kind: &str, place: &Place) {
        self.notes.insert(format!(
            "{place}: a {kind} takes rules from variables: the operator has to hold them itself, by `.needs::<Kind>(&[Verb::…])` at \
             the controller, or the API server refuses it."
        ));
    }

    fn rule(&mut self, rule: &Node, kind: &str, scope: &Scope<'_>, place: &Place) {
        let mut is_known = rule.text().is_none_or(str::is_empty);
        let mut take = |key| {
            let (texts, all) = texts(rule, key, scope);
            is_known &= all;
            texts
        };
        let mut grant = Grant {
            api_groups: take("apiGroups"),
            resources: take("resources"),
            verbs: take("verbs"),
            resource_names: Vec::new(),
            non_resource_urls: take("nonResourceURLs"),
            is_cluster_wide: kind == "ClusterRole",
            role: format!("{kind} in {place}"),
        };
        if !is_known {
            self.open(kind, place);
            return;
        }
        // A name from a variable is no bound: another object has another one.
        let (names, all) = texts(rule, "resourceNames", scope);
        let is_literal = |it: &Node| {
            it.items()
                .iter()
                .all(|it| it.text().is_some_and(|it| !it.contains('{')))
        };
        if all && rule.all("resourceNames").all(is_literal) {
            grant.resource_names = names;
        }
        if !grant.verbs.is_empty() && self.grants.len() < MOST {
            self.grants.insert(grant);
        }
    }

    /// What they grant, sorted.
    pub fn grants(&self) -> Vec<Grant> {
        self.grants.iter().cloned().collect()
    }

    /// The roles that are bound and that no task creates, sorted, and what could not be found out.
    pub fn bound(&self) -> (Vec<(String, String)>, BTreeSet<String>) {
        let mut notes = self.notes.clone();
        let mut bound = BTreeSet::new();
        for (kind, name, written, by) in &self.bound {
            let is_own = |name: &String| self.own.contains(&(kind.clone(), name.clone()));
            if is_own(name) || is_own(written) {
                continue;
            }
            if kind.contains(UNKNOWN) || name.contains(UNKNOWN) {
                notes.insert(format!(
                    "{by} binds a role whose name comes from variables: the operator needs what that role grants, or the verb `bind` on it, \
                     by `.needs_named::<ClusterRole>(\"…\", &[Verb::Bind])` at the controller."
                ));
            } else {
                bound.insert((kind.clone(), name.clone()));
            }
        }
        (bound.into_iter().collect(), notes)
    }
}
