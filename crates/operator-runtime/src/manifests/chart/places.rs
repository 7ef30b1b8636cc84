//! Where the template of an object is, and under which condition the chart creates it.

use serde_json::Value;

use super::{Manager, optional::Optional};

/// The file of a template, below `templates/`, and its condition.
pub struct Place {
    pub path: String,
    pub condition: Option<String>,
}

const METRICS: &str = ".Values.metrics.enabled";
const WEBHOOKS: &str = ".Values.webhooks.enabled";
const MONITOR: &str = ".Values.metrics.serviceMonitor.enabled";
const POLICY: &str = ".Values.networkPolicy.enabled";

/// Where the certificate is the one that the project makes.
pub const CERTIFIED: &str =
    "and .Values.webhooks.enabled (not .Values.webhooks.certificate.existingSecret)";

impl Manager {
    /// The place of an object of `config/default`, or of another part of `config/`.
    pub fn place(&self, object: &Value, part: Option<Optional>) -> Place {
        let kind = object["kind"].as_str().unwrap_or_default();
        let api = object["apiVersion"].as_str().unwrap_or_default();
        let group = api.split_once('/').map_or("", |(group, _)| group);
        let bare = self.names.bare(object);
        let condition = match part {
            Some(Optional::Prometheus) => Some(format!("and {METRICS} {MONITOR}")),
            Some(Optional::NetworkPolicy) => Some(self.of_feature(POLICY, bare)),
            None => self.condition(group, object),
        };
        let path = match (group, kind) {
            ("apps", "Deployment") if bare == "controller-manager" => "deployment".to_owned(),
            ("", "ServiceAccount") if bare == "controller-manager" => "serviceaccount".to_owned(),
            ("policy", _) if bare == "controller-manager" => kind.to_lowercase(),
            ("apiextensions.k8s.io", _) => format!("crds/{bare}"),
            ("rbac.authorization.k8s.io", _) => format!("rbac/{}", stem(bare)),
            ("", "Service") if bare == "webhook-service" => "webhooks/service".to_owned(),
            ("", "Service") if bare == "metrics" => "metrics/service".to_owned(),
            ("", "Secret") if self.is_managed(object) => "webhooks/certificate".to_owned(),
            ("admissionregistration.k8s.io" | "cert-manager.io", _) => format!("webhooks/{bare}"),
            ("monitoring.coreos.com", _) => format!("metrics/{bare}"),
            ("networking.k8s.io", "NetworkPolicy") => format!("network-policies/{bare}"),
            _ => format!("others/{}-{bare}", kind.to_lowercase()),
        };
        // A name may contain a colon, which Windows does not allow in paths.
        let path = format!("{}.yaml", path.replace(':', "_"));
        Place { path, condition }
    }

    /// The condition of an object of `config/default`, if a value can turn it off.
    fn condition(&self, group: &str, object: &Value) -> Option<String> {
        let kind = object["kind"].as_str().unwrap_or_default();
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let stem = stem(self.names.bare(object));
        // A value that is not set leaves them on.
        let unless_off = |value: &str| format!("ne (toString {value}) \"false\"");
        let condition = match (group, kind) {
            ("", "ServiceAccount") if name == self.names.account => {
                ".Values.serviceAccount.create".to_owned()
            }
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                ".Values.crds.enabled".to_owned()
            }
            ("rbac.authorization.k8s.io", _) if stem == "webhook-certificate" && self.webhooks => {
                CERTIFIED.to_owned()
            }
            ("rbac.authorization.k8s.io", _)
                if ["metrics-auth", "metrics-reader"].contains(&stem) =>
            {
                METRICS.to_owned()
            }
            ("admissionregistration.k8s.io", _) if self.serves(object) => WEBHOOKS.to_owned(),
            ("", "Service") if targets(object, "webhook-server") && self.webhooks => {
                WEBHOOKS.to_owned()
            }
            ("", "Service") if targets(object, "metrics") => METRICS.to_owned(),
            ("", "Secret") if self.is_managed(object) => CERTIFIED.to_owned(),
            ("cert-manager.io", _) if self.certificates.is_mounted(object) => CERTIFIED.to_owned(),
            ("cert-manager.io", _) if self.certificates.is_authority(object) => {
                format!("{CERTIFIED} (not .Values.webhooks.certificate.issuerRef)")
            }
            ("monitoring.coreos.com", _) => format!("and {METRICS} ({})", unless_off(MONITOR)),
            ("networking.k8s.io", "NetworkPolicy") => {
                self.of_feature(&unless_off(POLICY), self.names.bare(object))
            }
            _ => return None,
        };
        Some(condition)
    }

    /// The condition of a network policy, which needs the feature that it opens a port for.
    fn of_feature(&self, policy: &str, bare: &str) -> String {
        match bare {
            "allow-metrics-traffic" => format!("and {METRICS} ({policy})"),
            "allow-webhook-traffic" if self.webhooks => format!("and {WEBHOOKS} ({policy})"),
            _ => policy.to_owned(),
        }
    }

    /// Whether the object is the Secret of the certificate that the manager makes by itself.
    fn is_managed(&self, object: &Value) -> bool {
        let name = object["metadata"]["name"].as_str();
        self.webhooks && name.is_some() && name == self.certificates.managed.as_deref()
    }

    /// Whether the object tells the API server to call the manager's webhooks.
    pub fn serves(&self, object: &Value) -> bool {
        let webhooks = object["webhooks"].as_array();
        let clients = webhooks
            .into_iter()
            .flatten()
            .map(|webhook| &webhook["clientConfig"]);
        let conversion = &object["spec"]["conversion"]["webhook"]["clientConfig"];
        let mut clients = clients.chain([conversion]);
        let service = format!("{}webhook-service", self.names.prefix);
        self.webhooks && clients.any(|client| client["service"]["name"] == *service)
    }
}

/// The name that a role and its binding share.
fn stem(name: &str) -> &str {
    let stem = name.strip_suffix("-rolebinding");
    stem.or(name.strip_suffix("-role")).unwrap_or(name)
}

fn targets(service: &Value, port: &str) -> bool {
    let ports = service["spec"]["ports"].as_array();
    ports.is_some_and(|ports| ports.iter().any(|found| found["targetPort"] == port))
}
