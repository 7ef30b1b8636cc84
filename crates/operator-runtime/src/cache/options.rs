//! The selection of a store, and its transform.

use std::marker::PhantomData;

use kube::core::NamespaceResourceScope;

use super::Form;
use crate::object::{Selector, TypedObject};

/// The selection of a [`Store`](crate::Store), and the form of its objects. Default: whole objects, in all
/// namespaces that the operator watches. controller-runtime's name is `cache.Options.ByObject`.
///
/// Stores with equal options share a watch; a store with other options has its own.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use operator_runtime::{Manager, Store, StoreOptions};
///
/// struct Context {
///     /// The Secrets that are labelled for this operator.
///     passwords: Store<Secret>,
///     /// All Secrets of the cluster, without their data.
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
    pub(crate) optional: bool,
    objects: PhantomData<fn() -> K>,
}

impl<K: TypedObject> StoreOptions<K> {
    /// All objects, whole.
    pub fn new() -> Self {
        Self {
            selector: Selector::default(),
            transform: None,
            optional: false,
            objects: PhantomData,
        }
    }

    /// Selects objects by a label selector, such as `app=web,tier!=cache`.
    pub fn labels(mut self, selector: &str) -> Self {
        self.selector.labels = Some(selector.to_owned());
        self
    }

    /// Selects objects by a field selector, such as `type=kubernetes.io/tls` for Secrets. The supported
    /// fields depend on the type; a custom resource supports the fields marked `selectable`.
    pub fn fields(mut self, selector: &str) -> Self {
        self.selector.fields = Some(selector.to_owned());
        self
    }

    /// Selects objects in these namespaces, regardless of the namespaces of the operator. An empty list
    /// selects the operator's namespaces.
    pub fn namespaces<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self
    where
        K: TypedObject<Scope = NamespaceResourceScope>,
    {
        self.selector.namespaces = names.into_iter().map(Into::into).collect();
        self
    }

    /// The type may be missing, as with [`Watch::optional`](crate::Watch::optional): the store is empty while the
    /// API server does not serve it.
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Drops parts of each object before it is cached. Dropped parts are missing for every reader of the
    /// store, and in the store's [indexes](crate::Store::index). Name, namespace, uid, versions, owner
    /// references, finalizers and timestamps stay; labels and annotations may go.
    ///
    /// Only the cached parts count against the memory limit of a Pod: objects arrive a few at a time, and
    /// each is transformed before the next. `transform` is a function or a closure without captures, which
    /// the compiler checks: two stores share a watch if their transforms are the same function. If the
    /// transform panics, the object counts as undecodable.
    ///
    /// A watch of the type without this transform, such as `Controller::watches`, caches whole objects of
    /// its own. [`Watch::from`](crate::Watch) these options shares the store's watch.
    pub fn transform<F>(mut self, transform: F) -> Self
    where
        F: Fn(&mut K) + Send + Sync + 'static,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "a transform must not capture variables"
            )
        };
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
