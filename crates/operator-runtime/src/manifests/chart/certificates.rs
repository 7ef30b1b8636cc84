//! The certificate of the webhooks, wherever it comes from.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{super::environment, deployment};

pub struct Certificates {
    /// The Secret of the certificate that the manager makes by itself.
    pub managed: Option<String>,
    /// The Secret of the certificate that it mounts.
    pub mounted: Option<String>,
    /// The kinds and names of the issuers and Certificates that sign the mounted one, and nothing else.
    authority: BTreeSet<(String, String)>,
}

impl Certificates {
    /// The certificate that this Deployment uses.
    pub fn new<'a>(objects: impl Iterator<Item = &'a Value>, deployment: &Value) -> Self {
        let container = deployment::container(deployment).unwrap_or(&Value::Null);
        let secret = deployment::certificate_volume(container).and_then(|volume| {
            let volumes = &deployment["spec"]["template"]["spec"]["volumes"];
            named(volumes, &volume)?["secret"]["secretName"].as_str()
        });
        let managed = named(&container["env"], "WEBHOOK_SECRET");
        let mut certificates = Self {
            managed: managed
                .and_then(|variable| environment::value(variable, deployment))
                .map(str::to_owned),
            mounted: secret.map(str::to_owned),
            authority: BTreeSet::new(),
        };
        let all: Vec<_> = objects.filter(|object| of_cert_manager(object)).collect();
        let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
        for object in all.iter().filter(|object| certificates.is_mounted(object)) {
            sign(object, &all, &mut own);
        }
        for object in &all {
            if !own.contains(&id(object)) && !certificates.is_mounted(object) {
                sign(object, &all, &mut others);
            }
        }
        certificates.authority = own.difference(&others).cloned().collect();
        certificates
    }

    /// Whether a client verifies the certificate by this TLS configuration of a ServiceMonitor.
    pub fn is_verified(&self, tls: &Value) -> bool {
        let secret = tls["ca"]["secret"]["name"].as_str();
        secret.is_some() && [self.managed.as_deref(), self.mounted.as_deref()].contains(&secret)
    }

    /// Whether the object is the Certificate whose Secret the manager mounts.
    pub fn is_mounted(&self, object: &Value) -> bool {
        let secret = object["spec"]["secretName"].as_str();
        of_cert_manager(object) && secret.is_some() && secret == self.mounted.as_deref()
    }

    /// Whether the object is only there to sign that Certificate.
    pub fn is_authority(&self, object: &Value) -> bool {
        of_cert_manager(object) && self.authority.contains(&id(object))
    }
}

fn of_cert_manager(object: &Value) -> bool {
    let api = object["apiVersion"].as_str();
    api.is_some_and(|api| api.starts_with("cert-manager.io/"))
}

fn id(object: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// Adds what signs a Certificate: its issuer, the Certificate of that issuer's CA, and what signs that one.
fn sign(certificate: &Value, all: &[&Value], found: &mut BTreeSet<(String, String)>) {
    let name = &certificate["spec"]["issuerRef"]["name"];
    let issuers = all.iter().filter(|object| {
        object["spec"]["secretName"].is_null() && object["metadata"]["name"] == *name
    });
    for issuer in issuers {
        if !found.insert(id(issuer)) {
            continue;
        }
        let secret = &issuer["spec"]["ca"]["secretName"];
        for ca in all {
            if secret.is_string() && ca["spec"]["secretName"] == *secret {
                found.insert(id(ca));
                sign(ca, all, found);
            }
        }
    }
}

fn named<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    list.as_array()?.iter().find(|item| item["name"] == name)
}
