//! From the bytes of an AdmissionReview to the bytes of its response.

#[cfg(test)]
mod tests;

use std::{any::Any, panic::AssertUnwindSafe, time::Duration};

use axum::http::StatusCode;
use futures::{FutureExt, future::BoxFuture};
use tokio::time::timeout;

use super::{
    Denied, FailurePolicy, Request,
    answer::{Answer, Decision},
    declaration::Declaration,
    review::{Question, Refusal, write},
    undeclared::Undeclared,
};
use crate::{error::panic_message, metrics::Counter, object::Rules};

/// The part of the webhook's timeout that remains when the function is cancelled, so that the response
/// still reaches the API server.
const SPARE: Duration = Duration::from_millis(500);

/// A webhook without the type parameter of its objects.
pub(crate) struct Definition<C> {
    pub(crate) declaration: Declaration,
    pub(crate) rules: Rules,
    pub(crate) answer: Box<dyn Answer<C>>,
    pub(crate) undeclared: Undeclared,
}

impl<C: Send + Sync> Definition<C> {
    /// Answers a review. `panics` counts panics of the function.
    ///
    /// # Errors
    /// If the body is not a review, or if the function fails and the failure policy is `Ignore`, which the
    /// API server applies.
    pub(crate) async fn admit(
        &self,
        body: &[u8],
        context: &C,
        panics: &Counter,
    ) -> Result<Vec<u8>, Refusal> {
        let question = Question::read(body).map_err(|text| (StatusCode::BAD_REQUEST, text))?;
        if let Some(what) = self.declaration.lacks(&question.request) {
            let path = &self.declaration.path;
            return self.undeclared.allow(&question, path, &what);
        }
        let answer = self.answer.answer(&question, context);
        let decision = self.guard(answer, panics).await;
        let request = &question.request;
        let failed = |denied: Denied| {
            let ignored = self.declaration.failure_policy == FailurePolicy::Ignore;
            let failure = denied.is_failure();
            let status = denied.into_status(request);
            if failure {
                let (path, error) = (&self.declaration.path, &status.message);
                tracing::error!(path, ignored, error, "webhook failed");
            }
            match failure && ignored {
                true => Err((StatusCode::INTERNAL_SERVER_ERROR, status.message)),
                false => Ok(Err(status)),
            }
        };
        let decision = decision.map_or_else(failed, |patch| Ok(Ok(patch)))?;
        let unwritable =
            |error: serde_json::Error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
        write(&question.uid, request.warnings(), decision).map_err(unwritable)
    }

    /// The decision of a function that may panic or exceed its timeout.
    async fn guard(&self, answer: BoxFuture<'_, Decision>, panics: &Counter) -> Decision {
        let limit = self.declaration.timeout.saturating_sub(SPARE);
        let panicked = |payload: Box<dyn Any + Send>| {
            panics.inc();
            let message = format!("the webhook panicked: {}", panic_message(&*payload));
            Err(Denied::internal(message))
        };
        match timeout(limit, AssertUnwindSafe(answer).catch_unwind()).await {
            Ok(decision) => decision.unwrap_or_else(panicked),
            Err(_) => {
                let message = format!("the webhook did not decide within {limit:?}");
                // The API server reports its own timeouts with the same reason. Clients would retry a 504.
                Err(Denied::internal(message))
            }
        }
    }
}

impl Declaration {
    /// The part of a request that this webhook does not declare; `None` if it declares the request.
    fn lacks(&self, request: &Request) -> Option<String> {
        let part = request.sub_resource.as_deref();
        let known_part = match part {
            Some(part) => self.subresources.iter().any(|known| known == part),
            None => self.subresources.is_empty(),
        };
        if request.kind != self.kind {
            let kind = &request.kind;
            Some(format!("{} in {}/{}", kind.kind, kind.group, kind.version))
        } else if !known_part {
            Some(match part {
                Some(part) => format!("subresource `{part}`"),
                None => "the resource itself".to_owned(),
            })
        } else if !self.operations.contains(&request.operation) {
            Some(request.operation.to_string())
        } else {
            None
        }
    }
}
