//! Finds the children that are to be pruned.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{ChildError, writer};
use crate::{
    cache::{Cache, Entry},
    object::{ScopedResource, Selector},
};

/// Objects with their types.
type Found = Vec<(ScopedResource, Entry)>;

/// The kinds that controllers prune.
#[derive(Clone, Default)]
pub(super) struct Pruned {
    declared: Arc<Mutex<Vec<Declared>>>,
    /// Finds every object that the owner with a uid controls; used by the fake, where no kinds are
    /// declared.
    everything: Option<Everything>,
}

pub(crate) type Everything = Arc<dyn Fn(&str) -> Found + Send + Sync>;

struct Declared {
    /// The field manager of the controller.
    manager: String,
    owner: ScopedResource,
    child: ScopedResource,
    selector: Selector,
}

impl Declared {
    /// Whether it is about children of `owner`, for the running controller.
    fn is_of(&self, owner: &ScopedResource) -> bool {
        let others = writer::current().is_some_and(|writer| *writer.manager != *self.manager);
        !others && self.owner.is_same(owner)
    }
}

impl Pruned {
    #[cfg(feature = "testing")]
    pub(super) fn of_everything(everything: Everything) -> Self {
        Self {
            declared: Arc::default(),
            everything: Some(everything),
        }
    }

    pub(super) fn declare(
        &self,
        manager: String,
        owner: &ScopedResource,
        child: &ScopedResource,
        selector: &Selector,
    ) {
        self.declared.lock().push(Declared {
            manager,
            owner: owner.clone(),
            child: child.clone(),
            selector: selector.clone(),
        });
    }

    /// Refuses a child of a kind that pruning would not find.
    pub(super) fn check(
        &self,
        owner: &ScopedResource,
        child: &ScopedResource,
    ) -> Result<(), ChildError> {
        let declared = self.declared.lock();
        let mut declared = declared.iter();
        let is_declared = declared.any(|it| it.is_of(owner) && it.child.is_same(child));
        if is_declared || self.everything.is_some() {
            return Ok(());
        }
        Err(ChildError::NotPruned {
            child: child.resource.kind.clone(),
            owner: owner.resource.kind.clone(),
        })
    }

    /// The objects that the owner with this uid controls, of the kinds that the running controller prunes;
    /// outside of a reconcile, of all kinds that controllers of the owner prune.
    pub(super) async fn search(&self, cache: &Cache, owner: &ScopedResource, uid: &str) -> Found {
        if let Some(everything) = &self.everything {
            return everything(uid);
        }
        let sources: Vec<_> = {
            let declared = self.declared.lock();
            let declared = declared.iter().filter(|it| it.is_of(owner));
            declared
                .filter_map(|it| cache.find(&it.child, &it.selector))
                .collect()
        };
        let mut found = Vec::new();
        for source in sources {
            source.filled().await;
            let children = source.controlled_by(uid).into_iter();
            found.extend(children.map(|child| (source.kind.clone(), child)));
        }
        found
    }
}
