//! Where the template of an object is, and under which condition the chart creates it.

use serde_json::Value;

use super::Manager;

/// The file of a template, below `templates/`, and its condition.
pub struct Place {
    pub path: String,
    pub condition: Option<String>,
}

impl Manager {
    /// The place of an object. `optional` is set for an object that `config/default` leaves out.
    pub fn place(&self, object: &Value, optional: bool) -> Place {
        let kind = object["kind"].as_str().unwrap_or_default();
        let api = object["apiVersion"].as_str().unwrap_or_default();
        let group = api.split_once('/').map_or("", |(group, _)| group);
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let bare = self.names.bare(object);
        let (path, condition) = match (group, kind) {
            ("apps", "Deployment") if super::deployment::container(object).is_some() => {
                ("deployment".to_owned(), None)
            }
            ("policy", "PodDisruptionBudget") if bare == "controller-manager" => {
                ("poddisruptionbudget".to_owned(), None)
            }
            ("", "ServiceAccount") if name == self.names.account => {
                let condition = ".Values.serviceAccount.create".to_owned();
                ("serviceaccount".to_owned(), Some(condition))
            }
            ("apiextensions.k8s.io", "CustomResourceDefinition") => (
                format!("crds/{name}"),
                Some(".Values.crds.enabled".to_owned()),
            ),
            ("rbac.authorization.k8s.io", _) => {
                let stem = bare
                    .strip_suffix("-rolebinding")
                    .or(bare.strip_suffix("-role"));
                let stem = stem.unwrap_or(bare);
                (format!("rbac/{stem}"), self.of_role(stem))
            }
            ("admissionregistration.k8s.io", _) if self.webhooks => {
                (format!("webhooks/{bare}"), Some(enabled()))
            }
            ("", "Service") if serves(object, "webhook-server") && self.webhooks => {
                ("webhooks/service".to_owned(), Some(enabled()))
            }
            ("", "Service") if serves(object, "metrics") => {
                let condition = ".Values.metrics.enabled".to_owned();
                ("metrics/service".to_owned(), Some(condition))
            }
            ("", "Secret") if self.managed_secret.as_deref() == Some(name) => {
                ("webhooks/certificate".to_owned(), Some(certified()))
            }
            ("cert-manager.io", _) if self.webhooks => {
                let condition = match self.is_mounted(object) {
                    true => certified(),
                    false => format!(
                        "{} (not .Values.webhooks.certificate.issuerRef)",
                        certified()
                    ),
                };
                (format!("webhooks/{bare}"), Some(condition))
            }
            ("monitoring.coreos.com", _) => {
                let on = on(".Values.metrics.serviceMonitor.enabled", optional);
                let condition = format!("and .Values.metrics.enabled {on}");
                (format!("metrics/{bare}"), Some(condition))
            }
            ("networking.k8s.io", "NetworkPolicy") => {
                let on = on(".Values.networkPolicy.enabled", optional);
                let condition = on.trim_matches(['(', ')']).to_owned();
                (format!("network-policies/{bare}"), Some(condition))
            }
            _ => {
                let path = format!("others/{}-{bare}", kind.to_lowercase());
                let condition =
                    optional.then(|| ".Values.metrics.serviceMonitor.enabled".to_owned());
                (path, condition)
            }
        };
        // A name may contain a colon, which Windows does not allow in paths.
        let path = format!("{}.yaml", path.replace(':', "_"));
        Place { path, condition }
    }

    fn of_role(&self, stem: &str) -> Option<String> {
        if self.managed_secret.is_some() && stem == "webhook-certificate" {
            return Some(certified());
        }
        stem.starts_with("metrics-")
            .then(|| ".Values.metrics.enabled".to_owned())
    }

    /// Whether the object is the Certificate whose Secret the manager mounts.
    pub fn is_mounted(&self, object: &Value) -> bool {
        let secret = object["spec"]["secretName"].as_str();
        secret.is_some() && secret == self.mounted_secret.as_deref()
    }
}

fn enabled() -> String {
    ".Values.webhooks.enabled".to_owned()
}

/// Where the certificate is the one that the project makes.
fn certified() -> String {
    let existing = ".Values.webhooks.certificate.existingSecret";
    format!("and .Values.webhooks.enabled (not {existing})")
}

/// Whether a value that may be empty is on. Empty means: like `config/default`.
fn on(value: &str, optional: bool) -> String {
    match optional {
        true => value.to_owned(),
        false => format!("(ne (toString {value}) \"false\")"),
    }
}

fn serves(service: &Value, port: &str) -> bool {
    let ports = service["spec"]["ports"].as_array();
    ports.is_some_and(|ports| ports.iter().any(|found| found["targetPort"] == port))
}
