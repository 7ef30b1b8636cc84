//! Events from outside of the cluster.

use std::{marker::PhantomData, sync::Arc};

use kube::runtime::reflector::ObjectRef;

use crate::{cache::Key, object::TypedObject, queue::Queue};

/// Makes a controller reconcile an object for a reason that no watch shows: a message, a call of a
/// web hook, a timer of your own. A clone is cheap.
pub struct Trigger<K> {
    queue: Arc<Queue<Key>>,
    objects: PhantomData<fn(K)>,
}

impl<K: TypedObject> Trigger<K> {
    pub(crate) fn new(queue: Arc<Queue<Key>>) -> Self {
        Self {
            queue,
            objects: PhantomData,
        }
    }

    /// Asks for a reconcile, soon. Asking again before it began changes nothing, and neither does
    /// asking for an object that is not there.
    pub fn reconcile(&self, object: &ObjectRef<K>) {
        let key = Key::new(object.namespace.as_deref(), &object.name);
        self.queue.add(&key);
    }
}

impl<K> Clone for Trigger<K> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            objects: PhantomData,
        }
    }
}
