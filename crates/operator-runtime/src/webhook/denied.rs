//! Denials.

use std::{error::Error, fmt};

use kube::core::{Status, response::StatusDetails};

use super::{FieldErrors, Request};
use crate::error::chain;

/// The denial of a request by a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied(Why);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// The object has invalid fields.
    Invalid(FieldErrors),
    /// Any other denial, with the status code and the reason of the API server's response.
    Because {
        code: u16,
        reason: &'static str,
        message: String,
    },
}

impl Denied {
    /// The user may not do this; status 403.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::because(403, "Forbidden", message)
    }

    /// The webhook could not decide; status 500. With
    /// [`FailurePolicy::Ignore`](super::FailurePolicy::Ignore), the API server allows the request.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::because(500, "InternalError", message)
    }

    pub(super) fn because(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Why::Because {
            code,
            reason,
            message,
        })
    }

    /// Whether the webhook failed, rather than the request.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self.0, Why::Because { code, .. } if code >= 500)
    }

    /// The status for the user.
    pub(super) fn into_status(self, request: &Request) -> Status {
        let details = StatusDetails {
            name: request.name.clone(),
            group: request.kind.group.clone(),
            kind: request.kind.kind.clone(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: 0,
        };
        let (code, reason, message, causes) = match self.0 {
            Why::Because {
                code,
                reason,
                message,
            } => (code, reason, message, Vec::new()),
            Why::Invalid(errors) => {
                let dot = if details.group.is_empty() { "" } else { "." };
                let kind = format!("{}{dot}{}", details.kind, details.group);
                let message = format!("{kind} {:?} is invalid: {errors}", details.name);
                (422, "Invalid", message, errors.into_causes())
            }
        };
        // Without causes, kubectl would print the name of the object instead of the message.
        let details = (!causes.is_empty()).then_some(StatusDetails { causes, ..details });
        let status = Status::failure(&message, reason).with_code(code);
        Status { details, ..status }
    }
}

/// Formats the message, for tests and logs.
impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Invalid(errors) => errors.fmt(f),
            Why::Because { message, .. } => f.write_str(message),
        }
    }
}

impl Error for Denied {}

/// Status 422, with every field.
impl FieldErrors {
    /// Denies the request if there are errors.
    ///
    /// # Errors
    /// All field errors at once.
    pub fn into_result(self) -> Result<(), Denied> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(self.into()),
        }
    }
}

impl From<FieldErrors> for Denied {
    fn from(errors: FieldErrors) -> Self {
        Self(Why::Invalid(errors))
    }
}

/// Status 500: the webhook could not decide.
impl From<kube::Error> for Denied {
    fn from(error: kube::Error) -> Self {
        Self::internal(chain(&error))
    }
}

#[cfg(test)]
mod tests {
    use kube::core::GroupVersionKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_denial_is_a_status_of_kubernetes() {
        let request = |group: &str| Request {
            name: "a".to_owned(),
            kind: GroupVersionKind::gvk(group, "v1", "Widget"),
            ..Request::default()
        };
        let mut errors = FieldErrors::default();
        errors.invalid("spec.a", 3, "must be odd");
        errors.required("spec.b", "");
        let text = "[spec.a: Invalid value: 3: must be odd, spec.b: Required value]";
        assert_eq!(Denied::from(errors.clone()).to_string(), text);
        let status = Denied::from(errors).into_status(&request("example.com"));
        let expected = json!({
            "status": "Failure",
            "code": 422,
            "reason": "Invalid",
            "message": "Widget.example.com \"a\" is invalid: \
                        [spec.a: Invalid value: 3: must be odd, spec.b: Required value]",
            "details": {
                "name": "a",
                "group": "example.com",
                "kind": "Widget",
                "causes": [
                    {"field": "spec.a", "reason": "FieldValueInvalid", "message": "Invalid value: 3: must be odd"},
                    {"field": "spec.b", "reason": "FieldValueRequired", "message": "Required value"},
                ],
            },
        });
        assert_eq!(json!(status), expected);

        let status = Denied::forbidden("not you").into_status(&request(""));
        let expected =
            json!({"status": "Failure", "code": 403, "reason": "Forbidden", "message": "not you"});
        assert_eq!(json!(status), expected);
    }

    #[test]
    fn a_failed_call_is_not_the_users_fault() {
        let refused = Status::failure("secrets is forbidden", "Forbidden").with_code(403);
        let denied = Denied::from(kube::Error::Api(refused.boxed()));
        assert!(denied.is_failure());
        assert_eq!(denied, Denied::internal("secrets is forbidden"));
        assert!(!Denied::forbidden("no").is_failure());
        assert!(!Denied::from(FieldErrors::default()).is_failure());
    }

    #[test]
    fn errors_deny_and_none_allow() {
        let mut errors = FieldErrors::default();
        assert_eq!(errors.clone().into_result(), Ok(()));
        errors.required("a", "");
        assert_eq!(errors.clone().into_result(), Err(Denied::from(errors)));
    }
}
