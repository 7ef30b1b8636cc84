//! The objects of a source, with their indexes.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::RwLock;

use super::{Entry, Key};

/// The index values of an object.
pub(crate) type Values = Box<dyn Fn(&Entry) -> Vec<String> + Send + Sync>;

#[derive(Default)]
pub(crate) struct Content(RwLock<Objects>);

#[derive(Default)]
struct Objects {
    entries: BTreeMap<Key, Entry>,
    indexes: Vec<Index>,
}

struct Index {
    values: Values,
    keys: BTreeMap<String, BTreeSet<Key>>,
}

impl Content {
    pub(crate) fn get(&self, key: &Key) -> Option<Entry> {
        self.0.read().entries.get(key).cloned()
    }

    pub(crate) fn keys(&self) -> Vec<Key> {
        self.0.read().entries.keys().cloned().collect()
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.0.read().entries.values().cloned().collect()
    }

    /// Replaces the object with `new` and returns the old one; `None` means absent.
    pub(crate) fn replace(&self, key: &Key, new: Option<Entry>) -> Option<Entry> {
        let mut objects = self.0.write();
        let Objects { entries, indexes } = &mut *objects;
        let old = match &new {
            Some(entry) => entries.insert(key.clone(), entry.clone()),
            None => entries.remove(key),
        };
        for index in indexes {
            index.replace(key, old.as_ref(), new.as_ref());
        }
        old
    }

    /// Adds an index over present and future objects; returns the number for [`find`](Self::find).
    pub(crate) fn index(&self, values: Values) -> usize {
        let mut objects = self.0.write();
        let mut index = Index {
            values,
            keys: BTreeMap::new(),
        };
        for (key, entry) in &objects.entries {
            index.replace(key, None, Some(entry));
        }
        objects.indexes.push(index);
        objects.indexes.len() - 1
    }

    pub(crate) fn find(&self, index: usize, value: &str) -> Vec<Entry> {
        let objects = self.0.read();
        let keys = objects
            .indexes
            .get(index)
            .and_then(|index| index.keys.get(value));
        let entry = |key| objects.entries.get(key).cloned();
        keys.into_iter().flatten().filter_map(entry).collect()
    }
}

impl Index {
    fn replace(&mut self, key: &Key, old: Option<&Entry>, new: Option<&Entry>) {
        for value in old.into_iter().flat_map(&self.values) {
            if let Some(keys) = self.keys.get_mut(&value) {
                keys.remove(key);
                if keys.is_empty() {
                    self.keys.remove(&value);
                }
            }
        }
        for value in new.into_iter().flat_map(&self.values) {
            self.keys.entry(value).or_default().insert(key.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::ObjectMeta;

    use super::*;

    /// An entry that has these labels, as `key=value`.
    fn entry(labels: &[(&str, &str)]) -> Option<Entry> {
        let labels = labels
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()));
        let metadata = ObjectMeta {
            labels: Some(labels.collect()),
            ..ObjectMeta::default()
        };
        Some(Entry::Valid(Arc::new(ConfigMap {
            metadata,
            ..ConfigMap::default()
        })))
    }

    #[test]
    fn an_index_follows_its_objects() {
        let content = Content::default();
        let (a, b) = (Key::new(None, "a"), Key::new(None, "b"));
        content.replace(&a, entry(&[("x", "1"), ("y", "2")]));
        let values = |entry: &Entry| {
            let labels = entry.meta().labels.iter().flatten();
            labels.map(|(_, value)| value.clone()).collect()
        };
        // Over present objects.
        let index = content.index(Box::new(values));
        let found = |value| content.find(index, value).len();
        assert_eq!((found("1"), found("2"), found("3")), (1, 1, 0));

        content.replace(&b, entry(&[("x", "1")]));
        content.replace(&a, entry(&[("x", "1"), ("y", "3")]));
        assert_eq!((found("1"), found("2"), found("3")), (2, 0, 1));

        assert!(content.replace(&a, None).is_some());
        assert!(content.replace(&a, None).is_none());
        assert_eq!((found("1"), found("2"), found("3")), (1, 0, 0));
        assert_eq!(content.keys(), [b]);
        assert!(content.find(index + 1, "1").is_empty());
        let kept = content.0.read().indexes[index].keys.len();
        assert_eq!(kept, 1, "an unused value takes no memory");
    }
}
