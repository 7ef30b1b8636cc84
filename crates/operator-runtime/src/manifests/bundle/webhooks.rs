//! The webhooks of a bundle. OLM creates their configurations, the Service and the certificate.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    base::{Base, entries, overlay},
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

pub(super) struct Webhooks {
    pub(super) definitions: Vec<Value>,
    /// What OLM creates instead, as `resource/name`.
    pub(super) left_out: BTreeSet<String>,
}

/// Takes the webhook configurations and everything about their certificates out of the objects.
pub(super) fn take(
    objects: &mut Vec<Value>,
    deployments: &mut [Value],
    scope: WatchScope,
    base: &Base,
) -> Result<Webhooks, String> {
    let mut left_out = BTreeSet::new();
    let mut all = Vec::new();
    for (kind, type_, resource) in CONFIGURATIONS {
        for configuration in super::take(objects, kind) {
            let name = text(&configuration["metadata"]["name"]);
            left_out.insert(format!("{resource}/{name}"));
            for webhook in entries(&configuration["webhooks"]) {
                check(webhook, base)?;
                let fields = FIELDS.iter().filter(|field| !webhook[**field].is_null());
                let mut definition: Value = fields
                    .map(|field| (*field, webhook[*field].clone()))
                    .collect();
                definition["generateName"] = webhook["name"].clone();
                definition["type"] = json!(type_);
                all.push((definition, webhook["clientConfig"].clone()));
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
        let definition = json!({
            "generateName": format!("convert.{name}"),
            "type": "ConversionWebhook",
            "admissionReviewVersions": webhook["conversionReviewVersions"],
            "conversionCRDs": [name],
            "sideEffects": "None",
        });
        all.push((definition, webhook["clientConfig"].clone()));
    }

    let mut definitions = Vec::new();
    let mut services = BTreeSet::new();
    for (mut definition, client) in all {
        serve(&mut definition, &client, objects, deployments)?;
        services.insert(text(&client["service"]["name"]).to_owned());
        for deployment in deployments.iter_mut() {
            if deployment["metadata"]["name"] == definition["deploymentName"] {
                let port = &definition["targetPort"];
                left_out.extend(certificates::mount(deployment, port, objects));
            }
        }
        definitions.push(definition);
    }
    let is_left = |service: &Value| services.contains(text(&service["metadata"]["name"]));
    objects.retain(|object| object["kind"] != "Service" || !is_left(object));

    let others = overlay(
        &mut definitions,
        base.list("webhookdefinitions"),
        &["generateName"],
    );
    if let [other, ..] = &*others {
        return Err(format!(
            "`{}` lists the webhook `{}`, which the project does not have",
            base.path.display(),
            text(&other["generateName"])
        ));
    }
    Ok(Webhooks {
        definitions,
        left_out,
    })
}

/// Sets where a webhook is answered: the Deployment behind its Service, with the ports and the path.
fn serve(
    definition: &mut Value,
    client: &Value,
    objects: &[Value],
    deployments: &[Value],
) -> Result<(), String> {
    let webhook = text(&definition["generateName"]);
    let asked = &client["service"];
    let is_asked = |object: &&Value| {
        object["kind"] == "Service" && object["metadata"]["name"] == asked["name"]
    };
    let service = objects.iter().find(is_asked).ok_or_else(|| {
        format!("the webhook `{webhook}` is not served by a Service of `config/default`, and OLM knows no other webhooks")
    })?;
    let spec = &service["spec"];
    let selects = |deployment: &&Value| {
        let labels = &deployment["spec"]["template"]["metadata"]["labels"];
        let mut selector = spec["selector"].as_object().into_iter().flatten();
        selector.all(|(key, value)| labels[key] == *value)
    };
    let name = text(&asked["name"]);
    let deployment = deployments.iter().find(selects).ok_or_else(|| {
        format!("the Service `{name}` of the webhook `{webhook}` selects no Deployment of `config/default`")
    })?;
    let wanted = asked["port"].as_u64().unwrap_or(443);
    let port = entries(&spec["ports"])
        .iter()
        .find(|port| port["port"] == wanted)
        .ok_or_else(|| format!("the Service `{name}` has no port {wanted}"))?;
    definition["deploymentName"] = deployment["metadata"]["name"].clone();
    definition["containerPort"] = port["port"].clone();
    definition["targetPort"] = port.get("targetPort").unwrap_or(&port["port"]).clone();
    definition["webhookPath"] = asked["path"].clone();
    Ok(())
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
