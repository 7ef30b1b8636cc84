//! Requests to the API server, parsed from method and path.

use std::fmt;

use http::{Method, Uri};

use crate::object::Verb;

/// A request to the API server, with the attributes that an authorizer sees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordedRequest {
    /// The verb.
    pub verb: Verb,
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural of the type.
    pub resource: String,
    /// The subresource, such as `status`.
    pub subresource: Option<String>,
    /// The namespace; `None` for cluster-scoped types, and for all namespaces.
    pub namespace: Option<String>,
    /// The name; `None` for create, list, watch and deletecollection.
    pub name: Option<String>,
}

impl RecordedRequest {
    /// Parses a request; `None` for a non-resource request, such as discovery.
    pub(crate) fn read(method: &Method, uri: &Uri) -> Option<Self> {
        let path: Vec<_> = uri.path().trim_matches('/').split('/').collect();
        let (group, path) = match &*path {
            ["api", _, path @ ..] => ("", path),
            ["apis", group, _, path @ ..] => (*group, path),
            _ => return None,
        };
        let (namespace, path) = match path {
            // The only subresources of a namespace; any other segment after its name is a namespaced
            // resource.
            ["namespaces", _, "status" | "finalize"] => (None, path),
            ["namespaces", namespace, path @ ..] if !path.is_empty() => (Some(*namespace), path),
            _ => (None, path),
        };
        let (resource, name, subresource) = match path {
            [resource] => (resource, None, None),
            [resource, name] => (resource, Some(*name), None),
            [resource, name, subresource @ ..] => (resource, Some(*name), Some(subresource)),
            [] => return None,
        };
        let verb = match (method, name) {
            (&Method::GET, _) if watches(uri) => Verb::Watch,
            (&Method::GET, None) => Verb::List,
            (&Method::GET, Some(_)) => Verb::Get,
            (&Method::POST, _) => Verb::Create,
            (&Method::PUT, _) => Verb::Update,
            (&Method::PATCH, _) => Verb::Patch,
            (&Method::DELETE, None) => Verb::DeleteCollection,
            (&Method::DELETE, Some(_)) => Verb::Delete,
            _ => return None,
        };
        Some(Self {
            verb,
            group: group.to_owned(),
            resource: (*resource).to_owned(),
            subresource: subresource.map(|path| path.join("/")),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
        })
    }

    /// The permission that the request requires, such as `patch widgets.example.com/status`.
    pub fn permission(&self) -> String {
        permission(
            &self.verb.to_string(),
            &self.group,
            &self.resource,
            self.subresource.as_deref(),
        )
    }
}

/// Formats a permission.
pub(crate) fn permission(
    verb: &str,
    group: &str,
    resource: &str,
    subresource: Option<&str>,
) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    let slash = subresource.map_or("", |_| "/");
    let subresource = subresource.unwrap_or_default();
    format!("{verb} {resource}{dot}{group}{slash}{subresource}")
}

/// The value of a query parameter of `uri`.
pub(crate) fn parameter(uri: &Uri, name: &str) -> Option<String> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

fn watches(uri: &Uri) -> bool {
    matches!(parameter(uri, "watch").as_deref(), Some("true" | "1"))
}

/// Formats as `patch widgets.example.com/status default/name`.
impl fmt::Display for RecordedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.permission())?;
        match (&self.namespace, &self.name) {
            (Some(namespace), Some(name)) => write!(f, " {namespace}/{name}"),
            (Some(namespace), None) => write!(f, " {namespace}/"),
            (None, Some(name)) => write!(f, " {name}"),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_resources() {
        for (method, uri, expected) in [
            ("GET", "/api/v1/nodes", "list nodes"),
            ("GET", "/api/v1/nodes?watch=true&limit=1", "watch nodes"),
            ("GET", "/api/v1/nodes?watch=false", "list nodes"),
            ("GET", "/api/v1/namespaces", "list namespaces"),
            ("GET", "/api/v1/namespaces/a", "get namespaces a"),
            (
                "PUT",
                "/api/v1/namespaces/a/status",
                "update namespaces/status a",
            ),
            ("POST", "/api/v1/namespaces/a/pods?", "create pods a/"),
            (
                "POST",
                "/api/v1/namespaces/a/pods/b/eviction",
                "create pods/eviction a/b",
            ),
            (
                "GET",
                "/api/v1/namespaces/a/pods/b/proxy/c/d",
                "get pods/proxy/c/d a/b",
            ),
            (
                "PATCH",
                "/apis/e.com/v1/namespaces/a/ws/b/status",
                "patch ws.e.com/status a/b",
            ),
            ("DELETE", "/apis/e.com/v1/ws/b", "delete ws.e.com b"),
            ("DELETE", "/apis/e.com/v1/ws", "deletecollection ws.e.com"),
        ] {
            let request = RecordedRequest::read(&method.parse().unwrap(), &uri.parse().unwrap());
            assert_eq!(request.unwrap().to_string(), expected, "{method} {uri}");
        }
        for uri in ["/version", "/api/v1", "/apis/e.com/v1", "/apis", "/"] {
            assert_eq!(
                RecordedRequest::read(&Method::GET, &uri.parse().unwrap()),
                None,
                "{uri}"
            );
        }
    }
}
