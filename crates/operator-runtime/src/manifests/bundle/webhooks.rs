//! The webhooks of a bundle. OLM creates their configurations, the Service and the certificate.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    base::{Base, entries},
    certificates, text,
};
use crate::manager::WatchScope;

/// The kinds of configurations, with the type of their webhooks in a bundle, and with their resource.
const CONFIGURATIONS: [(&str, &str, &str); 2] = [
    (
        "MutatingWebhookConfiguration",
        "MutatingAdmissionWebhook",
        "mutatingwebhookconfigurations",
    ),
    (
        "ValidatingWebhookConfiguration",
        "ValidatingAdmissionWebhook",
        "validatingwebhookconfigurations",
    ),
];

/// The fields of a webhook that a bundle holds, too.
const FIELDS: [&str; 8] = [
    "admissionReviewVersions",
    "failurePolicy",
    "matchPolicy",
    "objectSelector",
    "reinvocationPolicy",
    "rules",
    "sideEffects",
    "timeoutSeconds",
];

/// The groups that OLM protects from webhooks.
const PROTECTED: [&str; 2] = ["*", "operators.coreos.com"];

#[derive(Default)]
pub(super) struct Webhooks {
    pub(super) definitions: Vec<Value>,
    /// What OLM creates instead, as `resource/name`.
    pub(super) left_out: BTreeSet<String>,
}

/// Where a webhook is answered.
struct Server {
    service: String,
    deployment: String,
    port: Value,
    target: Value,
}

/// Takes the webhook configurations and everything about their certificates out of the objects.
pub(super) fn take(
    objects: &mut Vec<Value>,
    deployments: &mut [Value],
    scope: WatchScope,
    base: &Base,
) -> Result<Webhooks, String> {
    let mut webhooks = Webhooks::default();
    let mut servers = Vec::new();
    for (kind, type_, resource) in CONFIGURATIONS {
        for configuration in super::take(objects, kind) {
            let name = text(&configuration["metadata"]["name"]);
            webhooks.left_out.insert(format!("{resource}/{name}"));
            for webhook in entries(&configuration["webhooks"]) {
                let name = text(&webhook["name"]);
                let server = server(name, &webhook["clientConfig"], objects, deployments)?;
                check(webhook, base)?;
                let mut definition = definition(name, type_, &webhook["clientConfig"], &server);
                for field in FIELDS.iter().filter(|field| !webhook[**field].is_null()) {
                    definition[*field] = webhook[*field].clone();
                }
                webhooks.definitions.push(definition);
                servers.push(server);
            }
        }
    }
    for crd in objects.iter() {
        let (name, conversion) = (text(&crd["metadata"]["name"]), &crd["spec"]["conversion"]);
        if conversion["strategy"] != "Webhook" {
            continue;
        }
        if scope == WatchScope::Namespaces {
            return Err(format!(
                "OLM cannot install the conversion webhook of `{name}`, because the project is namespaced: the CRD is \
                 converted for the whole cluster\n\
                 help: `operator-forge edit --namespaced=false` makes the project watch all namespaces"
            ));
        }
        let webhook = &conversion["webhook"];
        let shown = format!("convert.{name}");
        let server = server(&shown, &webhook["clientConfig"], objects, deployments)?;
        let mut definition = definition(
            &shown,
            "ConversionWebhook",
            &webhook["clientConfig"],
            &server,
        );
        definition["admissionReviewVersions"] = webhook["conversionReviewVersions"].clone();
        definition["conversionCRDs"] = json!([name]);
        definition["sideEffects"] = json!("None");
        webhooks.definitions.push(definition);
        servers.push(server);
    }
    for wanted in base.list("webhookdefinitions") {
        let is_it = |definition: &&mut Value| definition["generateName"] == wanted["generateName"];
        let Some(definition) = webhooks.definitions.iter_mut().find(is_it) else {
            return Err(format!(
                "`{}` lists the webhook `{}`, which the project does not have",
                base.path.display(),
                text(&wanted["generateName"])
            ));
        };
        for (field, value) in wanted.as_object().into_iter().flatten() {
            definition[field] = value.clone();
        }
    }
    for server in &servers {
        objects.retain(|object| {
            object["kind"] != "Service" || object["metadata"]["name"] != server.service
        });
        let deployment = deployments.iter_mut();
        let mut deployment = deployment.filter(|one| one["metadata"]["name"] == server.deployment);
        if let Some(deployment) = deployment.next() {
            let replaced = certificates::mount(deployment, &server.target, objects);
            webhooks.left_out.extend(replaced);
        }
    }
    Ok(webhooks)
}

