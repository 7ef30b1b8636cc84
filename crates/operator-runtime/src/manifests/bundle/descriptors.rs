//! The types of a bundle: those that the project defines, with descriptors of their fields, and those that it needs.

use std::collections::BTreeSet;

use kube::api::ApiResource;
use serde_json::{Value, json};

use super::{
    Declarations,
    base::{Base, entries, overlay},
    text,
};

/// The API groups that every cluster has, beside those without a dot.
const BUILT_IN: [&str; 16] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// What `customresourcedefinitions` of a ClusterServiceVersion holds.
pub(super) fn definitions(
    crds: &[Value],
    declarations: &Declarations,
    base: &Base,
) -> Result<Value, String> {
    let of_base = &base.csv["spec"]["customresourcedefinitions"];
    let mut owned = Vec::new();
    for crd in crds {
        for version in entries(&crd["spec"]["versions"]) {
            owned.push(definition(crd, version, declarations));
        }
    }
    let others = overlay(&mut owned, entries(&of_base["owned"]), &["name", "version"]);
    if let [other, ..] = &*others {
        return Err(format!(
            "`{}` describes version `{}` of `{}`, which the project does not define",
            base.path.display(),
            text(&other["version"]),
            text(&other["name"]),
        ));
    }
    let mut required = required(crds, &declarations.watched);
    let others = overlay(&mut required, entries(&of_base["required"]), &["name"]);
    required.extend(others);
    let mut definitions = json!({});
    for (field, list) in [("owned", owned), ("required", required)] {
        if !list.is_empty() {
            definitions[field] = Value::Array(list);
        }
    }
    Ok(definitions)
}

/// The types of others that controllers watch.
fn required(crds: &[Value], watched: &[ApiResource]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut required = Vec::new();
    for resource in watched {
        let name = format!("{}.{}", resource.plural, resource.group);
        let built_in = !resource.group.contains('.') || BUILT_IN.contains(&&*resource.group);
        let own = crds.iter().any(|crd| crd["metadata"]["name"] == *name);
        if built_in || own || !seen.insert(name.clone()) {
            continue;
        }
        let kind = &resource.kind;
        required.push(json!({
            "name": name,
            "version": resource.version,
            "kind": kind,
            "displayName": words(kind),
            "description": format!("The operator watches objects of kind {kind}."),
        }));
    }
    required
}

fn definition(crd: &Value, version: &Value, declarations: &Declarations) -> Value {
    let (spec, schema) = (&crd["spec"], &version["schema"]["openAPIV3Schema"]);
    let kind = text(&spec["names"]["kind"]);
    let description = text(&schema["description"]).trim();
    let mut definition = json!({
        "name": crd["metadata"]["name"],
        "version": version["name"],
        "kind": kind,
        "displayName": words(kind),
        "description": if description.is_empty() { kind } else { description },
    });
    let is_it = |resource: &ApiResource| {
        spec["group"] == *resource.group && spec["names"]["plural"] == *resource.plural
    };
    let children = declarations
        .owned
        .iter()
        .filter(|(primary, _)| is_it(primary));
    let mut resources: Vec<_> = children
        .map(|(_, child)| (&child.kind, &child.version, child))
        .map(|(kind, version, child)| {
            // A type of a CRD has its name here, and one of Kubernetes has none.
            let core = !child.group.contains('.') || BUILT_IN.contains(&&*child.group);
            let name = if core {
                String::new()
            } else {
                format!("{}.{}", child.plural, child.group)
            };
            json!({ "kind": kind, "name": name, "version": version })
        })
        .collect();
    resources.sort_by_key(Value::to_string);
    resources.dedup();
    if !resources.is_empty() {
        definition["resources"] = Value::Array(resources);
    }
    for part in ["spec", "status"] {
        let properties = schema["properties"][part]["properties"].as_object();
        let descriptors = properties.into_iter().flatten();
        let descriptors: Vec<_> = descriptors
            .map(|(name, schema)| descriptor(name, schema, part == "status"))
            .collect();
        if !descriptors.is_empty() {
            definition[format!("{part}Descriptors")] = Value::Array(descriptors);
        }
    }
    definition
}

