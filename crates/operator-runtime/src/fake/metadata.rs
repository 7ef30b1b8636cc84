//! The metadata that the API server sets.

use serde_json::{Value, json};

/// The metadata fields that only the API server sets.
pub(super) const SYSTEM: [&str; 7] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
];

/// Sets the metadata of a created object; existing fields stay.
pub(super) fn complete(object: &mut Value, uid: u64, now: Value) {
    let has_spec = !object["spec"].is_null();
    let metadata = &mut object["metadata"];
    let generation = if has_spec { json!(1) } else { Value::Null };
    for (field, value) in [
        ("uid", format!("00000000-0000-4000-8000-{uid:012x}").into()),
        ("creationTimestamp", now),
        ("generation", generation),
    ] {
        if metadata[field].is_null() {
            set(metadata, field, value);
        }
    }
}

/// Like [`serde_json::Map::insert`], but skips null.
pub(super) fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        match value {
            Value::Null => object.remove(field),
            value => object.insert(field.to_owned(), value),
        };
    }
}

/// Increments the generation, if there is one.
pub(super) fn grow(metadata: &mut Value) {
    if let Some(generation) = metadata["generation"].as_i64() {
        metadata["generation"] = (generation + 1).into();
    }
}

fn finalizers(metadata: &Value) -> &[Value] {
    metadata["finalizers"].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn has_finalizers(metadata: &Value) -> bool {
    !finalizers(metadata).is_empty()
}

pub(super) fn adds_finalizer(old: &Value, new: &Value) -> bool {
    let old = finalizers(old);
    finalizers(new).iter().any(|found| !old.contains(found))
}
