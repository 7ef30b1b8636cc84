//! The certificate of the webhooks. OLM issues it, mounts it into the Pods, and sets every `caBundle`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{super::environment, base::entries, containers, list, remove_empty, text};

/// The directory in which OLM mounts `tls.crt` and `tls.key`.
const DIRECTORY: &str = "/tmp/k8s-webhook-server/serving-certs";

const PATH: &str = "--webhook-cert-path";

/// The flags that choose another certificate. Those of the self-managed one also have variables.
const FLAGS: [&str; 7] = [
    PATH,
    "--webhook-cert-name",
    "--webhook-cert-key",
    "--webhook-secret",
    "--webhook-service",
    "--webhook-mutating-configuration",
    "--webhook-validating-configuration",
];
const VARIABLES: [&str; 4] = [
    "WEBHOOK_SECRET",
    "WEBHOOK_SERVICE",
    "WEBHOOK_MUTATING_CONFIGURATION",
    "WEBHOOK_VALIDATING_CONFIGURATION",
];

/// Makes the container that serves `port` read OLM's certificate, and takes the objects that provide another one out of
/// `objects`. Returns these and the other objects that the operator does not write to any more, as `resource/name`.
pub(super) fn mount(
    deployment: &mut Value,
    port: &Value,
    objects: &mut Vec<Value>,
) -> BTreeSet<String> {
    let serves = |container: &Value| {
        let mut ports = entries(&container["ports"]).iter();
        ports.any(|one| one["name"] == *port || one["containerPort"] == *port)
    };
    let before = deployment.clone();
    let Some(container) = containers(deployment).find(|container| serves(container)) else {
        return BTreeSet::new();
    };
    let mut secrets = BTreeSet::new();
    let mut left_out = BTreeSet::new();
    let mut variables = Vec::new();
    if let Some(all) = list(container, "env") {
        let of_certificate = |one: &mut Value| VARIABLES.contains(&text(&one["name"]));
        variables.extend(all.extract_if(.., of_certificate));
    }
    let secret = variables.iter().filter(|one| one["name"] == VARIABLES[0]);
    let secret = secret.filter_map(|variable| environment::value(variable, &before));
    secrets.extend(secret.map(str::to_owned));
    if !secrets.is_empty() {
        // Only an operator that issues its certificate writes to the CRDs.
        let crds = objects
            .iter()
            .filter(|object| object["kind"] == "CustomResourceDefinition");
        left_out.extend(crds.map(|crd| {
            format!(
                "customresourcedefinitions/{}",
                text(&crd["metadata"]["name"])
            )
        }));
    }
    let mut paths = vec![DIRECTORY.to_owned()];
    let mut args = Vec::new();
    let mut given = entries(&container["args"]).iter();
    while let Some(arg) = given.next() {
        let (flag, value) = match text(arg).split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (text(arg), None),
        };
        if !FLAGS.contains(&flag) {
            args.push(arg.clone());
            continue;
        }
        let value = value.unwrap_or_else(|| given.next().map_or("", text));
        match flag {
            PATH => paths.push(value.to_owned()),
            "--webhook-secret" => _ = secrets.insert(value.to_owned()),
            _ => {}
        }
    }
    args.push(json!(format!("{PATH}={DIRECTORY}")));
    container["args"] = Value::Array(args);
    let annotations = deployment.pointer_mut("/spec/template/metadata/annotations");
    if let Some(Value::Object(annotations)) = annotations {
        for key in variables.iter().filter_map(environment::annotation) {
            annotations.remove(key);
        }
    }
    secrets.extend(unmount(deployment, &paths));
    remove(objects, &secrets);
    left_out.extend(secrets.iter().map(|name| format!("secrets/{name}")));
    left_out
}

/// Removes what is mounted at the paths, and returns the names of the Secrets.
fn unmount(deployment: &mut Value, paths: &[String]) -> Vec<String> {
    let mut unmounted = BTreeSet::new();
    for container in containers(deployment) {
        let Some(mounts) = list(container, "volumeMounts") else {
            continue;
        };
        let removed = mounts.extract_if(.., |mount| {
            paths.iter().any(|path| mount["mountPath"] == **path)
        });
        unmounted.extend(removed.map(|mount| text(&mount["name"]).to_owned()));
        remove_empty(container, "volumeMounts");
    }
    let pod = &mut deployment["spec"]["template"]["spec"];
    for list in ["containers", "initContainers"] {
        for mount in entries(&pod[list])
            .iter()
            .flat_map(|container| entries(&container["volumeMounts"]))
        {
            unmounted.remove(text(&mount["name"]));
        }
    }
    let Some(volumes) = list(pod, "volumes") else {
        return Vec::new();
    };
    let unused = volumes.extract_if(.., |volume| unmounted.contains(text(&volume["name"])));
    let secrets =
        unused.filter_map(|volume| volume["secret"]["secretName"].as_str().map(str::to_owned));
    let secrets = secrets.collect();
    remove_empty(pod, "volumes");
    secrets
}

/// Removes the Secrets, and the objects of cert-manager that fill them.
fn remove(objects: &mut Vec<Value>, secrets: &BTreeSet<String>) {
    let mut secrets = secrets.clone();
    let mut issuers = BTreeSet::new();
    loop {
        let before = objects.len();
        objects.retain(|object| {
            let (name, spec) = (text(&object["metadata"]["name"]), &object["spec"]);
            match text(&object["kind"]) {
                "Secret" => !secrets.contains(name),
                "Certificate" if secrets.contains(text(&spec["secretName"])) => {
                    issuers.insert(text(&spec["issuerRef"]["name"]).to_owned());
                    false
                }
                "Issuer" if issuers.contains(name) => {
                    secrets.insert(text(&spec["ca"]["secretName"]).to_owned());
                    false
                }
                _ => true,
            }
        });
        if objects.len() == before {
            return;
        }
    }
}
