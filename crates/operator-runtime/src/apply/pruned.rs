//! Finds the children that are to be pruned.

use std::sync::Arc;

use parking_lot::Mutex;

use super::ChildError;
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
    owner: ScopedResource,
    child: ScopedResource,
    selector: Selector,
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
        owner: &ScopedResource,
        child: &ScopedResource,
        selector: &Selector,
    ) {
        self.declared.lock().push(Declared {
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
        let is_declared = declared.any(|it| same(&it.owner, owner) && same(&it.child, child));
        if is_declared || self.everything.is_some() {
            return Ok(());
        }
        Err(ChildError::NotPruned {
            child: child.resource.kind.clone(),
            owner: owner.resource.kind.clone(),
        })
    }

    /// The objects that the owner with this uid controls, of the kinds that its controllers prune.
    pub(super) async fn search(&self, cache: &Cache, owner: &ScopedResource, uid: &str) -> Found {
        if let Some(everything) = &self.everything {
            return everything(uid);
        }
        let sources: Vec<_> = {
            let declared = self.declared.lock();
            let declared = declared.iter().filter(|it| same(&it.owner, owner));
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

/// Whether both are the same type, in any version.
fn same(one: &ScopedResource, other: &ScopedResource) -> bool {
    let (one, other) = (&one.resource, &other.resource);
    one.group == other.group && one.plural == other.plural
}
