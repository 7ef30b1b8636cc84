//! What the roles of a chart grant, and whose roles it binds.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{attempt::RELEASE, shape::ANY};

/// A rule of a role of the chart. Who creates the role has to hold these rights, or `escalate`.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The rule: `apiGroups`, `resources`, `verbs`, `resourceNames` and `nonResourceURLs`, as far as it has them, sorted.
    pub rule: Value,
    /// Whether the role is a ClusterRole.
    pub is_cluster_wide: bool,
    /// The role in words, such as `ClusterRole in templates/rbac.yaml`.
    pub role: String,
}

/// How many rules and names are kept of roles.
const MOST: usize = 5_000;

/// What the roles and bindings of a chart say.
#[derive(Default)]
pub struct Roles {
    grants: BTreeSet<(String, bool, String)>,
    /// Roles by kind and name. If the name is not written in a template, with what binds it.
    bound: BTreeSet<(String, String, Option<String>)>,
    /// The roles that the chart brings.
    own: BTreeSet<(String, String)>,
    notes: BTreeSet<String>,
}

fn texts(of: &Value, key: &str) -> Vec<String> {
    let items = of.get(key).and_then(Value::as_array);
    let texts = items.into_iter().flatten().filter_map(Value::as_str);
    let texts: BTreeSet<String> = texts.map(str::to_owned).collect();
    texts.into_iter().collect()
}

impl Roles {
    /// Adds an object. `is_written` says whether a name stands in the texts of the chart, so that no value changes it.
    pub fn add(&mut self, object: &Value, template: &str, is_written: &dyn Fn(&str) -> bool) {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        if !text("/apiVersion")
            .unwrap_or_default()
            .starts_with("rbac.authorization.k8s.io/")
        {
            return;
        }
        let kind = text("/kind").unwrap_or_default();
        match kind {
            "Role" | "ClusterRole" => {
                let name = text("/metadata/name").unwrap_or_default();
                if self.own.len() < MOST {
                    self.own.insert((kind.to_owned(), name.to_owned()));
                }
                if object
                    .get("aggregationRule")
                    .is_some_and(|it| !it.is_null())
                {
                    self.notes.insert(format!(
                        "The {kind} in {template} has an aggregationRule: the API server takes it only from an operator that may escalate \
                         ClusterRoles, which is as much as to be an administrator."
                    ));
                }
                let rules = object.get("rules").and_then(Value::as_array);
                for rule in rules.into_iter().flatten() {
                    self.rule(rule, kind, template, is_written);
                }
            }
            "RoleBinding" | "ClusterRoleBinding" => {
                let of = |key| {
                    text(&format!("/roleRef/{key}"))
                        .unwrap_or_default()
                        .to_owned()
                };
                let (role, name) = (of("kind"), of("name"));
                // Names with these come from what was tried.
                let is_ours = name.contains(ANY) || name.contains(RELEASE);
                if !name.is_empty() && !is_ours && self.bound.len() < MOST {
                    let is_fixed = is_written(&name);
                    let by = (!is_fixed).then(|| format!("{kind} in {template}"));
                    self.bound.insert((role, name, by));
                }
            }
            _ => {}
        }
    }

    fn rule(
        &mut self,
        rule: &Value,
        kind: &str,
        template: &str,
        is_written: &dyn Fn(&str) -> bool,
    ) {
        let mut kept = Map::new();
        for key in ["apiGroups", "resources", "verbs", "nonResourceURLs"] {
            let texts = texts(rule, key);
            if texts.iter().any(|it| it.contains(ANY)) {
                let note = format!("A {kind} in {template} takes rules from values.");
                self.notes.insert(note);
                return;
            }
            if !texts.is_empty() {
                kept.insert(key.to_owned(), texts.into());
            }
        }
        // A name that another release or other values change is no bound.
        let names = texts(rule, "resourceNames");
        let is_fixed =
            |name: &String| is_written(name) && !name.contains(ANY) && !name.contains(RELEASE);
        if !names.is_empty() && names.iter().all(is_fixed) {
            kept.insert("resourceNames".to_owned(), names.into());
        }
        if self.grants.len() == MOST {
            let note = format!("The chart has more than {MOST} rules in roles.");
            self.notes.insert(note);
        } else if kept.contains_key("verbs") {
            let role = format!("{kind} in {template}");
            let rule = Value::Object(kept).to_string();
            self.grants.insert((rule, kind == "ClusterRole", role));
        }
    }

    /// What they grant, sorted.
    pub fn grants(&self) -> Vec<Grant> {
        let grants = self.grants.iter();
        let grants = grants.filter_map(|(rule, is_cluster_wide, role)| {
            Some(Grant {
                rule: serde_json::from_str(rule).ok()?,
                is_cluster_wide: *is_cluster_wide,
                role: role.clone(),
            })
        });
        grants.collect()
    }

    fn foreign(&self) -> impl Iterator<Item = &(String, String, Option<String>)> {
        let bound = self.bound.iter();
        bound.filter(|(kind, name, _)| !self.own.contains(&(kind.clone(), name.clone())))
    }

    /// The roles that are bound and that the chart does not bring, also those that only its own values name.
    pub fn bound(&self) -> Vec<(String, String)> {
        let foreign = self.foreign();
        let mut roles: Vec<_> = foreign
            .map(|(kind, name, _)| (kind.clone(), name.clone()))
            .collect();
        roles.dedup();
        roles
    }

    /// What could not be found out.
    pub fn notes(&self) -> BTreeSet<String> {
        let open = self.foreign().filter_map(|(kind, name, by)| {
            let by = by.as_ref()?;
            Some(format!(
                "A {by} binds a {kind} whose name comes from values, such as {name:?}."
            ))
        });
        open.chain(self.notes.iter().cloned()).collect()
    }
}
