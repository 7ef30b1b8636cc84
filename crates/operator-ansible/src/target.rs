//! What the path of a call names.

use crate::status::RecordedKind;

/// What the path of a call names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) group: String,
    version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
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

    /// Whether it is an object of this kind.
    pub(crate) fn is_of(&self, kind: &RecordedKind) -> bool {
        kind.version() == (&*self.group, &*self.version)
            && kind.plural == self.plural
            && kind.namespaced == self.namespace.is_some()
    }

    /// The path of the object with this name.
    pub(crate) fn path(&self, name: &str) -> String {
        let mut path = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        if let Some(namespace) = &self.namespace {
            path.extend(["/namespaces/", namespace]);
        }
        path.extend(["/", &*self.plural, "/", name]);
        path
    }

    pub(crate) fn kind(&self, kind: &str) -> RecordedKind {
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
