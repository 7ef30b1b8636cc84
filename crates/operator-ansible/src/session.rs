//! What the proxy knows of a run: its custom resource, and the kinds of what it created.

use std::sync::Arc;

use axum::http::Method;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

use crate::{
    dependents::{Dependents, Key},
    owner::Owner,
    status::RecordedKind,
};

/// A run that uses the proxy.
pub(crate) struct Session {
    pub(crate) owner: Owner,
    /// Whether what it creates is marked.
    pub(crate) marks: bool,
    pub(crate) key: Key,
    pub(crate) dependents: Arc<Dependents>,
    pub(crate) kinds: Arc<Kinds>,
}

/// The kinds of what the runs of an object created.
#[derive(Default)]
pub(crate) struct Kinds {
    all: Mutex<Vec<RecordedKind>>,
    /// Is notified when there is another one.
    pub(crate) more: Notify,
}

impl Kinds {
    pub(crate) fn all(&self) -> Vec<RecordedKind> {
        self.all.lock().clone()
    }

    pub(crate) fn extend(&self, kinds: impl IntoIterator<Item = RecordedKind>) {
        let mut all = self.all.lock();
        for kind in kinds {
            if !all.contains(&kind) {
                all.push(kind);
                self.more.notify_one();
            }
        }
    }
}

impl Session {
    /// Notes the answer to a call about one object.
    pub(crate) fn note(&self, target: &Target, method: &Method, object: &Value) {
        if *method == Method::DELETE {
            // The object, or a status with its uid.
            let uid = &object["metadata"]["uid"];
            let uid = uid.as_str().or(object["details"]["uid"].as_str());
            if let Some(uid) = uid {
                self.dependents.deleted(&self.key, uid);
            }
            return;
        }
        if !self.owner.owns(object) {
            return;
        }
        self.dependents.wrote(&self.key, object);
        if let Some(kind) = object["kind"].as_str() {
            self.kinds.extend([target.kind(kind)]);
        }
    }
}

/// What the path of a call names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    group: String,
    version: String,
    pub(crate) namespace: Option<String>,
    plural: String,
    pub(crate) name: Option<String>,
    subresource: Option<String>,
}

impl Target {
    /// `None` if the path names no resource.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let mut parts = path.trim_matches('/').split('/');
        let group = match parts.next()? {
            "api" => "",
            "apis" => parts.next()?,
            _ => return None,
        };
        let version = parts.next()?;
        let mut rest: Vec<_> = parts.map(str::to_owned).collect();
        // The subresources of a Namespace look like kinds in it.
        let is_in_namespace = rest.len() > 2
            && rest[0] == "namespaces"
            && !(group.is_empty() && matches!(rest[2].as_str(), "status" | "finalize"));
        let namespace = is_in_namespace.then(|| rest.drain(..2).nth(1)).flatten();
        let mut rest = rest.into_iter();
        Some(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace,
            plural: rest.next()?,
            name: rest.next(),
            subresource: rest.next(),
        })
    }

    /// Whether it is an object or a list, and no subresource.
    pub(crate) fn is_object(&self) -> bool {
        self.subresource.is_none()
    }

    /// Whether objects of the kind are only asked, and not kept.
    pub(crate) fn is_virtual(&self) -> bool {
        matches!(
            self.group.as_str(),
            "authorization.k8s.io" | "authentication.k8s.io"
        )
    }

    fn kind(&self, kind: &str) -> RecordedKind {
        RecordedKind {
            api_version: match self.group.as_str() {
                "" => self.version.clone(),
                group => format!("{group}/{}", self.version),
            },
            kind: kind.to_owned(),
            plural: self.plural.clone(),
            namespaced: self.namespace.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (path, expected) in [
            (
                "/api/v1/namespaces/ns/pods/a",
                Some(("", "v1", Some("ns"), "pods", Some("a"), None)),
            ),
            (
                "/api/v1/namespaces/ns/pods",
                Some(("", "v1", Some("ns"), "pods", None, None)),
            ),
            (
                "/api/v1/namespaces/ns/pods/a/log",
                Some(("", "v1", Some("ns"), "pods", Some("a"), Some("log"))),
            ),
            (
                "/api/v1/namespaces/ns",
                Some(("", "v1", None, "namespaces", Some("ns"), None)),
            ),
            (
                "/api/v1/namespaces/ns/status",
                Some(("", "v1", None, "namespaces", Some("ns"), Some("status"))),
            ),
            (
                "/api/v1/namespaces",
                Some(("", "v1", None, "namespaces", None, None)),
            ),
            (
                "/apis/apps/v1/deployments",
                Some(("apps", "v1", None, "deployments", None, None)),
            ),
            (
                "/apis/apps/v1/namespaces/ns/deployments/a",
                Some(("apps", "v1", Some("ns"), "deployments", Some("a"), None)),
            ),
            ("/api/v1", None),
            ("/apis", None),
            ("/version", None),
        ] {
            let found = Target::of(path);
            let found = found.as_ref().map(|it| {
                let (group, version, plural) = (&*it.group, &*it.version, &*it.plural);
                let (namespace, name) = (it.namespace.as_deref(), it.name.as_deref());
                (
                    group,
                    version,
                    namespace,
                    plural,
                    name,
                    it.subresource.as_deref(),
                )
            });
            assert_eq!(found, expected, "{path}");
        }
    }
}
