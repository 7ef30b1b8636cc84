//! Logs the API server's warnings, such as for a deprecated version, each once.

use std::{
    collections::BTreeSet,
    sync::Arc,
    task::{Context, Poll},
};

use futures::{TryFutureExt, future::BoxFuture};
use http::{HeaderMap, HeaderValue, Request, Response, header::WARNING};
use parking_lot::Mutex;
use tower::{Layer, Service};

/// The number of remembered warnings; more than this come from object names in the text.
const KNOWN: usize = 256;

/// The warnings that were logged.
#[derive(Clone, Default)]
pub(crate) struct Warnings(Arc<Mutex<BTreeSet<String>>>);

impl Warnings {
    /// Logs the new warnings of a response.
    fn log(&self, headers: &HeaderMap) {
        for warning in headers.get_all(WARNING).iter().filter_map(text) {
            let mut known = self.0.lock();
            if known.len() < KNOWN && known.insert(warning.clone()) {
                tracing::warn!(warning, "warning from the API server");
            }
        }
    }
}

impl<S> Layer<S> for Warnings {
    type Service = Warned<S>;

    fn layer(&self, inner: S) -> Warned<S> {
        let warnings = self.clone();
        Warned { warnings, inner }
    }
}

/// A service that logs warnings.
#[derive(Clone)]
pub(crate) struct Warned<S> {
    warnings: Warnings,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for Warned<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<R>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let warnings = self.warnings.clone();
        let log = move |response: &Response<R>| warnings.log(response.headers());
        Box::pin(self.inner.call(request).inspect_ok(log))
    }
}

/// The text of `299 - "text"` (RFC 7234, section 5.5), unescaped.
fn text(warning: &HeaderValue) -> Option<String> {
    let (_, text) = warning.to_str().ok()?.split_once('"')?;
    let mut unescaped = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return Some(unescaped),
            '\\' => unescaped.push(characters.next()?),
            other => unescaped.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (header, expected) in [
            (
                r#"299 - "v1beta1 is deprecated""#,
                Some("v1beta1 is deprecated"),
            ),
            (
                r#"299 - "unknown field \"spec.a\"""#,
                Some(r#"unknown field "spec.a""#),
            ),
            (r#"299 - "no end"#, None),
            ("299 -", None),
        ] {
            let found = text(&HeaderValue::from_static(header));
            assert_eq!(found.as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn each_warning_is_logged_once_and_memory_is_bounded() {
        let warnings = Warnings::default();
        for number in 0..2 * KNOWN {
            let header = format!("299 - \"{}\"", number / 2).parse().unwrap();
            warnings.log(&HeaderMap::from_iter([(WARNING, header)]));
        }
        assert_eq!(warnings.0.lock().len(), KNOWN);
    }
}
