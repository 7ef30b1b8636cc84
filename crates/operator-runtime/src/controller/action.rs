//! The result of a reconcile: whether and when to requeue.

use std::time::Duration;

use kube::runtime::controller;

/// The result of a successful reconcile.
///
/// It mirrors kube's [`Action`](controller::Action) and converts into it, without the priority. It is a
/// separate type because the delay in kube's `Action` is private, so this crate could not read it.
///
/// A reconcile function may also return a [`Duration`], which requeues, or `()`, which awaits a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    pub(crate) requeue_after: Option<Duration>,
    pub(crate) priority: Option<i32>,
}

impl Action {
    /// Reconciles on the next change, or after `delay` if there is none.
    #[must_use]
    pub const fn requeue(delay: Duration) -> Self {
        Self {
            requeue_after: Some(delay),
            priority: None,
        }
    }

    /// Reconciles on the next change.
    #[must_use]
    pub const fn await_change() -> Self {
        Self {
            requeue_after: None,
            priority: None,
        }
    }

    /// Requeues with this [priority](crate::guide::controllers#priorities). Default: the priority with which
    /// the object was queued. Without a requeue, it has no effect.
    #[must_use]
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
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
