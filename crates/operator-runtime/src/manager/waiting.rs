//! A controller before the manager runs.

use std::sync::Arc;

use kube::api::ApiResource;

use crate::{
    apply::writer::Writer,
    cache::Key,
    controller::{Environment, Prepared},
    error::{Error, Unshared},
    object::ScopedResource,
    queue::Queue,
};

/// A controller with its context, before the manager runs.
pub(super) struct Waiting {
    pub(super) name: &'static str,
    /// The primary type and the condition that reports a failure.
    pub(super) shows: Option<(ScopedResource, &'static str)>,
    /// The primary type, and the types of children that the controller prunes.
    pub(super) prunes: (ScopedResource, Vec<ScopedResource>),
    /// The types that must not be spokes.
    pub(super) uses: Vec<ApiResource>,
    /// Whether its objects can be shared, if they are.
    pub(super) shares: Result<(), Unshared>,
    pub(super) is_sharded: bool,
    pub(super) prepare: Box<Prepare>,
}

type Prepare = dyn FnOnce(Arc<Queue<Key>>, Writer, &Environment) -> Result<Prepared, Error> + Send;