/// The Deployment behind the Service of a webhook.
fn server(
    webhook: &str,
    client: &Value,
    objects: &[Value],
    deployments: &[Value],
) -> Result<Server, String> {
    let asked = &client["service"];
    let of_name = |object: &&Value| {
        object["kind"] == "Service" && object["metadata"]["name"] == asked["name"]
    };
    let service = objects.iter().find(of_name).ok_or_else(|| {
        format!("the webhook `{webhook}` is not served by a Service of `config/default`, and OLM knows no other webhooks")
    })?;
    let selector = service["spec"]["selector"].as_object();
    let selects = |deployment: &&Value| {
        let labels = &deployment["spec"]["template"]["metadata"]["labels"];
        selector.is_some_and(|selector| selector.iter().all(|(key, value)| labels[key] == *value))
    };
    let name = text(&service["metadata"]["name"]);
    let deployment = deployments.iter().find(selects).ok_or_else(|| {
        format!("the Service `{name}` of the webhook `{webhook}` selects no Deployment of `config/default`")
    })?;
    let wanted = asked["port"].as_u64().unwrap_or(443);
    let port = entries(&service["spec"]["ports"])
        .iter()
        .find(|port| port["port"] == wanted);
    let port = port.ok_or_else(|| format!("the Service `{name}` has no port {wanted}"))?;
    let target = [&port["targetPort"], &port["port"]]
        .into_iter()
        .find(|port| !port.is_null());
    Ok(Server {
        service: name.to_owned(),
        deployment: text(&deployment["metadata"]["name"]).to_owned(),
        port: port["port"].clone(),
        target: target.cloned().unwrap_or_default(),
    })
}

fn definition(name: &str, type_: &str, client: &Value, server: &Server) -> Value {
    json!({
        "generateName": name,
        "type": type_,
        "deploymentName": server.deployment,
        "containerPort": server.port,
        "targetPort": server.target,
        "webhookPath": client["service"]["path"],
    })
}

/// Checks that OLM sends the webhook the requests that it is declared for.
fn check(webhook: &Value, base: &Base) -> Result<(), String> {
    let name = text(&webhook["name"]);
    for rule in entries(&webhook["rules"]) {
        for group in entries(&rule["apiGroups"]) {
            if PROTECTED.contains(&text(group)) {
                let group = text(group);
                return Err(format!(
                    "OLM refuses the webhook `{name}`, because it is for the API group `{group}`"
                ));
            }
        }
    }
    let in_base = |definition: &Value| definition["generateName"] == name;
    if base.list("webhookdefinitions").iter().any(in_base) {
        return Ok(());
    }
    for field in ["namespaceSelector", "matchConditions"] {
        if !webhook[field].is_null() {
            return Err(format!(
                "a bundle cannot contain the `{field}` of the webhook `{name}`\n\
                 note: OLM would have it asked in every namespace that the operator watches, `kube-system` among them\n\
                 help: confirm that by adding the webhook to `spec.webhookdefinitions` of `{}`, with the fields that it \
                 needs there, such as\n    \
                 - generateName: {name}\n      \
                 failurePolicy: Ignore",
                base.path.display()
            ));
        }
    }
    Ok(())
}
