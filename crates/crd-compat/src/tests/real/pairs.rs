//! Changes of the projects. A field or version that is gone today is restored in the release before.

use serde_json::{Value, json};

use super::Pair;

pub const PAIRS: &[Pair] = &[
    Pair {
        source: "https://cert-manager.io/docs/releases/upgrading/upgrading-1.5-1.6: three versions are no longer served",
        file: "cert-manager/deploy__crds__cert-manager.io_certificates.yaml",
        before: |d| {
            ["v1alpha2", "v1alpha3", "v1beta1"]
                .into_iter()
                .for_each(|name| older(d, "v1", name, true))
        },
        after: |d| {
            ["v1alpha2", "v1alpha3", "v1beta1"]
                .into_iter()
                .for_each(|name| older(d, "v1", name, false))
        },
        found: &[
            "version-not-served certificates.cert-manager.io v1alpha2",
            "version-not-served certificates.cert-manager.io v1alpha3",
            "version-not-served certificates.cert-manager.io v1beta1",
        ],
    },
    Pair {
        source: "https://cert-manager.io/docs/releases/upgrading/upgrading-1.6-1.7: and then removed, while objects may be stored in them",
        file: "cert-manager/deploy__crds__cert-manager.io_issuers.yaml",
        before: |d| {
            older(d, "v1", "v1beta1", false);
            older(d, "v1", "v1alpha2", false);
            d["status"] = json!({ "storedVersions": ["v1alpha2", "v1"] });
        },
        after: nothing,
        found: &["stored-version-removed issuers.cert-manager.io v1alpha2"],
    },
    Pair {
        source: "https://github.com/kubernetes-csi/external-snapshotter/releases/tag/v4.1.0: v1 is stored, v1beta1 deprecated",
        file: "csi-snapshotter/client__config__crd__snapshot.storage.k8s.io_volumesnapshotclasses.yaml",
        before: |d| {
            store(d, "v1beta1");
            version(d, "v1beta1")["served"] = json!(true);
            version(d, "v1beta1")["deprecated"] = json!(false);
        },
        after: |d| version(d, "v1beta1")["served"] = json!(true),
        found: &[
            "storage-version-changed volumesnapshotclasses.snapshot.storage.k8s.io",
            "version-deprecated volumesnapshotclasses.snapshot.storage.k8s.io v1beta1",
        ],
    },
    Pair {
        source: "https://github.com/kubernetes-sigs/gateway-api/issues/3086: v1alpha2, which was stored, made way for v1alpha3",
        file: "gateway-api/config__crd__experimental__gateway.networking.k8s.io_backendtlspolicies.yaml",
        before: |d| {
            older(d, "v1alpha3", "v1alpha2", true);
            store(d, "v1alpha2");
            remove(d, "v1alpha3");
            remove(d, "v1");
        },
        after: |d| {
            remove(d, "v1");
            store(d, "v1alpha3");
        },
        found: &["stored-version-removed backendtlspolicies.gateway.networking.k8s.io v1alpha2"],
    },
    Pair {
        source: "https://github.com/Kong/kubernetes-ingress-controller/issues/4597: Gateway API 0.8 wants listeners to be distinct",
        file: "gateway-api/config__crd__experimental__gateway.networking.k8s.io_gateways.yaml",
        before: |d| field(d, "v1beta1", "spec.listeners")["x-kubernetes-validations"] = json!([]),
        after: nothing,
        found: &["cel-rule-added gateways.gateway.networking.k8s.io v1beta1 .spec.listeners ×6"],
    },
    Pair {
        source: "https://github.com/kubernetes-sigs/gateway-api/pull/4088: more CA certificates are allowed",
        file: "gateway-api/config__crd__experimental__gateway.networking.k8s.io_backendtlspolicies.yaml",
        before: |d| field(d, "v1", "spec.validation.caCertificateRefs")["maxItems"] = json!(1),
        after: nothing,
        found: &[],
    },
    Pair {
        source: "https://github.com/fluxcd/kustomize-controller/blob/v1.0.0-rc.1/CHANGELOG.md: v1 without three deprecated fields",
        file: "flux-kustomize-controller/config__crd__bases__kustomize.toolkit.fluxcd.io_kustomizations.yaml",
        before: |d| {
            older(d, "v1", "v1beta2", true);
            deprecated_fields(d);
            remove(d, "v1");
            store(d, "v1beta2");
        },
        after: |d| {
            older(d, "v1", "v1beta2", true);
            deprecated_fields(d);
            version(d, "v1beta2")["deprecated"] = json!(true);
        },
        found: &[
            "storage-version-changed kustomizations.kustomize.toolkit.fluxcd.io",
            "version-deprecated kustomizations.kustomize.toolkit.fluxcd.io v1beta2",
            "version-unconverted kustomizations.kustomize.toolkit.fluxcd.io v1beta2 .spec.patchesJson6902",
            "version-unconverted kustomizations.kustomize.toolkit.fluxcd.io v1beta2 .spec.patchesStrategicMerge",
            "version-unconverted kustomizations.kustomize.toolkit.fluxcd.io v1beta2 .spec.validation",
        ],
    },
    Pair {
        source: "the same change while v1beta2 is still stored: nothing converts, so a write through v1 loses the fields",
        file: "flux-kustomize-controller/config__crd__bases__kustomize.toolkit.fluxcd.io_kustomizations.yaml",
        before: |d| {
            older(d, "v1", "v1beta2", true);
            deprecated_fields(d);
            remove(d, "v1");
            store(d, "v1beta2");
        },
        after: |d| {
            older(d, "v1", "v1beta2", true);
            deprecated_fields(d);
            store(d, "v1beta2");
        },
        found: &[
            "version-unconverted kustomizations.kustomize.toolkit.fluxcd.io v1 .spec.patchesJson6902",
            "version-unconverted kustomizations.kustomize.toolkit.fluxcd.io v1 .spec.patchesStrategicMerge",
            "version-unconverted kustomizations.kustomize.toolkit.fluxcd.io v1 .spec.validation",
        ],
    },
    Pair {
        source: "https://fluxcd.io/blog/2024/05/flux-v2.3.0: post-renderers lose patchesStrategicMerge",
        file: "flux-helm-controller/config__crd__bases__helm.toolkit.fluxcd.io_helmreleases.yaml",
        before: |d| {
            let kustomize = field(d, "v2", "spec.postRenderers[].kustomize");
            kustomize["properties"]["patchesStrategicMerge"] =
                json!({ "type": "array", "items": {} });
        },
        after: nothing,
        found: &[
            "field-removed helmreleases.helm.toolkit.fluxcd.io v2 .spec.postRenderers[].kustomize.patchesStrategicMerge",
        ],
    },
    Pair {
        source: "https://github.com/metallb/metallb/pull/2252: AddressPool is gone",
        file: "metallb/config__crd__bases__metallb.io_ipaddresspools.yaml",
        before: |d| {
            d["metadata"]["name"] = json!("addresspools.metallb.io");
            d["spec"]["names"] = json!({ "kind": "AddressPool", "plural": "addresspools" });
        },
        after: nothing,
        found: &["crd-removed addresspools.metallb.io"],
    },
    Pair {
        source: "https://github.com/grafana/grafana-operator/pull/1525: instanceSelector cannot change any more",
        file: "grafana-operator/config__crd__bases__grafana.integreatly.org_grafanafolders.yaml",
        before: |d| {
            field(d, "v1beta1", "spec.instanceSelector")["x-kubernetes-validations"] = json!([])
        },
        after: nothing,
        found: &[
            "cel-rule-added grafanafolders.grafana.integreatly.org v1beta1 .spec.instanceSelector",
        ],
    },
    Pair {
        source: "https://github.com/grafana/grafana-operator/pull/1528: KeepLast for no data",
        file: "grafana-operator/config__crd__bases__grafana.integreatly.org_grafanaalertrulegroups.yaml",
        before: |d| {
            let values = field(d, "v1beta1", "spec.rules[].noDataState")["enum"]
                .as_array_mut()
                .unwrap();
            values.retain(|value| value != "KeepLast");
        },
        after: nothing,
        found: &[
            "enum-value-added grafanaalertrulegroups.grafana.integreatly.org v1beta1 .spec.rules[].noDataState",
        ],
    },
    Pair {
        source: "https://github.com/grafana/grafana-operator/releases/tag/v5.25.0: Grafana can be scaled",
        file: "grafana-operator/config__crd__bases__grafana.integreatly.org_grafanas.yaml",
        before: |d| {
            drop(
                version(d, "v1beta1")["subresources"]
                    .as_object_mut()
                    .unwrap()
                    .remove("scale"),
            )
        },
        after: nothing,
        found: &[],
    },
    Pair {
        source: "https://github.com/kedacore/http-add-on/issues/1020: conditions of stored objects have types that are gone",
        file: "keda/config__crd__bases__keda.sh_scaledobjects.yaml",
        before: |d| {
            field(d, "v1alpha1", "status.conditions[].type")["enum"] =
                json!(["Created", "Terminated", "Ready"])
        },
        after: |d| field(d, "v1alpha1", "status.conditions[].type")["enum"] = json!(["Ready"]),
        found: &["enum-value-removed scaledobjects.keda.sh v1alpha1 .status.conditions[].type"],
    },
    Pair {
        source: "https://github.com/knative/serving/releases/tag/v0.19.0: v1alpha1 and v1beta1 are dropped",
        file: "knative-serving/config__core__300-resources__route.yaml",
        before: |d| {
            ["v1alpha1", "v1beta1"]
                .into_iter()
                .for_each(|name| older(d, "v1", name, true))
        },
        after: nothing,
        found: &[
            "version-removed routes.serving.knative.dev v1alpha1",
            "version-removed routes.serving.knative.dev v1beta1",
        ],
    },
    Pair {
        source: "https://tekton.dev/docs/pipelines/migrating-v1beta1-to-v1: other fields in v1, but a webhook converts",
        file: "tekton-pipeline/config__300-crds__300-taskrun.yaml",
        before: |d| {
            store(d, "v1beta1");
            remove(d, "v1");
        },
        after: nothing,
        found: &["storage-version-changed taskruns.tekton.dev"],
    },
    Pair {
        source: "https://github.com/vmware-tanzu/velero/issues/5083: ResticRepository is called BackupRepository",
        file: "velero/config__crd__v1__bases__velero.io_backuprepositories.yaml",
        before: |d| {
            d["metadata"]["name"] = json!("resticrepositories.velero.io");
            d["spec"]["names"] =
                json!({ "kind": "ResticRepository", "plural": "resticrepositories" });
        },
        after: nothing,
        found: &["crd-removed resticrepositories.velero.io"],
    },
];

