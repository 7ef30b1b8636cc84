//! Every value of the chart: what it changes, and a wrong value that the schema refuses.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use super::Chart;
use crate::kustomize::{Objects, name};

pub(super) const CONTAINER: &str = "/spec/template/spec/containers/0";
pub(super) const POD: &str = "/spec/template/spec";

/// Fields of the manager's Deployment that a value sets: the value, its JSON, the field, and what it is then.
fn fields() -> Vec<(&'static str, Value, String, Value)> {
    let container = |field: &str| format!("{CONTAINER}/{field}");
    let pod = |field: &str| format!("{POD}/{field}");
    let labels = json!({"a": "b"});
    let tolerations = json!([{"key": "a", "operator": "Exists"}]);
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}});
    let spread =
        json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]);
    let resources = json!({"limits": {"memory": "1Gi"}});
    let secrets = json!([{"name": "pull"}]);
    let variable = json!({"name": "RUST_LOG", "value": "debug"});
    let volume = json!({"name": "ca", "configMap": {"name": "ca"}});
    let mount = json!({"name": "ca", "mountPath": "/ca", "readOnly": true});
    let digest = format!("sha256:{}", "a".repeat(64));
    let pinned = format!("controller@{digest}");
    let full = "other-controller-manager";
    vec![
        (
            "nameOverride",
            json!("other"),
            "/metadata/name".into(),
            json!("project-webhooks-other-controller-manager"),
        ),
        (
            "fullnameOverride",
            json!("other"),
            "/metadata/name".into(),
            json!(full),
        ),
        (
            "image.repository",
            json!("ghcr.io:80/me/it"),
            container("image"),
            json!("ghcr.io:80/me/it:latest"),
        ),
        (
            "image.tag",
            json!("1.2"),
            container("image"),
            json!("controller:1.2"),
        ),
        (
            "image.digest",
            json!(digest),
            container("image"),
            json!(pinned),
        ),
        (
            "image.pullPolicy",
            json!("Always"),
            container("imagePullPolicy"),
            json!("Always"),
        ),
        (
            "imagePullSecrets",
            secrets.clone(),
            pod("imagePullSecrets"),
            secrets,
        ),
        ("replicas", json!(0), "/spec/replicas".into(), json!(0)),
        (
            "resources",
            resources.clone(),
            container("resources"),
            resources,
        ),
        (
            "nodeSelector",
            labels.clone(),
            pod("nodeSelector"),
            labels.clone(),
        ),
        (
            "tolerations",
            tolerations.clone(),
            pod("tolerations"),
            tolerations,
        ),
        ("affinity", affinity.clone(), pod("affinity"), affinity),
        (
            "topologySpreadConstraints",
            spread.clone(),
            pod("topologySpreadConstraints"),
            spread,
        ),
        (
            "priorityClassName",
            json!("high"),
            pod("priorityClassName"),
            json!("high"),
        ),
        (
            "podAnnotations",
            labels.clone(),
            "/spec/template/metadata/annotations/a".into(),
            json!("b"),
        ),
        (
            "podLabels",
            labels,
            "/spec/template/metadata/labels/a".into(),
            json!("b"),
        ),
        (
            "extraArgs",
            json!(["--sync-period=1h"]),
            container("args/3"),
            json!("--sync-period=1h"),
        ),
        ("extraEnv", json!([variable]), container("env/7"), variable),
        ("extraVolumes", json!([volume]), pod("volumes/0"), volume),
        (
            "extraVolumeMounts",
            json!([mount]),
            container("volumeMounts/0"),
            mount,
        ),
        (
            "serviceAccount.name",
            json!("mine"),
            pod("serviceAccountName"),
            json!("mine"),
        ),
    ]
}

