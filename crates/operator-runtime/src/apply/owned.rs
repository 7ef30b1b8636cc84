//! What a controller owns in the status of its objects, as its last writes have shown.

use std::collections::{BTreeSet, HashMap};

use kube::api::ObjectMeta;
use parking_lot::Mutex;

use super::{parts::Part, written};
use crate::cache::Key;

/// What a controller owns in the status of its objects, since its last write of each.
#[derive(Default)]
pub(crate) struct Owned(Mutex<HashMap<Key, OfObject>>);

/// The uid of an object, and the parts of its status.
type OfObject = (Option<String>, BTreeSet<Part>);

impl Owned {
    pub(super) fn of(&self, object: &ObjectMeta) -> Option<BTreeSet<Part>> {
        let owned = self.0.lock();
        let (uid, parts) = owned.get(&Key::of(object))?;
        (*uid == object.uid).then(|| parts.clone())
    }

    pub(super) fn note(&self, object: &ObjectMeta, parts: BTreeSet<Part>) {
        // Nothing reports the deletion of other objects than those of the controller.
        if written::is_reconciled(object) {
            let entry = (object.uid.clone(), parts);
            self.0.lock().insert(Key::of(object), entry);
        }
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.0.lock().remove(key);
    }
}
