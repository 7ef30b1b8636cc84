//! Reads that are answered from memory: single objects that a watch shows anyway, if what it shows is not older than what the run has
//! written or read.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use kube::api::DynamicObject;
use parking_lot::Mutex;
use serde_json::Value;

use crate::{status::RecordedKind, target::Target};

/// How long it is kept what a run wrote. No watch is so late.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// Finds an object by its namespace and its name.
pub(crate) type Find = Box<dyn Fn(Option<&str>, &str) -> Option<Arc<DynamicObject>> + Send + Sync>;

/// The watched objects that the runs for one custom resource can read from memory.
#[derive(Default)]
pub(crate) struct Memory {
    /// What the watches show, by kinds.
    shown: Mutex<Vec<(RecordedKind, Find)>>,
    known: Mutex<HashMap<Place, Known>>,
}

/// An object, in whatever version of its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    group: String,
    plural: String,
    /// Both are empty for all objects of a kind.
    namespace: Option<String>,
    name: Option<String>,
}

impl Place {
    fn new(target: &Target, name: Option<&str>) -> Self {
        Self {
            group: target.group.clone(),
            plural: target.plural.clone(),
            namespace: target.namespace.clone().filter(|_| name.is_some()),
            name: name.map(str::to_owned),
        }
    }
}

/// What runs know of an object.
struct Known {
    at: Instant,
    /// Writes whose answers have not come.
    under_way: u32,
    /// The newest version.
    version: u128,
    /// The uid of one that they deleted.
    deleted: Option<String>,
    /// When there was a write of which it is not known what it came to.
    unsure: Option<Instant>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            at: Instant::now(),
            under_way: 0,
            version: 0,
            deleted: None,
            unsure: None,
        }
    }
}

impl Known {
    fn permits(&self, object: &DynamicObject) -> bool {
        let metadata = &object.metadata;
        let version = metadata.resource_version.as_ref();
        let version = version.and_then(|it| it.parse::<u128>().ok());
        let is_new = version.is_some_and(|version| version >= self.version);
        // One that waits for its finalizers is shown as such.
        let is_gone = metadata.deletion_timestamp.is_none()
            && self.deleted.is_some()
            && self.deleted == metadata.uid;
        let is_sure = self.unsure.is_none_or(|at| at.elapsed() > KEPT);
        is_new && !is_gone && is_sure && self.under_way == 0
    }
}

impl Memory {
    /// A run begins. A watch of the one before may have ended.
    pub(crate) fn begin(&self) {
        self.shown.lock().clear();
        let mut known = self.known.lock();
        known.retain(|_, known| known.under_way > 0 || known.at.elapsed() < KEPT);
    }

    /// From now on, these kinds are watched.
    pub(crate) fn show(&self, shown: Vec<(RecordedKind, Find)>) {
        *self.shown.lock() = shown;
    }

    /// The object that a call names, if memory has it as new as the runs know it.
    pub(crate) fn get(&self, target: &Target) -> Option<Value> {
        let name = target.name.as_deref().filter(|_| target.is_object())?;
        let shown = self.shown.lock();
        let (kind, find) = shown.iter().find(|(kind, _)| target.is_of(kind))?;
        let object = find(target.namespace.as_deref(), name)?;
        let known = self.known.lock();
        let places = [Some(name), None].map(|name| known.get(&Place::new(target, name)));
        if !places.into_iter().flatten().all(|it| it.permits(&object)) {
            return None;
        }
        drop(known);
        let mut value = serde_json::to_value(&*object).ok()?;
        // An object of a list does not have them.
        value["apiVersion"] = kind.api_version.clone().into();
        value["kind"] = kind.kind.clone().into();
        Some(value)
    }

    /// A run has read this object, or its write was answered with it.
    pub(crate) fn saw(&self, target: &Target, object: &Value) {
        let metadata = &object["metadata"];
        let (Some(name), Some(version)) = (metadata["name"].as_str(), version(object)) else {
            return;
        };
        self.change(Place::new(target, Some(name)), |known| {
            known.version = known.version.max(version);
        });
    }

    fn change(&self, place: Place, change: impl FnOnce(&mut Known)) {
        let mut all = self.known.lock();
        let known = all.entry(place).or_default();
        known.at = Instant::now();
        change(known);
    }

    /// A run writes an object, or all of a kind.
    pub(crate) fn write(self: &Arc<Self>, target: &Target) -> Write {
        let place = Place::new(target, target.name.as_deref());
        self.change(place.clone(), |known| known.under_way += 1);
        Write {
            memory: self.clone(),
            place,
            came_to: None,
        }
    }
}

fn version(object: &Value) -> Option<u128> {
    object["metadata"]["resourceVersion"].as_str()?.parse().ok()
}

/// A write under way. If this is dropped without an answer, it is not known what it came to.
pub(crate) struct Write {
    memory: Arc<Memory>,
    place: Place,
    came_to: Option<CameTo>,
}

/// What a write came to.
enum CameTo {
    /// Nothing was written.
    Nothing,
    /// The object has this version, or a newer one.
    Version(u128),
    /// The object with this uid was deleted.
    Deleted(String),
}

impl Write {
    /// The API server refused it.
    pub(crate) fn was_refused(&mut self) {
        self.came_to = Some(CameTo::Nothing);
    }

