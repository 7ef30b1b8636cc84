//! Lists and watches of which the API server leaves out what another replica serves (KEP-5866, alpha since 1.36).
//!
//! An API server without the feature ignores the parameter, and its OpenAPI does not tell. The part of an object
//! that it selects is therefore tried, and each object is checked in the client all the same.

use http::{Request, Uri, uri::PathAndQuery};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, api::ObjectList, client::Body};
use tower::service_fn;

use crate::slots::{Slot, Slots};

/// The name of the parameter.
const PARAMETER: &str = "shardSelector";

/// A client whose requests carry the selector.
pub(crate) fn selected(client: Client, selector: &str) -> Client {
    let parameter: String = form_urlencoded::Serializer::new(String::new())
        .append_pair(PARAMETER, selector)
        .finish();
    let namespace = client.default_namespace().to_owned();
    let service = service_fn(move |mut request: Request<Body>| {
        if let Some(uri) = with(request.uri(), &parameter) {
            *request.uri_mut() = uri;
        }
        let client = client.clone();
        async move { client.send(request).await }
    });
    Client::new(service, namespace)
}

fn with(uri: &Uri, parameter: &str) -> Option<Uri> {
    let mark = if uri.query().is_some() { '&' } else { '?' };
    let path = uri.path_and_query()?.as_str();
    let path: PathAndQuery = format!("{path}{mark}{parameter}").parse().ok()?;
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path);
    Uri::from_parts(parts).ok()
}

/// Whether the API server selects by the same hash as [`Slot::of`]: it lists this object with its own slot, and does not
/// list it with all others.
pub(crate) async fn is_honoured(
    client: &Client,
    namespace: &str,
    name: &str,
    uid: &str,
) -> kube::Result<bool> {
    let own = Slots::from_iter([Slot::of(uid)]);
    for (slots, expected) in [(own, true), (Slots::all().without(own), false)] {
        let Some(selector) = slots.selector(UID) else {
            return Ok(false);
        };
        let path = format!(
            "/api/v1/namespaces/{namespace}/configmaps?fieldSelector=metadata.name%3D{name}"
        );
        let request = Request::get(path)
            .body(Vec::new())
            .map_err(kube::Error::HttpError)?;
        let selected = selected(client.clone(), &selector);
        let list: ObjectList<ConfigMap> = selected.request(request).await?;
        let found = list
            .items
            .iter()
            .any(|it| it.metadata.uid.as_deref() == Some(uid));
        if found != expected {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The fields by which the API server can select.
pub(crate) const UID: &str = "object.metadata.uid";
pub(crate) const NAMESPACE: &str = "object.metadata.namespace";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_added_to_the_parameters() {
        let selector = "shardRange(object.metadata.uid, '0x0', '0x1')";
        let parameter = form_urlencoded::Serializer::new(String::new())
            .append_pair(PARAMETER, selector)
            .finish();
        let encoded = "shardSelector=shardRange%28object.metadata.uid%2C+%270x0%27%2C+%270x1%27%29";
        for (uri, expected) in [
            ("/api/v1/pods", format!("/api/v1/pods?{encoded}")),
            (
                "/api/v1/pods?watch=1",
                format!("/api/v1/pods?watch=1&{encoded}"),
            ),
            (
                "https://host/api/v1/pods",
                format!("https://host/api/v1/pods?{encoded}"),
            ),
        ] {
            let found = with(&uri.parse().unwrap(), &parameter).unwrap();
            assert_eq!(found.to_string(), expected);
        }
    }
}
