//! The permissions of the Deployments' ServiceAccounts. OLM creates the accounts, their roles and the bindings, from rules.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{base::entries, list, text};

/// The kinds of bindings, with the field of an install strategy that holds their rules.
const BINDINGS: [(&str, &str); 2] = [
    ("ClusterRoleBinding", "clusterPermissions"),
    ("RoleBinding", "permissions"),
];

/// Takes the accounts, their bindings and their roles out of `objects`, and returns the fields of the install strategy.
/// Rules about objects that the bundle leaves out are dropped.
pub(super) fn take(
    objects: &mut Vec<Value>,
    deployments: &[Value],
    left_out: &BTreeSet<String>,
) -> Result<BTreeMap<&'static str, Value>, String> {
    let namespace = text(&deployments[0]["metadata"]["namespace"]).to_owned();
    let accounts = deployments.iter().map(|deployment| {
        let pod = &deployment["spec"]["template"]["spec"];
        pod["serviceAccountName"]
            .as_str()
            .unwrap_or("default")
            .to_owned()
    });
    let accounts: BTreeSet<String> = accounts.collect();
    let of_operator = |subject: &Value| {
        subject["kind"] == "ServiceAccount"
            && accounts.contains(text(&subject["name"]))
            && subject["namespace"]
                .as_str()
                .is_none_or(|its| its == namespace)
    };

    let mut taken = BTreeSet::new();
    let mut fields = BTreeMap::new();
    for (kind, field) in BINDINGS {
        let mut rules: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for binding in objects.iter().filter(|object| object["kind"] == kind) {
            let subjects = entries(&binding["subjects"]).iter();
            for subject in subjects.filter(|subject| of_operator(subject)) {
                let of_account = rules.entry(text(&subject["name"]).to_owned()).or_default();
                of_account.extend(bound(binding, objects, &namespace)?.iter().cloned());
                taken.insert(role_of(binding));
            }
        }
        let mut permissions = Vec::new();
        for (account, mut rules) in rules {
            rules.retain(|rule| !is_left_out(rule, left_out));
            if !rules.is_empty() {
                permissions.push(json!({ "serviceAccountName": account, "rules": rules }));
            }
        }
        if !permissions.is_empty() {
            fields.insert(field, Value::Array(permissions));
        }
    }

    for binding in objects.iter_mut() {
        if let Some(subjects) = list(binding, "subjects") {
            subjects.retain(|subject| !of_operator(subject));
        }
    }
    objects.retain(|object| {
        let is_account = object["kind"] == "ServiceAccount" && accounts.contains(name(object));
        !is_account && !object["subjects"].as_array().is_some_and(Vec::is_empty)
    });
    // A role that another subject has, too, stays.
    for object in objects.iter() {
        taken.remove(&role_of(object));
    }
    objects.retain(|object| {
        !taken.contains(&(text(&object["kind"]).to_owned(), name(object).to_owned()))
    });
    Ok(fields)
}

/// The rules of the role that a binding is for.
fn bound<'a>(
    binding: &Value,
    objects: &'a [Value],
    namespace: &str,
) -> Result<&'a [Value], String> {
    let shown = format!("{}/{}", text(&binding["kind"]), name(binding));
    let elsewhere = binding["metadata"]["namespace"]
        .as_str()
        .filter(|its| *its != namespace);
    if let Some(elsewhere) = elsewhere {
        return Err(format!(
            "a bundle cannot contain `{shown}`: it is in namespace `{elsewhere}`, and OLM chooses the namespaces\n\
             help: bind the role with a ClusterRoleBinding, or in the operator's namespace"
        ));
    }
    let (kind, role) = role_of(binding);
    let is_role = |object: &&Value| object["kind"] == kind && name(object) == role;
    let Some(found) = objects.iter().find(is_role) else {
        return Err(format!(
            "a bundle cannot contain `{shown}`: its role `{kind}/{role}` is not in `config/default`\n\
             help: list the rules of that role in one of your own, in `config/rbac`"
        ));
    };
    Ok(entries(&found["rules"]))
}

/// Kind and name of the role that a binding is for.
fn role_of(binding: &Value) -> (String, String) {
    let role = &binding["roleRef"];
    (
        text(&role["kind"]).to_owned(),
        text(&role["name"]).to_owned(),
    )
}

fn is_left_out(rule: &Value, left_out: &BTreeSet<String>) -> bool {
    let names = entries(&rule["resourceNames"]);
    let all = |resource: &Value| {
        let named = |name: &Value| format!("{}/{}", text(resource), text(name));
        names.iter().all(|name| left_out.contains(&named(name)))
    };
    !names.is_empty() && entries(&rule["resources"]).iter().all(all)
}

fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}
