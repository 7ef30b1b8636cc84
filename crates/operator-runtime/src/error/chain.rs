//! One-line texts of errors and panics.

use std::{any::Any, error::Error};

use kube::core::Status;

/// The message of a panic.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    literal
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// An error and its causes in one line, without repetition.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = message(error);
    let mut source = cause(error);
    while let Some(error) = source {
        let (whole, part) = (error.to_string(), message(error));
        if text.contains(&whole) {
            text = text.replace(&whole, &part);
        } else if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
        source = cause(error);
    }
    text
}

/// An error with its causes in one line, without repetition: for a condition, an event or a log.
///
/// A response of the API server says its message, its code and its reason (`metav1.Status`). kube's own text
/// repeats the whole `Status` in Rust's debug form, which is nothing to show to users.
///
/// ```
/// use kube::core::Status;
/// use operator_runtime::in_one_line;
///
/// let status = Status::failure("pods \"web\" already exists", "AlreadyExists").with_code(409);
/// let error = kube::Error::Api(status.boxed());
/// assert_eq!(in_one_line(&error), "pods \"web\" already exists (409 AlreadyExists)");
/// ```
pub fn in_one_line(error: &(dyn Error + 'static)) -> String {
    let text = chain(error);
    let (mut next, mut found) = (Some(error), None);
    while let Some(error) = next {
        found = found.or_else(|| refusal(error));
        next = error.source();
    }
    let Some(Status { code, reason, .. }) = found else {
        return text;
    };
    match reason.as_str() {
        "" => format!("{text} ({code})"),
        reason => format!("{text} ({code} {reason})"),
    }
}

/// The message of an error. For a response of the API server, only its message; kube adds the whole Status.
fn message(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    match refusal(error) {
        Some(status) => text.replace(&format!("ApiError: {status} ({status:?})"), &status.message),
        None => text,
    }
}

/// The cause of an error. The causes of an API server response only repeat the response.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match refusal(error) {
        Some(_) => None,
        None => error.source(),
    }
}

/// The API server's response that directly caused an error. It is looked up in the cause, because an
/// `#[error(transparent)]` error hides its `kube::Error`.
pub(crate) fn refusal<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Status> {
    let status = error.source()?.downcast_ref::<Box<Status>>()?;
    Some(status)
}

#[cfg(test)]
mod tests {
    use kube::runtime::watcher;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Layer>>);

    #[test]
    fn a_cause_is_said_once() {
        let error = |text, source| Layer(text, source);
        let inner = || Some(Box::new(error("refused", None)));
        assert_eq!(
            chain(&error("cannot connect", inner())),
            "cannot connect: refused"
        );
        assert_eq!(
            chain(&error("cannot connect: refused", inner())),
            "cannot connect: refused"
        );
    }
    #[test]
    fn the_response_of_the_api_server_is_left_out() {
        let status = Status::failure("storage is (re)initializing", "TooManyRequests");
        let error = watcher::Error::WatchStartFailed(kube::Error::Api(status.boxed()));
        assert_eq!(
            chain(&error),
            "failed to start watching object: storage is (re)initializing"
        );
    }

    #[derive(Debug, thiserror::Error)]
    enum Reconcile {
        #[error(transparent)]
        Transparent(kube::Error),
        #[error("cannot apply: {0}")]
        Wrapped(#[source] kube::Error),
    }

    #[test]
    fn the_response_is_named_behind_the_text() {
        let status = |reason: &str| Status::failure("not now", reason).with_code(503);
        let error = |reason: &str| Reconcile::Wrapped(kube::Error::Api(status(reason).boxed()));
        assert_eq!(
            in_one_line(&error("ServiceUnavailable")),
            "cannot apply: not now (503 ServiceUnavailable)"
        );
        assert_eq!(in_one_line(&error("")), "cannot apply: not now (503)");
        assert_eq!(in_one_line(&Layer("a", None)), "a");
    }

    #[test]
    fn the_response_is_left_out_of_the_errors_of_users() {
        let refused = || kube::Error::Api(Status::failure("not now", "Conflict").boxed());
        assert_eq!(chain(&refused()), "not now");
        assert_eq!(chain(&Reconcile::Transparent(refused())), "not now");
        assert_eq!(
            chain(&Reconcile::Wrapped(refused())),
            "cannot apply: not now"
        );
    }
}
