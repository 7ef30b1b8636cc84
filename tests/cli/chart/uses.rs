//! Charts as people use them: values that contradict each other, a parent chart, and projects of other shapes.

use serde_json::{Value, json};

use super::{
    Chart,
    values::{CONTAINER, POD, manager, rendered},
};
use crate::kustomize::edit;

/// Helm fails with this message.
#[track_caller]
fn fails(value: &str, message: &str) {
    let output = Chart::of("webhooks").template(&[value.to_owned()]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let failed = !output.status.success() && errors.contains(message);
    assert!(failed, "{value}: {errors}");
}

#[test]
fn contradicting_values_fail() {
    fails(
        "extraArgs=[\"--leader-elect=false\"]",
        "extraArgs: config/ sets --leader-elect already",
    );
    fails(
        "extraEnv=[{\"name\":\"RUST_BACKTRACE\"}]",
        "extraEnv: config/ sets RUST_BACKTRACE already",
    );
    fails(
        "podLabels={\"control-plane\":\"a\"}",
        "podLabels: config/ sets control-plane already",
    );
    fails(
        "podAnnotations={\"kubectl.kubernetes.io/default-container\":\"a\"}",
        "podAnnotations: config/ sets kubectl.kubernetes.io/default-container already",
    );
    fails(
        "serviceAccount.create=false",
        "serviceAccount.create=false needs serviceAccount.name",
    );
}

#[test]
fn images_that_the_controllers_run() {
    let flags = "--group store --version v1alpha1 --kind Busybox --image busybox:1.37";
    let create = format!("operator-forge create api -q {flags}");
    let chart = Chart::new("one-api", &[&create]);
    let image = |values: &[&str]| {
        let values: Vec<_> = values.iter().map(|value| (*value).to_owned()).collect();
        let objects = chart.rendered(&values);
        let variables = &manager(&objects).pointer(CONTAINER).unwrap()["env"];
        let mut variables = variables.as_array().unwrap().iter();
        let variable = variables.find(|it| it["name"] == "RELATED_IMAGE_STORE_BUSYBOX");
        variable.unwrap()["value"].clone()
    };
    assert_eq!(image(&[]), "busybox:1.37");
    let other = "relatedImages={\"RELATED_IMAGE_STORE_BUSYBOX\":\"mirror/busybox:2\"}";
    assert_eq!(image(&[other]), "mirror/busybox:2");
}

/// A tag reaches everything that runs the manager's image.
#[test]
fn the_managers_image_in_other_containers() {
    let init = "sed -i 's/^      containers:/      initContainers:\\n        - name: prepare\\n          image: controller:latest\\n&/' \
                config/manager/manager.yaml";
    let job = "printf '%s\\n' 'apiVersion: batch/v1' 'kind: CronJob' 'metadata: {name: report}' \
               'spec: {schedule: \"@daily\", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [\
               {name: report, image: \"controller:latest\"}, {name: other, image: \"other:1\"}]}}}}}' > config/manager/report.yaml && \
               sed -i 's/- manager.yaml/&\\n  - report.yaml/' config/manager/kustomization.yaml";
    let chart = Chart::new("one-api", &[init, job]);
    chart.assert_same();
    let values = [
        "image.tag=\"1.2\"",
        "image.pullPolicy=\"Always\"",
        "imagePullSecrets=[{\"name\":\"registry\"}]",
    ];
    let objects = chart.rendered(&values.map(str::to_owned));
    let pod = manager(&objects).pointer("/spec/template/spec").unwrap();
    let of_job = "/spec/jobTemplate/spec/template/spec";
    let job = objects.of("CronJob")[0].pointer(of_job).unwrap();
    for (pod, containers) in [
        (pod, "initContainers"),
        (pod, "containers"),
        (job, "containers"),
    ] {
        let container = &pod[containers][0];
        assert_eq!(container["image"], "controller:1.2", "{containers}");
        assert_eq!(container["imagePullPolicy"], "Always", "{containers}");
        assert_eq!(pod["imagePullSecrets"], json!([{"name": "registry"}]));
    }
    assert_eq!(
        job["containers"][1],
        json!({"name": "other", "image": "other:1"})
    );
}

/// Webhooks never wait for the operator in the namespace of the release, whatever `config/default` calls it.
#[test]
fn the_namespace_of_the_release_is_exempt() {
    let named = "sed -i 's/^namespace: .*/namespace: platform/' config/default/kustomization.yaml";
    let chart = Chart::new("webhooks", &[named]);
    let objects = chart.rendered(&[]);
    let mut selectors = 0;
    for kind in [
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    ] {
        for webhook in objects.of(kind)[0]["webhooks"].as_array().unwrap() {
            let expressions = webhook.pointer("/namespaceSelector/matchExpressions");
            for expression in expressions.and_then(Value::as_array).into_iter().flatten() {
                let excluded = json!(["kube-system", chart.namespace()]);
                assert_eq!(expression["values"], excluded);
                selectors += 1;
            }
        }
    }
    assert!(selectors > 1);
}

/// A parent chart sets `enabled`, the condition of its dependency.
#[test]
fn a_parent_chart() {
    rendered("webhooks", &["enabled=true", "global={\"a\":1}"]);
}

#[test]
fn a_mounted_certificate() {
    let chart = Chart::new("webhooks", &["operator-forge edit --certificates mounted"]);
    chart.assert_same();
    // Two releases in one namespace have a Secret each.
    let named = chart.rendered(&["fullnameOverride=\"mine\"".to_owned()]);
    let pod = manager(&named).pointer(POD).unwrap();
    let secret = &pod["volumes"][0]["secret"]["secretName"];
    assert_eq!(*secret, "mine-webhook-server-cert");
    let values = [
        "webhooks.certificate.existingSecret=\"tls\"",
        "webhooks.certificate.caBundle=\"Q0E=\"",
    ];
    let objects = chart.rendered(&values.map(str::to_owned));
    let pod = manager(&objects).pointer(POD).unwrap();
    let volumes = json!([{"name": "webhook-certs", "secret": {"secretName": "tls"}}]);
    assert_eq!(pod["volumes"], volumes);
    for (who, client) in objects.clients() {
        assert_eq!(client["caBundle"], "Q0E=", "{who}");
    }
    let off = ["webhooks.enabled=false", "crds.enabled=false"];
    let off = chart.rendered(&off.map(str::to_owned));
    assert!(manager(&off).pointer(POD).unwrap()["volumes"].is_null());
}

#[test]
fn a_project_without_name_prefix() {
    let chart = Chart::new("one-api", &[]);
    let kustomization = "config/default/kustomization.yaml";
    edit(
        chart.path(),
        kustomization,
        "namePrefix: memcached-operator-\n",
        "",
    );
    chart.make(false).unwrap();
    chart.assert_same();
}
