//! Authentication and authorization of metrics readers: a TokenReview finds the user of a bearer token, and
//! a SubjectAccessReview checks whether that user may read the path, as in controller-runtime's
//! `WithAuthenticationAndAuthorization`.

#[cfg(test)]
mod tests;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, Method, StatusCode,
        header::{AUTHORIZATION, WWW_AUTHENTICATE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec, UserInfo},
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{Api, Client, Resource, api::PostParams};
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{sync::Semaphore, time::timeout};

use super::cache::{Cache, Key};
use crate::{crypto::sha256, error::chain};

/// The timeout of a review.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The lifetimes of cached answers; those of Kubernetes' own servers.
const USER: Duration = Duration::from_secs(60);
/// Longer than the time between two scrapes.
const KNOWN: Duration = Duration::from_secs(60 * 60);
const ALLOWED: Duration = Duration::from_secs(5 * 60);
const DENIED: Duration = Duration::from_secs(30);

/// How many TokenReviews of unknown tokens run at once, so that guesses do not become load for the API server.
const STRANGERS: usize = 4;

/// Reviews requests through the API server, with caches.
pub(crate) struct Authorizer {
    /// Not fenced: followers serve metrics, too.
    client: Client,
    /// By token: its user. Guesses do not push them out.
    users: Mutex<Cache<UserInfo>>,
    /// Tokens that were valid not long ago. They do not queue behind guesses.
    known: Mutex<Cache<()>>,
    /// Tokens that are not valid.
    invalid: Mutex<Cache<()>>,
    strangers: Semaphore,
    /// By user, path and verb: whether it is allowed.
    decisions: Mutex<Cache<bool>>,
}

/// The reason why a request is refused.
#[derive(Debug, PartialEq)]
enum Refusal {
    Unauthenticated,
    Forbidden(String),
    /// The API server gave no answer; the text is for the log.
    Unknown(String),
}

impl Authorizer {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            users: Mutex::default(),
            known: Mutex::default(),
            invalid: Mutex::default(),
            strangers: Semaphore::new(STRANGERS),
            decisions: Mutex::default(),
        }
    }

    async fn authorize(
        &self,
        token: Option<&str>,
        method: &Method,
        path: &str,
    ) -> Result<(), Refusal> {
        let user = self.user(token.ok_or(Refusal::Unauthenticated)?).await?;
        let user = user.ok_or(Refusal::Unauthenticated)?;
        let name = user.username.clone().unwrap_or_default();
        let allowed = self
            .is_allowed(user, method.as_str().to_lowercase(), path)
            .await?;
        allowed.then_some(()).ok_or(Refusal::Forbidden(name))
    }

    async fn user(&self, token: &str) -> Result<Option<UserInfo>, Refusal> {
        let key = hash(token.as_bytes());
        if let Some(user) = self.reviewed(&key) {
            return Ok(user);
        }
        let _turn = match known(&self.known, &key) {
            Some(()) => None,
            None => Some(self.strangers.acquire().await),
        };
        // Another request may have asked meanwhile.
        if let Some(user) = self.reviewed(&key) {
            return Ok(user);
        }
        let spec = TokenReviewSpec {
            #[allow(clippy::useless_conversion, reason = "older versions have an Option")]
            token: token.to_owned().into(),
            ..TokenReviewSpec::default()
        };
        let review = TokenReview {
            spec,
            ..TokenReview::default()
        };
        let status = self.ask(&review).await?.status.unwrap_or_default();
        let user = match status.authenticated {
            Some(true) => Some(status.user.unwrap_or_default()),
            _ => None,
        };
        match &user {
            Some(user) => {
                remember(&self.users, key, user.clone(), USER);
                remember(&self.known, key, (), KNOWN);
            }
            None => remember(&self.invalid, key, (), USER),
        }
        Ok(user)
    }

    /// The remembered answer: the user, or none for an invalid token.
    fn reviewed(&self, token: &Key) -> Option<Option<UserInfo>> {
        let user = known(&self.users, token).map(Some);
        user.or_else(|| known(&self.invalid, token).map(|()| None))
    }

    async fn is_allowed(&self, user: UserInfo, verb: String, path: &str) -> Result<bool, Refusal> {
        let attributes = NonResourceAttributes {
            path: Some(path.to_owned()),
            verb: Some(verb),
        };
        let spec = SubjectAccessReviewSpec {
            user: user.username,
            uid: user.uid,
            groups: user.groups,
            extra: user.extra,
            non_resource_attributes: Some(attributes),
            ..SubjectAccessReviewSpec::default()
        };
        let text =
            serde_json::to_vec(&spec).map_err(|error| Refusal::Unknown(error.to_string()))?;
        let key = hash(&text);
        if let Some(allowed) = known(&self.decisions, &key) {
            return Ok(allowed);
        }
        let review = SubjectAccessReview {
            spec,
            ..SubjectAccessReview::default()
        };
        let status = self.ask(&review).await?.status;
        let allowed = status.is_some_and(|status| status.allowed);
        remember(
            &self.decisions,
            key,
            allowed,
            if allowed { ALLOWED } else { DENIED },
        );
        Ok(allowed)
    }

    /// Sends a review and returns it with its status.
    async fn ask<K>(&self, review: &K) -> Result<K, Refusal>
    where
        K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + DeserializeOwned + Serialize,
    {
        let api: Api<K> = Api::all(self.client.clone());
        let answer = timeout(TIMEOUT, api.create(&PostParams::default(), review)).await;
        let answer = answer.map_err(|_| "the API server does not answer".to_owned());
        answer
            .and_then(|answer| answer.map_err(|error| chain(&error)))
            .map_err(|error| Refusal::Unknown(format!("{}: {error}", K::kind(&()))))
    }
}

fn hash(text: &[u8]) -> Key {
    sha256(text)
}

fn known<V: Clone>(cache: &Mutex<Cache<V>>, key: &Key) -> Option<V> {
    let cache = cache.lock();
    cache.get(key, Instant::now())
}

fn remember<V: Clone>(cache: &Mutex<Cache<V>>, key: Key, value: V, lifetime: Duration) {
    let mut cache = cache.lock();
    cache.insert(key, value, Instant::now(), lifetime);
}

/// Passes a request whose sender may read the path.
pub(super) async fn filter(
    State(authorizer): State<Arc<Authorizer>>,
    request: Request,
    next: Next,
) -> Response {
    let token = bearer(request.headers());
    let (method, path) = (request.method(), request.uri().path());
    match authorizer.authorize(token, method, path).await {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// The token of `Authorization: Bearer …`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Unauthenticated => {
                let headers = [(WWW_AUTHENTICATE, "Bearer")];
                (StatusCode::UNAUTHORIZED, headers, "Unauthorized\n").into_response()
            }
            Self::Forbidden(user) => {
                tracing::debug!(user, "user may not read the metrics");
                let text = format!("Authorization denied for user {user}\n");
                (StatusCode::FORBIDDEN, text).into_response()
            }
            Self::Unknown(error) => {
                tracing::warn!(error, "cannot authorize a request for the metrics");
                (StatusCode::INTERNAL_SERVER_ERROR, "Authorization failed\n").into_response()
            }
        }
    }
}
