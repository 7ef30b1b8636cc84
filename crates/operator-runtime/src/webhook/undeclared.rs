//! Requests that this replica does not declare: during a rollout, the webhook configuration is already that
//! of the newer replicas.

use axum::http::StatusCode;
use parking_lot::Mutex;

use super::{
    repeated::Repeated,
    review::{Question, Refusal, write},
};

/// Allows requests that this replica does not declare, with a warning for the user.
#[derive(Debug, Default)]
pub(crate) struct Undeclared {
    logged: Mutex<Repeated>,
}

impl Undeclared {
    /// The response to a request for `what` at `path`: allowed, as if the webhook were not registered for
    /// it yet.
    ///
    /// # Errors
    /// An error of JSON serialization.
    pub(crate) fn allow(
        &self,
        question: &Question<'_>,
        path: &str,
        what: &str,
    ) -> Result<Vec<u8>, Refusal> {
        let request = &question.request;
        request.warn(format!(
            "allowed without its webhook: `{path}` does not handle {what} in this version of the operator"
        ));
        // One line for all requests: their number has no limit.
        if self.logged.lock().is_due("") {
            tracing::warn!(
                path,
                what,
                "allowed without its webhook: the webhook configuration in the cluster is not this \
                 replica's, as during a rollout"
            );
        }
        let unwritable =
            |error: serde_json::Error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
        write(&question.uid, request.warnings(), Ok(None)).map_err(unwritable)
    }

    /// The response to a review at a path without a webhook.
    ///
    /// # Errors
    /// If the body is not a review.
    pub(crate) fn allow_at(&self, path: &str, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let question = Question::read(body).map_err(|text| (StatusCode::NOT_FOUND, text))?;
        let kind = &question.request.kind.kind;
        self.allow(&question, path, kind)
    }
}
