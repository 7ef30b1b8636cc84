//! Which changes are worth a reconcile.

use std::sync::Arc;

use kube::api::ObjectMeta;

use crate::{Change, Object};

/// Decides whether a change reaches a controller. Without one, every change does.
#[derive(Clone)]
pub struct Predicate(Arc<dyn Fn(&Change<'_>) -> bool + Send + Sync>);

impl Predicate {
    /// A condition of your own.
    pub fn new(test: impl Fn(&Change<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(test))
    }

    /// A condition of your own on updates; creations and deletions pass.
    pub fn on_update<K: Object>(test: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> Self {
        Self::new(
            move |change| match (change.object_before(), change.object_after()) {
                (Some(old), Some(new)) => test(old, new),
                _ => true,
            },
        )
    }

    /// Passes unless only the status changed, or what the next four look at.
    ///
    /// A change of the finalizers passes, too: without it, an object whose deletion waits for the
    /// finalizer of somebody else would not be seen again. A type without generations, such as
    /// ConfigMap, passes with every change.
    pub fn generation() -> Self {
        Self::metadata(|old, new| {
            new.generation.is_none()
                || (old.generation, &old.finalizers, &old.deletion_timestamp)
                    != (new.generation, &new.finalizers, &new.deletion_timestamp)
        })
    }

    /// Passes when labels changed.
    pub fn labels() -> Self {
        Self::metadata(|old, new| old.labels != new.labels)
    }

    /// Passes when annotations changed.
    pub fn annotations() -> Self {
        Self::metadata(|old, new| old.annotations != new.annotations)
    }

    /// Passes when finalizers changed.
    pub fn finalizers() -> Self {
        Self::metadata(|old, new| old.finalizers != new.finalizers)
    }

    /// Passes when anything changed.
    pub fn resource_version() -> Self {
        Self::metadata(|old, new| old.resource_version != new.resource_version)
    }

    /// Passes when both do.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::new(move |change| self.passes(change) && other.passes(change))
    }

    /// Passes when one of both does.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::new(move |change| self.passes(change) || other.passes(change))
    }

    /// Passes when this does not.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "beside `and` and `or`")]
    pub fn not(self) -> Self {
        Self::new(move |change| !self.passes(change))
    }

    pub(super) fn passes(&self, change: &Change<'_>) -> bool {
        (self.0)(change)
    }

    fn metadata(differ: fn(&ObjectMeta, &ObjectMeta) -> bool) -> Self {
        Self::new(move |change| match (change.before(), change.after()) {
            (Some(old), Some(new)) => differ(old, new),
            _ => true,
        })
    }
}
