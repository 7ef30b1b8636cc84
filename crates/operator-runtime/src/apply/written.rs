//! Tracks an operator's own writes, so that the next reconcile does not see an outdated object.

use std::{
    cell::Cell,
    collections::HashMap,
    time::{Duration, Instant},
};

use kube::api::ObjectMeta;
use parking_lot::Mutex;

use crate::cache::Key;

/// The time within which a watch should show a write; after that, the object is reconciled anyway.
const LAG: Duration = Duration::from_secs(10);

/// The interval between checks: the event of the write may not pass the controller's predicates.
const LOOK: Duration = Duration::from_millis(100);

tokio::task_local! {
    static WRITTEN: Written;
}

struct Written {
    uid: Option<String>,
    version: Cell<Option<u128>>,
}

/// Runs the reconcile of an object; also returns the newest version that [`note`] recorded meanwhile.
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

/// Records an object from the response to a write.
pub(crate) fn note(object: &ObjectMeta) {
    // Outside a reconcile, the task-local is unset.
    _ = WRITTEN.try_with(|written| {
        if written.uid == object.uid {
            let newest = written.version.get().max(version(object));
            written.version.set(newest);
        }
    });
}

/// Whether the current task reconciles this object.
pub(super) fn is_reconciled(object: &ObjectMeta) -> bool {
    WRITTEN
        .try_with(|written| written.uid == object.uid)
        .unwrap_or_default()
}

/// The resource version as a number. Kubernetes guarantees the format since 1.35, and used it before.
pub(crate) fn version(object: &ObjectMeta) -> Option<u128> {
    object.resource_version.as_ref()?.parse().ok()
}

/// The operator's own writes that the watch may not have shown yet.
#[derive(Default)]
pub(crate) struct Own(Mutex<HashMap<Key, Last>>);

/// The state in which the last reconcile left an object.
struct Last {
    version: u128,
    since: Instant,
    /// The time and the priority of the next try after a failure.
    retry: Option<(Instant, i32)>,
    /// Whether something other than a change of the object has queued it meanwhile.
    urgent: bool,
}

impl Own {
    /// Records the version in which a reconcile left an object, and the time and the priority of the retry
    /// after a failure.
    pub(crate) fn note(&self, key: &Key, version: u128, retry: Option<(Instant, i32)>) {
        let last = Last {
            version,
            since: Instant::now(),
            retry,
            urgent: false,
        };
        self.0.lock().insert(key.clone(), last);
    }

    /// The delay before an object is reconciled: until the watch shows the own write, and if that write is
    /// the only change, until the retry after a failure, with the priority of that retry.
    pub(crate) fn wait(
        &self,
        key: &Key,
        object: &ObjectMeta,
        urgent: bool,
    ) -> Option<(Duration, Option<i32>)> {
        let mut own = self.0.lock();
        let last = own.get_mut(key)?;
        last.urgent |= urgent;
        let shown = version(object);
        if shown < Some(last.version) && last.since.elapsed() < LAG {
            return Some((LOOK, None));
        }
        if shown <= Some(last.version) && !last.urgent {
            let (retry, priority) = last.retry?;
            let left = retry.checked_duration_since(Instant::now());
            if let Some(left) = left.filter(|left| !left.is_zero()) {
                return Some((left, Some(priority)));
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
        assert_eq!(own.wait(&key, &object("a", "9"), true), Some((LOOK, None)));
        assert_eq!(own.wait(&key, &object("a", "11"), false), None);
        own.note(&key, 11, None);
        own.0.lock().get_mut(&key).unwrap().since -= LAG;
        assert_eq!(own.wait(&key, &object("a", "9"), true), None);
        assert!(own.0.lock().is_empty(), "nothing is kept");
    }

    #[test]
    fn our_own_write_cuts_no_back_off_short_and_raises_no_priority_and_everything_else_does() {
        let (own, key) = (Own::default(), Key::new(None, "a"));
        for (shown, urgent, waits) in [
            ("11", false, true),
            ("11", true, false),
            ("12", false, false),
        ] {
            own.note(&key, 11, Some((Instant::now() + SECOND, -7)));
            let wait = own.wait(&key, &object("a", shown), urgent);
            let priority = wait.map(|(_, priority)| priority);
            assert_eq!(priority, waits.then_some(Some(-7)), "{shown} {urgent}");
        }
        own.note(&key, 11, Some((Instant::now() + SECOND, 0)));
        assert_eq!(own.wait(&key, &object("a", "10"), true), Some((LOOK, None)));
        let wait = own.wait(&key, &object("a", "11"), false);
        assert_eq!(wait, None, "it was urgent while it was behind");
    }
}
