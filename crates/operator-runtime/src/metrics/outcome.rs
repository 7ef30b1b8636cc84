//! How a reconcile ended.

/// How a reconcile ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to do until something changes.
    Success,
    /// To be done again after a time.
    RequeueAfter,
    /// Failed, to be retried.
    Error,
    /// Failed, not to be retried.
    TerminalError,
    /// Took longer than it may, to be retried.
    Timeout,
    /// Panicked, to be retried.
    Panic,
}
