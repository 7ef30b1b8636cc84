//! Why a request is denied.

use crate::logs::chain;

use super::FieldErrors;

/// Why a webhook denies a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied(pub(super) Why);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The object has fields that are wrong.
    Invalid(FieldErrors),
    /// Anything else, with the status code and the reason of the API server's answer.
    Because {
        code: u16,
        reason: &'static str,
        message: String,
    },
}

impl Denied {
    /// Whoever asks may not do this; status 403.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::because(403, "Forbidden", message)
    }

    pub(super) fn because(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Why::Because {
            code,
            reason,
            message,
        })
    }
}

/// Status 422, with every field.
impl From<FieldErrors> for Denied {
    fn from(errors: FieldErrors) -> Self {
        Self(Why::Invalid(errors))
    }
}

/// Status 500: the webhook could not decide.
impl From<kube::Error> for Denied {
    fn from(error: kube::Error) -> Self {
        Self::because(500, "InternalError", chain(&error))
    }
}
