//! Users' webhook functions.

use super::{Change, Denied, Request};

/// An `async fn(&mut K, &Request, &C) -> Result<(), Denied>`.
#[diagnostic::on_unimplemented(
    message = "this function does not default a `{K}`",
    label = "expected `async fn(&mut {K}, &Request, &{C}) -> Result<(), Denied>`"
)]
pub trait Defaulting<'a, K, C>: Send + Sync + 'static {
    /// The future of the function.
    type Future: Future<Output = Result<(), Denied>> + Send + 'a;

    /// Calls the function.
    fn call(&self, object: &'a mut K, request: &'a Request, context: &'a C) -> Self::Future;
}

impl<'a, K, C, F, Fut> Defaulting<'a, K, C> for F
where
    K: 'a,
    C: 'a,
    F: Fn(&'a mut K, &'a Request, &'a C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Denied>> + Send + 'a,
{
    type Future = Fut;

    fn call(&self, object: &'a mut K, request: &'a Request, context: &'a C) -> Fut {
        self(object, request, context)
    }
}

/// An `async fn(&Change<K>, &Request, &C) -> Result<(), Denied>`.
#[diagnostic::on_unimplemented(
    message = "this function does not validate a `{K}`",
    label = "expected `async fn(&Change<{K}>, &Request, &{C}) -> Result<(), Denied>`"
)]
pub trait Validating<'a, K, C>: Send + Sync + 'static {
    /// The future of the function.
    type Future: Future<Output = Result<(), Denied>> + Send + 'a;

    /// Calls the function.
    fn call(&self, change: &'a Change<K>, request: &'a Request, context: &'a C) -> Self::Future;
}

impl<'a, K, C, F, Fut> Validating<'a, K, C> for F
where
    K: 'a,
    C: 'a,
    F: Fn(&'a Change<K>, &'a Request, &'a C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Denied>> + Send + 'a,
{
    type Future = Fut;

    fn call(&self, change: &'a Change<K>, request: &'a Request, context: &'a C) -> Fut {
        self(change, request, context)
    }
}