fn deprecated_fields(definition: &mut Value) {
    let properties = &mut field(definition, "v1beta2", "spec")["properties"];
    properties["validation"] = json!({ "type": "string" });
    properties["patchesStrategicMerge"] = json!({ "type": "array", "items": {} });
    properties["patchesJson6902"] = json!({ "type": "array", "items": {} });
}

fn nothing(_: &mut Value) {}

fn version<'a>(definition: &'a mut Value, name: &str) -> &'a mut Value {
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    versions
        .iter_mut()
        .find(|version| version["name"] == name)
        .unwrap()
}

/// The schema of a field: `spec.listeners[].name`.
fn field<'a>(definition: &'a mut Value, name: &str, path: &str) -> &'a mut Value {
    let mut schema = &mut version(definition, name)["schema"]["openAPIV3Schema"];
    for step in path.split('.') {
        let (name, items) = step
            .split_once("[]")
            .map_or((step, false), |(name, _)| (name, true));
        schema = &mut schema["properties"][name];
        assert!(schema.is_object(), "{path}: no `{name}`");
        if items {
            schema = &mut schema["items"];
        }
    }
    schema
}

/// Adds a version that is like `of`, not stored, and before it.
fn older(definition: &mut Value, of: &str, name: &str, served: bool) {
    let mut version = version(definition, of).clone();
    version["name"] = json!(name);
    version["served"] = json!(served);
    version["storage"] = json!(false);
    definition["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .insert(0, version);
}

/// Stores `name` and nothing else.
fn store(definition: &mut Value, name: &str) {
    for version in definition["spec"]["versions"].as_array_mut().unwrap() {
        version["storage"] = json!(version["name"] == name);
    }
}

fn remove(definition: &mut Value, name: &str) {
    definition["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .retain(|version| version["name"] != name);
}
