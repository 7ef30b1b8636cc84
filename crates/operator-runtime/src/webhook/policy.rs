//! The policies of a webhook.

/// The reaction of the API server when a webhook fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The request fails.
    Fail,
    /// The request continues without the webhook.
    Ignore,
}

/// The versions of a type that a webhook receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchPolicy {
    /// All versions; objects are converted to the webhook's version.
    Equivalent,
    /// Only the webhook's own version.
    Exact,
}

/// Whether a webhook changes anything but its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideEffects {
    /// No side effects.
    None,
    /// Side effects, but not for a [dry run](super::Request::dry_run).
    NoneOnDryRun,
}

/// Whether a defaulting webhook runs again after other webhooks changed the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReinvocationPolicy {
    /// The webhook runs once.
    Never,
    /// The webhook may run again.
    IfNeeded,
}