/// A wrong value for each value.
fn wrong() -> Vec<(&'static str, Value)> {
    let mut wrong = vec![
        ("nameOverride", json!("Upper")),
        ("fullnameOverride", json!("a_b")),
        ("image.repository", json!("a b")),
        ("image.tag", json!("a/b")),
        ("image.digest", json!("latest")),
        ("image.pullPolicy", json!("Sometimes")),
        ("imagePullSecrets", json!(["name"])),
        ("replicas", json!(-1)),
        ("resources", json!({"memory": "1Gi"})),
        ("nodeSelector", json!({"a": 1})),
        ("tolerations", json!([{"effect": "Never"}])),
        ("affinity", json!({"node": {}})),
        ("topologySpreadConstraints", json!([{"maxSkew": 1}])),
        ("priorityClassName", json!(1)),
        ("podAnnotations", json!({"a": true})),
        ("podLabels", json!(["a"])),
        ("extraArgs", json!("--flag")),
        ("extraEnv", json!([{"value": "a"}])),
        ("extraVolumes", json!([{"emptyDir": {}}])),
        ("extraVolumeMounts", json!([{"name": "a"}])),
        ("relatedImages", json!({"IMAGE": "a"})),
        ("serviceAccount.name", json!("A")),
        ("serviceAccount.annotations", json!({"a": null, "b": 1})),
        ("metrics.serviceMonitor.labels", json!({"a": 1})),
        ("webhooks.certificate.existingSecret", json!("A")),
        (
            "webhooks.certificate.caBundle",
            json!("-----BEGIN CERTIFICATE-----"),
        ),
        ("webhooks.certificate.issuerRef", json!({"names": "a"})),
        ("tests.image", json!("")),
        ("custom", json!("a")),
    ];
    let switches = [
        "serviceAccount.create",
        "crds.enabled",
        "crds.keep",
        "metrics.enabled",
        "metrics.serviceMonitor.enabled",
        "webhooks.enabled",
        "networkPolicy.enabled",
    ];
    wrong.extend(switches.map(|key| (key, json!("yes"))));
    wrong
}

/// The keys of `values.yaml` with a value of their own.
fn leaves(path: &str, value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                leaves(&format!("{path}.{key}"), value, all);
            }
        }
        _ => _ = all.insert(path.trim_start_matches('.').to_owned()),
    }
}

fn values_of(project: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(Chart::of(project).chart().join("values.yaml")).unwrap();
    let mut all = BTreeSet::new();
    leaves("", &serde_yaml::from_str(&text).unwrap(), &mut all);
    all
}

fn set(key: &str, value: &Value) -> String {
    format!("{key}={value}")
}

pub(super) fn manager(objects: &Objects) -> &Value {
    objects.of("Deployment")[0]
}

/// The kinds and names of some objects.
fn names(objects: &Objects) -> BTreeSet<String> {
    let all = objects.0.iter();
    all.map(|object| format!("{} {}", object["kind"].as_str().unwrap(), name(object)))
        .collect()
}

/// The objects that are gone with a value, and those that are new.
fn difference(project: &str, values: &[&str]) -> (Vec<String>, Vec<String>) {
    let chart = Chart::of(project);
    let (before, after) = (
        names(&chart.rendered(&[])),
        names(&rendered(project, values)),
    );
    let minus = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
        let gone = a.difference(b);
        gone.map(|name| name.replace(&format!("{}-", chart.name), ""))
            .collect()
    };
    (minus(&before, &after), minus(&after, &before))
}

pub(super) fn rendered(project: &str, values: &[&str]) -> Objects {
    let values: Vec<_> = values.iter().map(|value| (*value).to_owned()).collect();
    Chart::of(project).rendered(&values)
}

#[test]
fn each_value_of_the_deployment_sets_its_field() {
    let chart = Chart::of("webhooks");
    let before = chart.rendered(&[]);
    for (key, value, pointer, wanted) in fields() {
        let objects = chart.rendered(&[set(key, &value)]);
        assert_eq!(manager(&objects).pointer(&pointer), Some(&wanted), "{key}");
        assert_ne!(manager(&before).pointer(&pointer), Some(&wanted), "{key}");
    }
}

