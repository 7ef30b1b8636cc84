//! What a reconcile has written to its object, so that the next one does not see the object before that.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kube::api::ObjectMeta;

use crate::cache::Key;

/// How long a watch may take to show a write until nobody waits for it any more.
pub(crate) const LAG: Duration = Duration::from_secs(1);

tokio::task_local! {
    static WRITTEN: Written;
}

struct Written {
    uid: Option<String>,
    version: Cell<Option<u128>>,
}

/// Runs `reconcile` of an object; tells the newest version of it that [`note`] was told of meanwhile.
pub(crate) async fn during<T>(
    object: &ObjectMeta,
    reconcile: impl Future<Output = T>,
) -> (T, Option<u128>) {
    let written = Written {
        uid: object.uid.clone(),
        version: Cell::new(None),
    };
    let run = async {
        let result = reconcile.await;
        (result, WRITTEN.with(|written| written.version.get()))
    };
    WRITTEN.scope(written, run).await
}

/// Notes an object as the API server answered a write of it.
pub(crate) fn note(object: &ObjectMeta) {
    // Outside of a reconcile, nobody asks.
    _ = WRITTEN.try_with(|written| {
        if written.uid == object.uid {
            let newest = written.version.get().max(version(object));
            written.version.set(newest);
        }
    });
}

/// The resource version as a number, which it is since Kubernetes 1.35 and was in fact before.
pub(crate) fn version(object: &ObjectMeta) -> Option<u128> {
    object.resource_version.as_ref()?.parse().ok()
}

/// The objects of which the watch has not shown yet what a reconcile wrote.
#[derive(Default)]
pub(crate) struct Awaited(Mutex<HashMap<Key, (u128, Instant)>>);

impl Awaited {
    pub(crate) fn note(&self, key: &Key, version: u128) {
        self.lock().insert(key.clone(), (version, Instant::now()));
    }

    /// Whether a newer version than this one is about to come.
    pub(crate) fn is_behind(&self, key: &Key, object: &ObjectMeta) -> bool {
        let mut awaited = self.lock();
        let Some((newest, since)) = awaited.get(key) else {
            return false;
        };
        let behind = version(object) < Some(*newest) && since.elapsed() < LAG;
        if !behind {
            awaited.remove(key);
        }
        behind
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, (u128, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(uid: &str, version: &str) -> ObjectMeta {
        ObjectMeta {
            uid: Some(uid.to_owned()),
            resource_version: Some(version.to_owned()),
            ..ObjectMeta::default()
        }
    }

    #[tokio::test]
    async fn the_newest_version_of_the_object_counts() {
        let reconcile = async {
            for (uid, version) in [
                ("a", "9"),
                ("a", "11"),
                ("b", "99"),
                ("a", "10"),
                ("a", "x"),
            ] {
                note(&object(uid, version));
            }
        };
        let ((), newest) = during(&object("a", "8"), reconcile).await;
        assert_eq!(newest, Some(11));
        let ((), none) = during(&object("a", "8"), async {}).await;
        assert_eq!(none, None);
        note(&object("a", "12"));
    }

    #[test]
    fn an_object_is_behind_until_its_version_comes_or_a_second_has_passed() {
        let (awaited, key) = (Awaited::default(), Key::new(None, "a"));
        assert!(!awaited.is_behind(&key, &object("a", "9")));
        awaited.note(&key, 11);
        assert!(awaited.is_behind(&key, &object("a", "9")));
        assert!(!awaited.is_behind(&key, &object("a", "11")));
        assert!(awaited.lock().is_empty(), "nothing is kept");
        awaited.note(&key, 11);
        awaited.lock().get_mut(&key).unwrap().1 -= LAG;
        assert!(!awaited.is_behind(&key, &object("a", "9")));
    }
}
