//! The objects that a watch has shown, with indexes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use super::{Entry, Key};

/// By which values an object is found.
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
        self.read().entries.get(key).cloned()
    }

    pub(crate) fn keys(&self) -> Vec<Key> {
        self.read().entries.keys().cloned().collect()
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.read().entries.values().cloned().collect()
    }

    /// Keeps `new` instead of what it returns; `None` is nothing.
    pub(crate) fn replace(&self, key: &Key, new: Option<Entry>) -> Option<Entry> {
        let mut objects = self.write();
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

    /// Adds an index, over what is there and what comes; its number is for [`find`](Self::find).
    pub(crate) fn index(&self, values: Values) -> usize {
        let mut objects = self.write();
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
        let objects = self.read();
        let keys = objects
            .indexes
            .get(index)
            .and_then(|index| index.keys.get(value));
        let entry = |key| objects.entries.get(key).cloned();
        keys.into_iter().flatten().filter_map(entry).collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, Objects> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Objects> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
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