#[test]
fn the_schema_refuses_each_wrong_value() {
    let mut seen = BTreeSet::new();
    for (key, value) in wrong() {
        let project = if key.ends_with("issuerRef") {
            "cert-manager"
        } else {
            "webhooks"
        };
        let output = Chart::of(project).template(&[set(key, &value)]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{key}={value} is accepted");
        let schema = errors.contains("specifications of the schema");
        let place = format!("'/{}", key.replace('.', "/"));
        assert!(schema && errors.contains(&place), "{key}={value}: {errors}");
        seen.insert(key.to_owned());
    }
    let mut all = values_of("webhooks");
    all.extend(values_of("cert-manager"));
    assert_eq!(seen, all, "a wrong value for each value");
    for key in ["replica", "image.name", "webhooks.certificate.issuerRef"] {
        let output = Chart::of("webhooks").template(&[set(key, &json!({}))]);
        assert!(!output.status.success(), "{key} is no value of the chart");
    }
    assert!(
        !Chart::of("one-api")
            .template(&["webhooks.enabled=true".to_owned()])
            .status
            .success()
    );
}

#[test]
fn the_service_account() {
    let own = [
        "serviceAccount.name=\"mine\"",
        "serviceAccount.annotations={\"a\":\"b\"}",
    ];
    let mine = rendered("webhooks", &own);
    let account = mine.of("ServiceAccount")[0];
    assert_eq!(name(account), "mine");
    assert_eq!(account["metadata"]["annotations"], json!({"a": "b"}));
    let existing = [
        "serviceAccount.create=false",
        "serviceAccount.name=\"mine\"",
    ];
    let (gone, new) = difference("webhooks", &existing);
    assert_eq!(
        (&*gone, new.len()),
        (&["ServiceAccount controller-manager".to_owned()][..], 0)
    );
    let existing = rendered("webhooks", &existing);
    for objects in [&mine, &existing] {
        let bindings = ["RoleBinding", "ClusterRoleBinding"]
            .map(|kind| objects.of(kind))
            .concat();
        assert_eq!(bindings.len(), 5);
        for binding in bindings {
            assert_eq!(binding["subjects"][0]["name"], "mine");
        }
        assert_eq!(
            manager(objects).pointer("/spec/template/spec/serviceAccountName"),
            Some(&json!("mine"))
        );
    }
}

#[test]
fn the_crds() {
    let (gone, new) = difference("webhooks", &["crds.enabled=false"]);
    assert_eq!(
        gone,
        ["CustomResourceDefinition memcacheds.cache.example.com"]
    );
    assert!(new.is_empty());
    for (keep, wanted) in [("true", json!("keep")), ("false", Value::Null)] {
        let objects = rendered("webhooks", &[&format!("crds.keep={keep}")]);
        let annotations = &objects.of("CustomResourceDefinition")[0]["metadata"]["annotations"];
        assert_eq!(annotations["helm.sh/resource-policy"], wanted);
    }
}

#[test]
fn the_metrics() {
    let (gone, new) = difference("webhooks", &["metrics.enabled=false"]);
    let all = [
        "ClusterRole metrics-auth-role",
        "ClusterRole metrics-reader",
        "ClusterRoleBinding metrics-auth-rolebinding",
        "Service metrics",
    ];
    assert_eq!((&*gone, new.len()), (&all.map(str::to_owned)[..], 0));
    let objects = rendered(
        "webhooks",
        &[
            "metrics.enabled=false",
            "metrics.serviceMonitor.enabled=true",
        ],
    );
    assert!(objects.of("ServiceMonitor").is_empty());
    let container = manager(&objects).pointer(CONTAINER).unwrap().to_string();
    assert!(!container.contains("metrics"), "{container}");

    let (gone, new) = difference("webhooks", &["metrics.serviceMonitor.enabled=true"]);
    assert_eq!(
        new,
        ["PrometheusRule alerts", "ServiceMonitor metrics-monitor"]
    );
    assert!(gone.is_empty());
    let labels = "metrics.serviceMonitor.labels={\"release\":\"prometheus\"}";
    let objects = rendered("webhooks", &["metrics.serviceMonitor.enabled=true", labels]);
    let monitor = objects.of("ServiceMonitor")[0];
    for object in [monitor, objects.of("PrometheusRule")[0]] {
        assert_eq!(object["metadata"]["labels"]["release"], "prometheus");
    }
    // Both select by the labels of the release, wherever they are installed.
    let wanted = &monitor["spec"]["selector"]["matchLabels"];
    let mut services = objects.of("Service");
    services.retain(|service| {
        service["metadata"]["labels"]["control-plane"] == wanted["control-plane"]
    });
    assert_eq!(services.len(), 1);
    assert_eq!(monitor["metadata"]["namespace"], "project-webhooks-system");

    // Prometheus verifies the certificate by the operator's CA, where the operator has one.
    let tls = |objects: &Objects| {
        let monitor = objects.of("ServiceMonitor")[0];
        monitor["spec"]["endpoints"][0]["tlsConfig"].clone()
    };
    let secret = objects.one("Secret", "webhook-server-cert")["metadata"]["name"].clone();
    let ca = json!({ "secret": { "name": secret, "key": "ca.crt" } });
    let verified = json!({ "serverName": "metrics", "ca": ca });
    assert_eq!(tls(&objects), verified);
    let mine = "webhooks.certificate.existingSecret=\"mine\"";
    let objects = rendered("webhooks", &["metrics.serviceMonitor.enabled=true", mine]);
    assert_eq!(tls(&objects), json!({ "insecureSkipVerify": true }));
}

#[test]
fn the_network_policy() {
    let (gone, new) = difference("webhooks", &["networkPolicy.enabled=true"]);
    assert_eq!(
        new,
        [
            "NetworkPolicy allow-metrics-traffic",
            "NetworkPolicy allow-webhook-traffic"
        ]
    );
    assert!(gone.is_empty());
    // A policy is for a port that is open.
    let both = ["networkPolicy.enabled=true", "metrics.enabled=false"];
    let objects = rendered("webhooks", &both);
    let policies = objects.of("NetworkPolicy");
    assert_eq!(policies.len(), 1);
    assert!(name(policies[0]).ends_with("allow-webhook-traffic"));
    let both = [
        "networkPolicy.enabled=true",
        "webhooks.enabled=false",
        "crds.enabled=false",
    ];
    let objects = rendered("webhooks", &both);
    let policies = objects.of("NetworkPolicy");
    assert_eq!(policies.len(), 1);
    assert!(name(policies[0]).ends_with("allow-metrics-traffic"));
}

/// Volumes of the user's stand beside that of the certificate, which may be absent.
#[test]
fn volumes_of_the_user() {
    let volume = json!({"name": "ca", "emptyDir": {}});
    let extra = set("extraVolumes", &json!([volume]));
    let mine = "webhooks.certificate.existingSecret=\"mine\"";
    let off = ["webhooks.enabled=false", "crds.enabled=false"];
    for (project, values, number) in [
        ("one-api", &[][..], 0),
        ("webhooks", &[], 0),
        ("webhooks", &[mine], 1),
        ("cert-manager", &[], 1),
        ("cert-manager", &off, 0),
    ] {
        let volumes = |values: &[&str]| {
            let pod = manager(&rendered(project, values)).pointer(POD).cloned();
            pod.unwrap()["volumes"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        };
        assert_eq!(volumes(values).len(), number, "{project} {values:?}");
        let volumes = volumes(&[values, &[&extra]].concat());
        assert_eq!(volumes.len(), number + 1, "{project} {values:?}");
        assert_eq!(volumes.last(), Some(&volume));
    }
}

#[test]
fn the_webhooks_are_off() {
    let off = "webhooks.enabled=false";
    let output = Chart::of("cert-manager").template(&[off.to_owned()]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let why = "the versions of requests.ship.example.com need the webhooks";
    assert!(!output.status.success() && errors.contains(why), "{errors}");

    let (gone, new) = difference("cert-manager", &[off, "crds.enabled=false"]);
    let all = [
        "Certificate webhook-ca-cert",
        "Certificate webhook-server-cert",
        "CustomResourceDefinition requests.ship.example.com",
        "Issuer selfsigned-issuer",
        "Issuer webhook-ca-issuer",
        "Service webhook-service",
        "ValidatingWebhookConfiguration validating-webhook-configuration",
    ];
    assert_eq!((&*gone, new.len()), (&all.map(str::to_owned)[..], 0));
    for project in ["webhooks", "cert-manager"] {
        let objects = rendered(project, &[off, "crds.enabled=false"]);
        let pod = manager(&objects).pointer(POD).unwrap();
        assert!(pod["volumes"].is_null());
        let container = pod["containers"][0].as_object().unwrap();
        let variables = container["env"].as_array().unwrap();
        assert!(variables.contains(&json!({"name": "ENABLE_WEBHOOKS", "value": "false"})));
        let text = json!([
            container["args"],
            container["ports"],
            container.get("volumeMounts")
        ]);
        assert!(!text.to_string().contains("webhook"), "{text}");
    }
}

/// The kinds of the objects of the certificate, and the place where each source of it shows.
#[test]
fn an_existing_certificate() {
    let (gone, new) = difference("webhooks", &["webhooks.certificate.existingSecret=\"tls\""]);
    let all = [
        "ClusterRole webhook-certificate-role",
        "ClusterRoleBinding webhook-certificate-rolebinding",
        "Role webhook-certificate-role",
        "RoleBinding webhook-certificate-rolebinding",
        "Secret webhook-server-cert",
    ];
    assert_eq!((&*gone, new.len()), (&all.map(str::to_owned)[..], 0));
    let (gone, new) = difference(
        "cert-manager",
        &["webhooks.certificate.existingSecret=\"tls\""],
    );
    assert_eq!((gone.len(), new.len()), (4, 0), "{gone:?}");

    for project in ["webhooks", "cert-manager"] {
        let values = [
            "webhooks.certificate.existingSecret=\"tls\"",
            "webhooks.certificate.caBundle=\"Q0E=\"",
        ];
        let objects = rendered(project, &values);
        let pod = manager(&objects).pointer(POD).unwrap();
        assert_eq!(
            pod["volumes"],
            json!([{"name": "webhook-certs", "secret": {"secretName": "tls"}}])
        );
        let container = &pod["containers"][0];
        let mount = &container["volumeMounts"][0];
        assert_eq!(mount["name"], "webhook-certs");
        let flag = format!(
            "--webhook-cert-path={}",
            mount["mountPath"].as_str().unwrap()
        );
        assert!(container["args"].as_array().unwrap().contains(&flag.into()));
        assert!(!container["env"].to_string().contains("WEBHOOK_"));
        let clients = objects.clients();
        assert!(!clients.is_empty());
        for (who, client) in clients {
            assert_eq!(client["caBundle"], "Q0E=", "{project}: {who}");
        }
        for object in &objects.0 {
            assert!(object["metadata"]["annotations"]["cert-manager.io/inject-ca-from"].is_null());
        }
    }
}

#[test]
fn an_existing_issuer() {
    let issuer = json!({"kind": "ClusterIssuer", "name": "company"});
    let value = set("webhooks.certificate.issuerRef", &issuer);
    let (gone, new) = difference("cert-manager", &[&value]);
    assert_eq!(
        gone,
        [
            "Certificate webhook-ca-cert",
            "Issuer selfsigned-issuer",
            "Issuer webhook-ca-issuer"
        ]
    );
    assert!(new.is_empty());
    let objects = rendered("cert-manager", &[&value]);
    assert_eq!(objects.of("Certificate")[0]["spec"]["issuerRef"], issuer);
}

#[test]
fn the_image_of_the_tests() {
    let objects = rendered("webhooks", &["tests.image=\"a:1\""]);
    let test = objects.of("Pod")[0];
    let container = &test["spec"]["containers"][0];
    assert_eq!(container["image"], "a:1");
    let script = container["command"][2].as_str().unwrap();
    for service in objects.of("Service") {
        assert!(script.contains(name(service)), "{script}");
    }
    // The policy closes the metrics to it.
    let objects = rendered("webhooks", &["networkPolicy.enabled=true"]);
    let script = objects.of("Pod")[0]["spec"]["containers"][0]["command"][2].to_string();
    assert!(
        !script.contains("metrics") && script.contains("webhook"),
        "{script}"
    );
}
