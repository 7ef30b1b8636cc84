//! The stored object of an update, if it does not decode as a whole.

use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};

use crate::object::{place::Step, trim::trim};

/// The length of JSON that the attempts for one update may decode in all, in bytes: some 100 ms.
const MOST: usize = 16 * 1024 * 1024;

/// The number of attempts that an object of any length gets.
const LEAST: usize = 32;

/// The stored object as far as it decodes, and the paths of the fields that do not. These fields get the
/// values of the new object, as if the update did not change them. So rules about changes apply to all
/// other fields, and users can repair exactly these.
///
/// `None` if that takes too many attempts, whose number grows with the number of changed fields.
pub(super) fn readable<K: DeserializeOwned>(
    old: &RawValue,
    new: &RawValue,
) -> Option<(K, Vec<String>)> {
    let (old, new) = (trim(old.get()), trim(new.get()));
    let mut attempts = Attempts {
        object: serde_json::from_str(&new).ok()?,
        left: (MOST / (old.len() + new.len())).max(LEAST),
        decodes: |object| K::deserialize(object).is_ok(),
        fields: Vec::new(),
    };
    attempts.put(&mut Vec::new(), serde_json::from_str(&old).ok()?)?;
    let object = K::deserialize(&attempts.object).ok()?;
    Some((object, attempts.fields))
}

/// Puts a stored object into the new one, field by field.
struct Attempts {
    /// The new object, with the stored fields so far. It decodes after each attempt.
    object: Value,
    /// The number of attempts that are left.
    left: usize,
    decodes: fn(&Value) -> bool,
    /// The fields that stay as in the new object.
    fields: Vec<String>,
}

/// A key of an object, or an index of a list.
enum At {
    Key(String),
    Index(usize),
}

impl Attempts {
    /// Puts `value` at `path`, or as many of its fields as decode there. `None` removes the field.
    fn put(&mut self, path: &mut Vec<At>, value: Option<Value>) -> Option<()> {
        if self.at(path) == value.as_ref() {
            return Some(());
        }
        self.left = self.left.checked_sub(1)?;
        let new = self.swap(path, value);
        if (self.decodes)(&self.object) {
            return Some(());
        }
        let old = self.swap(path, new);
        let fields: Vec<_> = match (old, self.at(path)) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                let added = new.keys().filter(|key| !old.contains_key(*key)).cloned();
                let added: Vec<_> = added.map(|key| (key, None)).collect();
                let old = old.into_iter().map(|(key, value)| (key, Some(value)));
                old.chain(added)
                    .map(|(key, value)| (At::Key(key), value))
                    .collect()
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) => {
                // From the end, so that the indexes of the others stay.
                let added = (old.len()..new.len()).rev().map(|index| (index, None));
                let old = old.into_iter().map(Some).enumerate();
                let fields = old.chain(added);
                fields
                    .map(|(index, value)| (At::Index(index), value))
                    .collect()
            }
            _ => {
                self.fields.push(shown(path));
                return Some(());
            }
        };
        for (at, value) in fields {
            path.push(at);
            self.put(path, value)?;
            path.pop();
        }
        Some(())
    }

    fn at(&self, path: &[At]) -> Option<&Value> {
        path.iter().try_fold(&self.object, |value, at| match at {
            At::Key(key) => value.get(key),
            At::Index(index) => value.get(index),
        })
    }

    /// Puts `value` at `path`, whose parent exists, and returns the previous value.
    fn swap(&mut self, path: &[At], value: Option<Value>) -> Option<Value> {
        let Some((last, parents)) = path.split_last() else {
            return Some(std::mem::replace(&mut self.object, value?));
        };
        let parent = parents
            .iter()
            .try_fold(&mut self.object, |value, at| match at {
                At::Key(key) => value.get_mut(key),
                At::Index(index) => value.get_mut(index),
            })?;
        match (parent, last, value) {
            (Value::Object(fields), At::Key(key), Some(value)) => fields.insert(key.clone(), value),
            (Value::Object(fields), At::Key(key), None) => fields.remove(key),
            (Value::Array(items), At::Index(index), value) => {
                let previous = (*index < items.len()).then(|| items.remove(*index));
                if let Some(value) = value {
                    items.insert((*index).min(items.len()), value);
                }
                previous
            }
            _ => None,
        }
    }
}