fn descriptor(path: &str, schema: &Value, is_status: bool) -> Value {
    let mut descriptor = json!({ "path": path, "displayName": words(path) });
    let description = text(&schema["description"]).trim();
    if !description.is_empty() {
        descriptor["description"] = json!(description);
    }
    let shown = shown_as(path, schema, is_status);
    if !shown.is_empty() {
        descriptor["x-descriptors"] = json!(shown);
    }
    descriptor
}

/// How a console shows a field, as far as its name or its schema tells.
fn shown_as(name: &str, schema: &Value, is_status: bool) -> Vec<String> {
    let ui = |widget: &str| vec![format!("urn:alm:descriptor:com.tectonic.ui:{widget}")];
    let of_kubernetes = |what: &str| vec![format!("urn:alm:descriptor:io.kubernetes{what}")];
    let has = |keys: [&str; 2]| {
        keys.iter()
            .all(|key| schema["properties"][*key].is_object())
    };
    match (text(&schema["type"]), name) {
        ("array", "conditions") if is_status => of_kubernetes(".conditions"),
        ("string", "phase") if is_status => of_kubernetes(".phase"),
        (_, name) if name.ends_with("ecretName") => of_kubernetes(":Secret"),
        (_, name) if name.ends_with("onfigMapName") => of_kubernetes(":ConfigMap"),
        (_, name) if name.ends_with("erviceAccountName") => of_kubernetes(":ServiceAccount"),
        _ if is_status => Vec::new(),
        ("integer", "replicas") => ui("podCount"),
        ("object", "resources") if has(["limits", "requests"]) => ui("resourceRequirements"),
        ("string", "imagePullPolicy") => ui("imagePullPolicy"),
        ("string", _) if schema["format"] == "password" => ui("password"),
        ("string", _) if schema["enum"].is_array() => {
            let values = entries(&schema["enum"]).iter().filter_map(Value::as_str);
            values
                .flat_map(|value| ui(&format!("select:{value}")))
                .collect()
        }
        ("boolean", _) => ui("booleanSwitch"),
        ("integer" | "number", _) => ui("number"),
        ("string", _) => ui("text"),
        _ => Vec::new(),
    }
}

/// `readyReplicas` as `Ready Replicas`.
fn words(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut words = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| letters[index]);
        let after = letters.get(index + 1);
        let starts = letter.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
            });
        if starts {
            words.push(' ');
        }
        match index {
            0 => words.extend(letter.to_uppercase()),
            _ => words.push(*letter),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        for (name, expected) in [
            ("replicas", "Replicas"),
            ("readyReplicas", "Ready Replicas"),
            ("podCIDR", "Pod CIDR"),
            ("HTTPRoute", "HTTP Route"),
            ("tlsSecretName", "Tls Secret Name"),
        ] {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn fields_are_shown_as_what_they_are() {
        let string = json!({ "type": "string" });
        let resources = json!({ "type": "object", "properties": { "limits": {}, "requests": {} } });
        for (name, schema, is_status, expected) in [
            (
                "replicas",
                &json!({ "type": "integer" }),
                false,
                "com.tectonic.ui:podCount",
            ),
            ("replicas", &json!({ "type": "integer" }), true, ""),
            (
                "size",
                &json!({ "type": "integer" }),
                false,
                "com.tectonic.ui:number",
            ),
            (
                "paused",
                &json!({ "type": "boolean" }),
                false,
                "com.tectonic.ui:booleanSwitch",
            ),
            (
                "mode",
                &json!({ "type": "string", "enum": ["a"] }),
                false,
                "com.tectonic.ui:select:a",
            ),
            ("tlsSecretName", &string, false, "io.kubernetes:Secret"),
            ("image", &string, false, "com.tectonic.ui:text"),
            ("phase", &string, true, "io.kubernetes.phase"),
            (
                "conditions",
                &json!({ "type": "array" }),
                true,
                "io.kubernetes.conditions",
            ),
            (
                "resources",
                &resources,
                false,
                "com.tectonic.ui:resourceRequirements",
            ),
            ("template", &json!({ "type": "object" }), false, ""),
        ] {
            let shown = shown_as(name, schema, is_status).join(" ");
            assert_eq!(
                shown.trim_start_matches("urn:alm:descriptor:"),
                expected,
                "{name}"
            );
        }
    }
}
