//! Records the requests of an operator, to compare them with its permissions.

use std::{collections::BTreeSet, sync::Arc};

use axum::body::{Body, to_bytes};
use http::{Response, StatusCode};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::{Client, client, core::Status};
use parking_lot::Mutex;
use tower::{BoxError, service_fn};

use crate::{
    fake::request::{RecordedRequest, permission},
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
        let response = client.send(request).await?;
        if response.status() != StatusCode::FORBIDDEN {
            let asked = asked.into_iter();
            let used = asked.flat_map(|asked| permissions(asked, response.status()));
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

/// The permissions that a request with this response used. A server-side apply that created the object used
/// both patch and create.
fn permissions(asked: RecordedRequest, answer: StatusCode) -> Vec<String> {
    let mut taken = vec![asked.permission()];
    if asked.verb == Verb::Patch && answer == StatusCode::CREATED {
        let verb = Verb::Create;
        taken.push(RecordedRequest { verb, ..asked }.permission());
    }
    taken
}
