//! When an object is reconciled again.

use std::time::Duration;

use kube::runtime::controller;

/// What a reconcile function asks for when it succeeded.
///
/// It reads as kube's [`Action`](controller::Action) and converts into it. It is a type of its own because kube's can be
/// made but not read: its delay is private to kube's `Controller`, so that there is no way back.
///
/// A reconcile function may also return what converts into this: a [`Duration`] requeues, and `()` awaits a change.
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

impl From<()> for Action {
    fn from((): ()) -> Self {
        Self::await_change()
    }
}

impl From<Duration> for Action {
    fn from(delay: Duration) -> Self {
        Self::requeue(delay)
    }
}

impl From<Action> for controller::Action {
    fn from(action: Action) -> Self {
        action
            .requeue_after
            .map_or_else(Self::await_change, Self::requeue)
    }
}
