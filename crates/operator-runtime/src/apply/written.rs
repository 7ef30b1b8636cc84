//! What a reconcile has written to its object, so that the next one does not see the object before that.

use std::{
    cell::Cell,
    collections::HashMap,
    time::{Duration, Instant},
};

use kube::api::ObjectMeta;
use parking_lot::Mutex;

use crate::cache::Key;

/// How long a watch may take to show a write until nobody waits for it any more.
const LAG: Duration = Duration::from_secs(10);

/// Between two looks: the event of the write itself may be one that the controller does not see.
const LOOK: Duration = Duration::from_millis(100);

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

/// What the operator knows of objects beyond what the watch has shown.
#[derive(Default)]
pub(crate) struct Own(Mutex<HashMap<Key, Last>>);

/// How the last reconcile of an object left it.
struct Last {
    version: u128,
    since: Instant,
    /// When it is tried again, if it failed.
    retry: Option<Instant>,
    /// Whether more than a change of the object itself has asked for it meanwhile.
    urgent: bool,
}

impl Own {
    /// Notes the version in which a reconcile left an object, and when a failed one is tried again.
    pub(crate) fn note(&self, key: &Key, version: u128, retry: Option<Instant>) {
        let last = Last {
            version,
            since: Instant::now(),
            retry,
            urgent: false,
        };
        self.0.lock().insert(key.clone(), last);
    }

    /// How long to wait with an object: until the watch shows our own write, and if that is all that
    /// has changed, until the time of the next try.
    pub(crate) fn wait(&self, key: &Key, object: &ObjectMeta, urgent: bool) -> Option<Duration> {
        let mut own = self.0.lock();
        let last = own.get_mut(key)?;
        last.urgent |= urgent;
        let shown = version(object);
        if shown < Some(last.version) && last.since.elapsed() < LAG {
            return Some(LOOK);
        }
        if shown <= Some(last.version) && !last.urgent {
            let left = last.retry?.checked_duration_since(Instant::now());
            if left.is_some_and(|left| !left.is_zero()) {
                return left;
            }
        }
        own.remove(key);
        None
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.0.lock().remove(key);
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

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_object_waits_until_the_watch_shows_our_write_or_takes_too_long() {
        let (own, key) = (Own::default(), Key::new(None, "a"));
        assert_eq!(own.wait(&key, &object("a", "9"), false), None);
        own.note(&key, 11, None);
        assert_eq!(own.wait(&key, &object("a", "9"), true), Some(LOOK));
        assert_eq!(own.wait(&key, &object("a", "11"), false), None);
        own.note(&key, 11, None);
        own.0.lock().get_mut(&key).unwrap().since -= LAG;
        assert_eq!(own.wait(&key, &object("a", "9"), true), None);
        assert!(own.0.lock().is_empty(), "nothing is kept");
    }

    #[test]
    fn our_own_write_does_not_cut_a_back_off_short_and_everything_else_does() {
        let (own, key) = (Own::default(), Key::new(None, "a"));
        for (shown, urgent, waits) in [
            ("11", false, true),
            ("11", true, false),
            ("12", false, false),
        ] {
            own.note(&key, 11, Some(Instant::now() + SECOND));
            let wait = own.wait(&key, &object("a", shown), urgent);
            assert_eq!(wait.is_some(), waits, "{shown} {urgent}");
        }
        own.note(&key, 11, Some(Instant::now() + SECOND));
        assert_eq!(own.wait(&key, &object("a", "10"), true), Some(LOOK));
        let wait = own.wait(&key, &object("a", "11"), false);
        assert_eq!(wait, None, "it was urgent while it was behind");
    }
}
