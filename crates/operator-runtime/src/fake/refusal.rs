//! Errors of the fake API server, in the API server's words.

use kube::core::{Status, response::StatusDetails};
use serde_json::{Value, json};

use crate::fake::request::RecordedRequest;

/// An error response.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) Box<Status>);

impl Refusal {
    pub(super) fn new(code: u16, message: &str) -> Self {
        Self(
            Status::failure(message, reason(code))
                .with_code(code)
                .boxed(),
        )
    }

    /// An error about the object of `request`.
    fn about(request: &RecordedRequest, name: &str, code: u16, message: &str) -> Self {
        let Self(mut status) = Self::new(code, message);
        status.details = Some(StatusDetails {
            name: name.to_owned(),
            group: request.group.clone(),
            kind: request.resource.clone(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: 0,
        });
        Self(status)
    }

    pub(super) fn not_found(request: &RecordedRequest, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", qualified(request));
        Self::about(request, name, 404, &message)
    }

    pub(super) fn exists(request: &RecordedRequest, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", qualified(request));
        let Self(mut status) = Self::about(request, name, 409, &message);
        "AlreadyExists".clone_into(&mut status.reason);
        Self(status)
    }

    pub(super) fn conflict(request: &RecordedRequest, name: &str, why: &str) -> Self {
        let what = qualified(request);
        let message = format!("Operation cannot be fulfilled on {what} \"{name}\": {why}");
        Self::about(request, name, 409, &message)
    }

    pub(super) fn into_json(self) -> Value {
        let mut value = json!(self.0);
        value["apiVersion"] = "v1".into();
        value["kind"] = "Status".into();
        value
    }
}

/// The resource with its group, if it has one.
fn qualified(request: &RecordedRequest) -> String {
    match &*request.group {
        "" => request.resource.clone(),
        group => format!("{}.{group}", request.resource),
    }
}

/// The reason for a status code.
fn reason(code: u16) -> &'static str {
    match code {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        409 => "Conflict",
        410 => "Expired",
        415 => "UnsupportedMediaType",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "Unknown",
    }
}
