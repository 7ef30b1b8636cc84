//! The choices that a webhook has.

/// What happens when a webhook gives no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The request fails.
    Fail,
    /// The request goes on as if there were no webhook.
    Ignore,
}

/// Which versions of a type a webhook is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchPolicy {
    /// All; objects are converted to the webhook's version.
    Equivalent,
    /// Only its own.
    Exact,
}

/// Whether a webhook changes anything but its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideEffects {
    /// It does not.
    None,
    /// It does, but never for a [dry run](super::Request::dry_run).
    NoneOnDryRun,
}

/// Whether a defaulting webhook is asked again when others changed the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReinvocationPolicy {
    /// It is not.
    Never,
    /// It is, at least once.
    IfNeeded,
}
