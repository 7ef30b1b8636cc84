//! The outcome of a reconcile.

/// The outcome of a reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Succeeded, without a requeue.
    Success,
    /// Succeeded, with a requeue after a delay.
    RequeueAfter,
    /// Failed, to be retried.
    Error,
    /// Failed, not to be retried.
    TerminalError,
    /// Exceeded its timeout, to be retried.
    Timeout,
    /// Panicked, to be retried.
    Panic,
}
