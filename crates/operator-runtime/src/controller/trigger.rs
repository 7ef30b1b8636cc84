//! Events from outside the cluster.

use std::{marker::PhantomData, sync::Arc};

use kube::runtime::reflector::ObjectRef;

use crate::{cache::Key, object::TypedObject, queue::Queue};

/// Makes a controller reconcile an object on an event that no watch shows: a message, a call of a web hook,
/// a timer of your own. Clones are cheap.
pub struct Trigger<K> {
    queue: Arc<Queue<Key>>,
    priority: i32,
    objects: PhantomData<fn(K)>,
}

impl<K: TypedObject> Trigger<K> {
    pub(crate) fn new(queue: Arc<Queue<Key>>) -> Self {
        Self {
            queue,
            priority: 0,
            objects: PhantomData,
        }
    }

    /// Queues objects with this [priority](crate::guide::controllers#priorities). Default: 0.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Queues an object for a reconcile. Repeated calls before the reconcile have no effect, nor do calls
    /// for an object that does not exist.
    pub fn reconcile(&self, object: &ObjectRef<K>) {
        let key = Key::new(object.namespace.as_deref(), &object.name);
        self.queue.add(&key, self.priority);
    }
}

impl<K> Clone for Trigger<K> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            priority: self.priority,
            objects: PhantomData,
        }
    }
}
