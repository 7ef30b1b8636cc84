//! When an object is reconciled again.

use std::time::Duration;

/// What a reconcile function asks for when it succeeded.
///
/// The same as kube's `Action`, which tells nobody but kube's own `Controller` what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    pub(crate) requeue_after: Option<Duration>,
}

impl Action {
    /// Reconcile when something changes, and again after `delay` if nothing does.
    #[must_use]
    pub const fn requeue(delay: Duration) -> Self {
        Self {
            requeue_after: Some(delay),
        }
    }

    /// Reconcile when something changes.
    #[must_use]
    pub const fn await_change() -> Self {
        Self {
            requeue_after: None,
        }
    }
}