/// The path in Kubernetes' notation.
fn shown(path: &[At]) -> String {
    let mut text = String::new();
    for at in path {
        let step = match at {
            At::Key(key) => Step::Key(key.as_bytes()),
            At::Index(index) => Step::Index(*index),
        };
        step.add_to(&mut text);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};
    use serde_json::{json, value::to_raw_value};

    use super::*;

    #[derive(Debug, Default, Deserialize, Serialize)]
    #[serde(default)]
    struct Object {
        mode: Option<String>,
        size: u8,
        labels: BTreeMap<String, u8>,
        parts: Vec<Part>,
        #[serde(flatten)]
        more: More,
    }

    #[derive(Debug, Deserialize, Serialize)]
    struct Part {
        name: String,
        #[serde(default)]
        weight: u8,
    }

    /// An error in a flattened struct has no position.
    #[derive(Debug, Default, Deserialize, Serialize)]
    #[serde(default)]
    struct More {
        a: u8,
        b: u8,
    }

    fn read(old: &Value, new: &Value) -> Option<(Value, Vec<String>)> {
        let [old, new] = [old, new].map(|value| to_raw_value(value).unwrap());
        let (object, fields) = readable::<Object>(&old, &new)?;
        Some((json!(object), fields))
    }

    #[test]
    fn only_fields_that_do_not_decode_are_those_of_the_new_object() {
        for (old, new, fields, expected) in [
            (
                json!({"mode": "a", "size": "x"}),
                json!({"mode": "b", "size": 1}),
                &["size"][..],
                json!({"mode": "a", "size": 1}),
            ),
            // Removed, added.
            (
                json!({"mode": "a", "size": "x"}),
                json!({"b": 1}),
                &["size"],
                json!({"mode": "a"}),
            ),
            (
                json!({"labels": {"a.b": 1, "c": "x", "d": 2}}),
                json!({"labels": {"a.b": 2, "c": 3, "e": 4}}),
                &["labels.c"],
                json!({"labels": {"a.b": 1, "c": 3, "d": 2}}),
            ),
            (
                json!({"a": 1, "b": "x"}),
                json!({"a": 2, "b": 2}),
                &["b"],
                json!({"a": 1, "b": 2}),
            ),
            (
                json!({"parts": [{"name": "a"}, {"name": "b", "weight": "x"}]}),
                json!({"parts": [{"name": "c", "weight": 1}, {"name": "d", "weight": 2}, {"name": "e"}]}),
                &["parts[1].weight"],
                json!({"parts": [{"name": "a", "weight": 0}, {"name": "b", "weight": 2}]}),
            ),
            (
                json!({"parts": [{"name": "a", "weight": "x"}, {"name": "b"}]}),
                json!({"parts": [{"name": "b"}]}),
                &["parts[0].weight"],
                json!({"parts": [{"name": "a", "weight": 0}, {"name": "b", "weight": 0}]}),
            ),
            // A list item that does not decode at all, and a required field that is missing.
            (
                json!({"mode": "a", "parts": [5, {}]}),
                json!({"mode": "b", "parts": [{"name": "c"}, {"name": "d"}]}),
                &["parts[0]", "parts[1].name"],
                json!({"mode": "a", "parts": [{"name": "c", "weight": 0}, {"name": "d", "weight": 0}]}),
            ),
        ] {
            let (found, undecodable) = read(&old, &new).unwrap();
            assert_eq!(undecodable, fields, "{old}");
            let mut whole = json!(Object::default());
            let set = expected.as_object().unwrap().clone();
            whole.as_object_mut().unwrap().extend(set);
            assert_eq!(found, whole, "{old}");
        }
    }

    #[test]
    fn the_number_of_attempts_is_bounded() {
        let labels = |value: fn(usize) -> Value, count| -> Value {
            let entry = |index: usize| (format!("key-{index}"), value(index));
            json!({"labels": (0..count).map(entry).collect::<BTreeMap<_, _>>()})
        };
        let new = |count| labels(|_| json!(1), count);
        let old = |count| labels(|_| json!("x"), count);
        let (_, fields) = read(&old(20), &new(20)).unwrap();
        assert_eq!(fields.len(), 20);
        assert!(read(&old(20_000), &new(20_000)).is_none());
        // The same object with one change.
        let mut almost = new(20_000);
        almost["labels"]["key-7"] = json!("x");
        let (_, fields) = read(&almost, &new(20_000)).unwrap();
        assert_eq!(fields, ["labels[key-7]"]);
    }
}
