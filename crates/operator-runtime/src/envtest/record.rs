//! Records the requests of an operator, to compare them with its permissions.

use std::{collections::BTreeSet, sync::Arc};

use axum::body::{Body, to_bytes};
use http::{Response, StatusCode};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::{Client, client, core::Status};
use parking_lot::Mutex;
use tower::{BoxError, service_fn};

use crate::{
    fake::request::{RecordedRequest, parameter, permission},
    object::Verb,
};

/// The responses to an operator. Clones share the record.
#[derive(Clone, Debug, Default)]
pub(super) struct Record(Arc<Mutex<Answers>>);

#[derive(Debug, Default)]
struct Answers {
    used: BTreeSet<String>,
    /// The messages of the responses with status 403.
    refused: BTreeSet<String>,
}

impl Record {
    /// A client that records the responses to `client`.
    pub(super) fn client(&self, client: Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let record = self.clone();
        let service = service_fn(move |request| record.clone().pass(client.clone(), request));
        Client::new(service, namespace)
    }

    async fn pass(
        self,
        client: Client,
        request: http::Request<client::Body>,
    ) -> Result<Response<client::Body>, BoxError> {
        let asked = RecordedRequest::read(request.method(), request.uri());
        let list = unstreamed(&request);
        let lists = list.is_some();
        let refused = match list {
            Some(list) => Some(client.send(list).await?),
            None => None,
        };
        let refused = refused.filter(|answer| answer.status() == StatusCode::FORBIDDEN);
        let response = match refused {
            Some(refused) => refused,
            None => client.send(request).await?,
        };
        if response.status() != StatusCode::FORBIDDEN {
            let asked = asked.into_iter();
            let used = asked.flat_map(|asked| permissions(asked, lists, response.status()));
            self.0.lock().used.extend(used);
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        let body = to_bytes(Body::new(body), usize::MAX).await?;
        let status = serde_json::from_slice::<Status>(&body);
        let message = status.map_or_else(|error| error.to_string(), |status| status.message);
        self.0.lock().refused.insert(message);
        Ok(Response::from_parts(head, body.into()))
    }

    pub(super) fn unused(&self, rules: &[PolicyRule]) -> Vec<String> {
        let mut unused = BTreeSet::new();
        for rule in rules {
            for group in rule.api_groups.iter().flatten() {
                for resource in rule.resources.iter().flatten() {
                    let (resource, part) = match resource.split_once('/') {
                        Some((_, "finalizers")) => continue,
                        Some((resource, part)) => (resource, Some(part)),
                        None => (&**resource, None),
                    };
                    let verbs = rule.verbs.iter();
                    unused.extend(verbs.map(|verb| permission(verb, group, resource, part)));
                }
            }
        }
        unused.difference(&self.0.lock().used).cloned().collect()
    }

    pub(super) fn refused(&self) -> Vec<String> {
        self.0.lock().refused.iter().cloned().collect()
    }
}

/// The list that an operator requests where the API server cannot stream, if `request` streams one. It is
/// tried as well, because a role that allows only the watch is not enough there.
fn unstreamed(request: &http::Request<client::Body>) -> Option<http::Request<client::Body>> {
    parameter(request.uri(), "sendInitialEvents")?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", "1");
    for name in ["fieldSelector", "labelSelector"] {
        if let Some(value) = parameter(request.uri(), name) {
            query.append_pair(name, &value);
        }
    }
    let uri = format!("{}?{}", request.uri().path(), query.finish());
    http::Request::get(uri).body(client::Body::empty()).ok()
}

/// The permissions that a request with this response used. A server-side apply that created the object used
/// both patch and create. A streamed list used watch, and [list](unstreamed).
fn permissions(asked: RecordedRequest, lists: bool, answer: StatusCode) -> Vec<String> {
    let mut taken = vec![asked.permission()];
    let verb = match asked.verb {
        Verb::Patch if answer == StatusCode::CREATED => Verb::Create,
        Verb::Watch if lists => Verb::List,
        _ => return taken,
    };
    taken.push(RecordedRequest { verb, ..asked }.permission());
    taken
}
