//! The JSON patch with a function's changes.
//!
//! A function sees only the fields of the API server's object that its type knows. The patch is therefore
//! the difference between before and after, applied to the API server's object: unknown fields stay, also
//! in lists, and no path of the patch is missing there.
//!
//! Most changes are small, so texts are compared first, and only different texts are parsed.

use std::{borrow::Cow, collections::BTreeMap};

use json_patch::{
    AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation, diff,
    jsonptr::PointerBuf,
};
use serde_json::{Result, Value, from_str, value::RawValue};

use super::overlay::lay_over;

/// The patch that applies the change from `before` to `after` to `held`; `None` if there is no change.
///
/// All three are JSON; `before` and `after` are serialized from a type that was read from `held`.
///
/// # Errors
/// If one of them is not JSON, or is nested too deeply.
pub(super) fn patch(held: &str, before: &str, after: &str) -> Result<Option<Vec<u8>>> {
    let mut patch = Patch::default();
    compare(held, before, after, &mut PointerBuf::new(), &mut patch.0)?;
    match patch.is_empty() {
        true => Ok(None),
        false => serde_json::to_vec(&patch).map(Some),
    }
}

/// Adds the operations at the path `at`.
fn compare(
    held: &str,
    before: &str,
    after: &str,
    at: &mut PointerBuf,
    patch: &mut Vec<PatchOperation>,
) -> Result<()> {
    if before == after {
        return Ok(());
    }
    if ![held, before, after]
        .iter()
        .all(|text| text.starts_with('{'))
    {
        return compare_values(held, before, after, at, patch);
    }
    let (held, before, after): (Fields<'_>, Fields<'_>, Fields<'_>) =
        (from_str(held)?, from_str(before)?, from_str(after)?);
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        if held.contains_key(key) {
            at.push_back(&**key);
            let path = at.clone();
            patch.push(PatchOperation::Remove(RemoveOperation { path }));
            at.pop_back();
        }
    }
    for (key, after) in after {
        let (held, before) = (held.get(&key), before.get(&key));
        let old = before.map_or("null", |before| before.get());
        if before.is_some() && old == after.get() {
            continue;
        }
        at.push_back(&*key);
        match held {
            Some(held) => compare(held.get(), old, after.get(), at, patch)?,
            None => {
                let (mut value, path) = (Value::Null, at.clone());
                lay_over(&mut value, &from_str(old)?, from_str(after.get())?);
                patch.push(PatchOperation::Add(AddOperation { path, value }));
            }
        }
        at.pop_back();
    }
    Ok(())
}

/// An object parsed only to its fields.
type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Like [`compare`], where one of the values is not an object.
fn compare_values(
    held: &str,
    before: &str,
    after: &str,
    at: &PointerBuf,
    patch: &mut Vec<PatchOperation>,
) -> Result<()> {
    let held: Value = from_str(held)?;
    let mut wanted = held.clone();
    lay_over(&mut wanted, &from_str(before)?, from_str(after)?);
    for mut operation in diff(&held, &wanted).0 {
        if let PatchOperation::Add(AddOperation { path, .. })
        | PatchOperation::Replace(ReplaceOperation { path, .. })
        | PatchOperation::Remove(RemoveOperation { path }) = &mut operation
        {
            *path = at.concat(path);
        }
        patch.push(operation);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The operations of a patch.
    fn operations(held: &Value, before: &Value, after: &Value) -> Vec<Value> {
        let [held, before, after] = [held, before, after].map(ToString::to_string);
        let patch = patch(&held, &before, &after).unwrap();
        patch.map_or_else(Vec::new, |patch| serde_json::from_slice(&patch).unwrap())
    }

    /// The patched value of `held`.
    fn patched(held: &Value, before: &Value, after: &Value) -> Value {
        let operations = operations(held, before, after);
        let patch: Patch = serde_json::from_value(operations.into()).unwrap();
        let mut patched = held.clone();
        json_patch::patch(&mut patched, &patch).unwrap();
        patched
    }

    #[test]
    fn a_patch_contains_only_changes() {
        let held = json!({"a": {"b/c": {"d": 1, "new": 2}, "e": [1, {"f": 1}]}, "g": null, "h": 1});
        let before =
            json!({"a": {"b/c": {"d": 1}, "e": [1, {"f": 1}]}, "h": 1, "i": {"j": 0, "k": 0}});
        for (after, expected) in [
            (before.clone(), json!([])),
            (
                json!({"a": {"b/c": {"d": 2}, "e": [1, {"f": 1}]}, "h": 1, "i": {"j": 0, "k": 0}}),
                json!([{"op": "replace", "path": "/a/b~1c/d", "value": 2}]),
            ),
            (
                json!({"a": {"b/c": {"d": 1}, "e": [1, {"f": 2}]}, "g": 3, "i": {"j": 0, "k": 1}}),
                json!([
                    {"op": "remove", "path": "/h"},
                    {"op": "replace", "path": "/a/e/1/f", "value": 2},
                    {"op": "replace", "path": "/g", "value": 3},
                    {"op": "add", "path": "/i", "value": {"k": 1}},
                ]),
            ),
            (json!(1), json!([{"op": "replace", "path": "", "value": 1}])),
        ] {
            let operations = operations(&held, &before, &after);
            assert_eq!(json!(operations), expected, "{after}");
        }
    }

    /// A random value, with few distinct keys.
    fn any(random: &mut fastrand::Rng, depth: u8) -> Value {
        let keys = ["name", "a", "b/c", "d~", ""];
        match random.u8(..if depth == 0 { 4 } else { 8 }) {
            0 => Value::Null,
            1 => random.bool().into(),
            2 => random.u8(..3).into(),
            3 => ["x", "y"][random.usize(..2)].into(),
            4 | 5 => (0..random.u8(..4))
                .map(|_| any(random, depth - 1))
                .collect(),
            _ => (0..random.u8(..4))
                .map(|_| (keys[random.usize(..5)].to_owned(), any(random, depth - 1)))
                .collect(),
        }
    }

    #[test]
    fn a_patch_makes_the_changes_of_the_function() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..20_000 {
            let values: [Value; 3] = std::array::from_fn(|_| any(&mut random, 3));
            let [held, before, after] = &values;
            // Without unknown fields, the result is the function's.
            assert_eq!(&patched(before, before, after), after);
            // The patch applies to any `held`, whatever the type reads from it.
            let mut wanted = held.clone();
            lay_over(&mut wanted, before, after.clone());
            assert_eq!(patched(held, before, after), wanted, "{values:?}");
        }
    }
}
