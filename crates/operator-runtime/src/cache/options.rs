//! Which objects a store holds, and what it keeps of each.

use std::marker::PhantomData;

use kube::core::NamespaceResourceScope;

use super::Form;
use crate::object::{Selector, TypedObject};

/// Which objects a [`Store`](crate::Store) holds, and what it keeps of each: by default all objects
/// where the operator works, whole. controller-runtime calls these `cache.Options.ByObject`.
///
/// Stores with the same options are one watch; other options are a watch of their own.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use operator_runtime::{Manager, Store, StoreOptions};
///
/// struct Context {
///     /// Those that say that they are for this operator.
///     passwords: Store<Secret>,
///     /// All of the cluster, without what is in them.
///     names: Store<Secret>,
/// }
///
/// fn context(manager: &Manager) -> Context {
///     let labels = "app.kubernetes.io/part-of=memcached";
///     Context {
///         passwords: manager.store_with(StoreOptions::new().labels(labels)),
///         names: manager.store_with(StoreOptions::new().transform(without_data)),
///     }
/// }
///
/// fn without_data(secret: &mut Secret) {
///     secret.data = None;
///     secret.metadata.annotations = None;
/// }
/// ```
#[derive(Clone)]
#[must_use]
pub struct StoreOptions<K> {
    pub(crate) selector: Selector,
    pub(crate) transform: Option<Form>,
    objects: PhantomData<fn() -> K>,
}

impl<K: TypedObject> StoreOptions<K> {
    /// All objects, whole.
    pub fn new() -> Self {
        Self {
            selector: Selector::default(),
            transform: None,
            objects: PhantomData,
        }
    }

    /// Only objects that match a label selector, such as `app=web,tier!=cache`.
    pub fn labels(mut self, selector: &str) -> Self {
        self.selector.labels = Some(selector.to_owned());
        self
    }

    /// Only objects that match a field selector, such as `type=kubernetes.io/tls` of Secrets. Which
    /// fields there are depends on the type; of a custom resource, those marked `selectable`.
    pub fn fields(mut self, selector: &str) -> Self {
        self.selector.fields = Some(selector.to_owned());
        self
    }

    /// Only objects in these namespaces, whichever the operator works in otherwise; none given are
    /// those.
    pub fn namespaces<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self
    where
        K: TypedObject<Scope = NamespaceResourceScope>,
    {
        self.selector.namespaces = names.into_iter().map(Into::into).collect();
        self
    }

    /// Drops what is not needed, before an object is kept: whatever `transform` drops is missing for every
    /// reader of the store, and in the store's [indexes](crate::Store::index). Name, namespace, uid, versions,
    /// owners, finalizers and times stay; labels and annotations may go.
    ///
    /// Only what is kept counts against the memory limit of a Pod: objects come a few at a time, and each
    /// is transformed before the next. `transform` is a function or a closure that captures nothing, which
    /// the compiler checks: two stores share a watch if their transforms are the same one. If it
    /// panics, the object counts as one that does not decode.
    ///
    /// Whoever watches the type without this transform, as `Controller::watches` does, is a watch that
    /// keeps whole objects; [`Watch::from`](crate::Watch) these options is not.
    pub fn transform<F>(mut self, transform: F) -> Self
    where
        F: Fn(&mut K) + Send + Sync + 'static,
    {
        const { assert!(size_of::<F>() == 0, "a transform captures nothing") };
        self.transform = Some(Form::transformed(transform));
        self
    }

    pub(crate) fn form(&self) -> Form {
        self.transform.clone().unwrap_or_else(Form::of::<K>)
    }
}

impl<K: TypedObject> Default for StoreOptions<K> {
    fn default() -> Self {
        Self::new()
    }
}