    /// The API server answered with this object.
    pub(crate) fn was_answered(&mut self, object: &Value) {
        // A new object has no place before it has a name; `saw` notes it.
        self.came_to = match self.place.name {
            None => Some(CameTo::Nothing),
            Some(_) => version(object).map(CameTo::Version),
        };
    }

    /// The API server deleted this object, of which it shows the uid at most.
    pub(crate) fn deleted(&mut self, uid: Option<&str>) {
        self.came_to = uid.map(|uid| CameTo::Deleted(uid.to_owned()));
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        let came_to = self.came_to.take();
        self.memory.change(self.place.clone(), |known| {
            known.under_way -= 1;
            match came_to {
                None => known.unsure = Some(Instant::now()),
                Some(CameTo::Nothing) => {}
                Some(CameTo::Version(version)) => known.version = known.version.max(version),
                Some(CameTo::Deleted(uid)) => known.deleted = Some(uid),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    fn target(path: &str) -> Target {
        Target::of(path).expect(path)
    }

    const PATH: &str = "/api/v1/namespaces/ns/configmaps/a";

    fn object(uid: &str, version: &str) -> Value {
        json!({ "metadata": { "name": "a", "namespace": "ns", "uid": uid, "resourceVersion": version } })
    }

    /// A memory whose watch shows this object.
    fn memory() -> (Arc<Memory>, Arc<Mutex<Value>>) {
        let memory = Arc::<Memory>::default();
        let shown = Arc::new(Mutex::new(object("u", "5")));
        show(&memory, &shown);
        (memory, shown)
    }

    fn show(memory: &Memory, shown: &Arc<Mutex<Value>>) {
        let kind = target(PATH).kind("ConfigMap");
        let found = shown.clone();
        let find: Find = Box::new(move |namespace, name| {
            let is_it = (namespace, name) == (Some("ns"), "a");
            is_it.then(|| Arc::new(from_value(found.lock().clone()).unwrap()))
        });
        memory.show(vec![(kind, find)]);
    }

    fn tells(memory: &Memory) -> bool {
        memory.get(&target(PATH)).is_some()
    }

    #[test]
    fn an_object_that_is_watched_is_told_with_its_kind() {
        let (memory, _) = memory();
        let told = memory.get(&target(PATH)).unwrap();
        let (kind, version) = (&told["kind"], &told["apiVersion"]);
        assert_eq!((kind, version), (&json!("ConfigMap"), &json!("v1")));
        for other in [
            "/api/v1/namespaces/ns/configmaps/b",
            "/api/v1/namespaces/other/configmaps/a",
            "/api/v1/namespaces/ns/configmaps",
            "/api/v1/namespaces/ns/configmaps/a/status",
            "/api/v1/configmaps/a",
            "/api/v1/namespaces/ns/secrets/a",
            "/api/v2/namespaces/ns/configmaps/a",
            "/apis/example.com/v1/namespaces/ns/configmaps/a",
        ] {
            assert!(memory.get(&target(other)).is_none(), "{other}");
        }
    }

    #[test]
    fn a_run_reads_what_it_wrote() {
        let (memory, shown) = memory();
        assert!(tells(&memory));
        let mut write = memory.write(&target(PATH));
        assert!(!tells(&memory), "the write is under way");
        write.was_answered(&object("u", "7"));
        drop(write);
        assert!(!tells(&memory), "the watch shows an older one");
        memory.begin();
        show(&memory, &shown);
        assert!(!tells(&memory), "in the next run, too");
        *shown.lock() = object("u", "7");
        assert!(tells(&memory));
        memory.begin();
        assert!(!tells(&memory), "nothing is watched yet");
        show(&memory, &shown);
        memory.saw(&target(PATH), &object("u", "8"));
        assert!(!tells(&memory), "it has read a newer one");
    }

    #[test]
    fn a_write_that_was_refused_changes_nothing_and_one_without_an_answer_may() {
        let (memory, _) = memory();
        memory.write(&target(PATH)).was_refused();
        assert!(tells(&memory));
        drop(memory.write(&target(PATH)));
        assert!(!tells(&memory));
        for other in ["/status", "/scale"] {
            let (memory, _) = self::memory();
            drop(memory.write(&target(&format!("{PATH}{other}"))));
            assert!(!tells(&memory), "{other}");
        }
    }

    #[test]
    fn what_a_run_deleted_is_not_told() {
        let (memory, shown) = memory();
        memory.write(&target(PATH)).deleted(Some("u"));
        assert!(!tells(&memory));
        let mut ending = object("u", "6");
        ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        *shown.lock() = ending;
        assert!(tells(&memory));
        *shown.lock() = object("other", "8");
        assert!(tells(&memory));
        // All of a kind at once.
        drop(memory.write(&target("/api/v1/namespaces/ns/configmaps")));
        assert!(!tells(&memory));
    }

    #[test]
    fn a_new_object_hides_no_other() {
        let (memory, _) = memory();
        let list = target("/api/v1/namespaces/ns/configmaps");
        let mut write = memory.write(&list);
        let mut new = object("v", "9");
        new["metadata"]["name"] = "b".into();
        memory.saw(&list, &new);
        write.was_answered(&new);
        drop(write);
        assert!(tells(&memory));
        assert_eq!(memory.known.lock().len(), 2);
    }
}
