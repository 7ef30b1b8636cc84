//! Applies the difference between two values to a third value with more fields.

use serde_json::{Map, Value};

/// Applies the change from `before` to `after` to `held`.
pub(super) fn lay_over(held: &mut Value, before: &Value, after: Value) {
    if *before == after {
        return;
    }
    match after {
        Value::Object(after) => fields(held, before, after),
        Value::Array(after) => elements(held, before, after),
        after => *held = after,
    }
}

fn fields(held: &mut Value, before: &Value, after: Map<String, Value>) {
    // An object of the type may be missing or null in `held`.
    if !held.is_object() {
        *held = Value::Object(Map::new());
    }
    let (Value::Object(held), nothing) = (held, Map::new()) else {
        return;
    };
    let before = before.as_object().unwrap_or(&nothing);
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        held.remove(key);
    }
    for (key, after) in after {
        let before = before.get(&key);
        if before != Some(&after) {
            let held = held.entry(key).or_insert(Value::Null);
            lay_over(held, before.unwrap_or(&Value::Null), after);
        }
    }
}

fn elements(held: &mut Value, before: &Value, after: Vec<Value>) {
    let nothing = Vec::new();
    let before = before.as_array().unwrap_or(&nothing);
    let mut old = match held {
        // Only then do the elements match by index.
        Value::Array(held) if held.len() == before.len() => std::mem::take(held),
        _ => {
            *held = Value::Array(after);
            return;
        }
    };
    let origins = origins(before, &after);
    let element = |(after, origin): (Value, Option<usize>)| match origin {
        Some(origin) => {
            let mut element = old[origin].take();
            lay_over(&mut element, &before[origin], after);
            element
        }
        None => after,
    };
    *held = after.into_iter().zip(origins).map(element).collect();
}

/// For each element of `after`, the matching element of `before`: an equal element, or else the one of the
/// same name, or else, without names, the one at the same index.
fn origins(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
    let mut free = vec![true; before.len()];
    let mut origins = vec![None; after.len()];
    let rules: [fn(&Value, &Value) -> bool; 3] = [
        |before, after| before == after,
        |before, after| name(before).is_some() && name(before) == name(after),
        |before, after| name(before).is_none() && name(after).is_none(),
    ];
    for (rule, same) in rules.into_iter().enumerate() {
        for (place, after) in after.iter().enumerate() {
            if origins[place].is_some() {
                continue;
            }
            let fits = |at: &usize| free.get(*at) == Some(&true) && same(&before[*at], after);
            // The same index first: most elements do not move.
            let mut others = 0..if rule < 2 { before.len() } else { 0 };
            let origin = Some(place).filter(fits).or_else(|| others.find(fits));
            if let Some(origin) = origin {
                free[origin] = false;
                origins[place] = Some(origin);
            }
        }
    }
    origins
}

/// The identifying field of an element, in most lists of Kubernetes.
fn name(element: &Value) -> Option<&Value> {
    let keys = ["name", "type", "key"].into_iter();
    keys.filter_map(|key| element.get(key)).next()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The result for `held`.
    fn laid_over(held: &Value, before: &Value, after: &Value) -> Value {
        let mut held = held.clone();
        lay_over(&mut held, before, after.clone());
        held
    }

    #[test]
    fn only_what_changed_is_changed() {
        for (what, held, before, after, expected) in [
            (
                "nothing",
                json!({"a": 1, "unknown": 2}),
                json!({"a": 1, "default": 3}),
                json!({"a": 1, "default": 3}),
                json!({"a": 1, "unknown": 2}),
            ),
            (
                "a value",
                json!({"a": {"b": 1, "unknown": 2}}),
                json!({"a": {"b": 1}}),
                json!({"a": {"b": 3}}),
                json!({"a": {"b": 3, "unknown": 2}}),
            ),
            (
                "what only the type has, below something that is missing",
                json!({"spec": null}),
                json!({"spec": {"a": 0}, "status": {"b": {"c": 0, "d": 0}}}),
                json!({"spec": {"a": 1}, "status": {"b": {"c": 1, "d": 0}}}),
                json!({"spec": {"a": 1}, "status": {"b": {"c": 1}}}),
            ),
            (
                "what the type leaves out if it is empty",
                json!({"a": {"unknown": 1}, "b": [], "c": null}),
                json!({}),
                json!({"a": {"b": 1}, "b": [1], "c": 2}),
                json!({"a": {"b": 1, "unknown": 1}, "b": [1], "c": 2}),
            ),
            (
                "what is taken away, there or not",
                json!({"a": 1, "b": {"unknown": 1}, "c": 1}),
                json!({"a": 1, "b": {}, "default": 0}),
                json!({}),
                json!({"c": 1}),
            ),
            (
                "another kind of value",
                json!({"a": {"b": 1}, "c": [1], "d": 1}),
                json!({"a": {"b": 1}, "c": [1], "d": 1}),
                json!({"a": [1], "c": "x", "d": {"e": 1}}),
                json!({"a": [1], "c": "x", "d": {"e": 1}}),
            ),
            (
                "keys that a pointer has to escape",
                json!({"a": {"x/y~z": "1", "": "2"}}),
                json!({"a": {"x/y~z": "1", "": "2"}}),
                json!({"a": {"x/y~z": "3", "": "4", "m/n": "5"}}),
                json!({"a": {"x/y~z": "3", "": "4", "m/n": "5"}}),
            ),
        ] {
            assert_eq!(laid_over(&held, &before, &after), expected, "{what}");
        }
    }

    #[test]
    fn unknown_fields_survive_in_lists() {
        let held = json!([{"name": "a", "new": 1}, {"name": "b", "new": 2}, {"new": 3}]);
        let before = json!([{"name": "a"}, {"name": "b"}, {}]);
        for (what, after, expected) in [
            (
                "one is put before them",
                json!([{"name": "x"}, {"name": "a"}, {"name": "b"}, {}]),
                json!([{"name": "x"}, {"name": "a", "new": 1}, {"name": "b", "new": 2}, {"new": 3}]),
            ),
            (
                "they change their places, and one of them its value",
                json!([{"name": "b"}, {"name": "a", "old": 4}]),
                json!([{"name": "b", "new": 2}, {"name": "a", "new": 1, "old": 4}]),
            ),
            (
                "what has no name changes at its place",
                json!([{"name": "a"}, {"name": "b"}, {"old": 5}]),
                json!([{"name": "a", "new": 1}, {"name": "b", "new": 2}, {"new": 3, "old": 5}]),
            ),
            (
                "another name is another element",
                json!([{"name": "a"}, {"name": "c"}]),
                json!([{"name": "a", "new": 1}, {"name": "c"}]),
            ),
            ("all go", json!([]), json!([])),
        ] {
            assert_eq!(laid_over(&held, &before, &after), expected, "{what}");
        }
    }

    #[test]
    fn a_list_with_another_length_in_its_type_is_replaced() {
        let held = json!({"set": ["b", "a", "a"]});
        let (before, after) = (json!({"set": ["a", "b"]}), json!({"set": ["a", "b", "c"]}));
        assert_eq!(laid_over(&held, &before, &after), after);
    }

    #[test]
    fn names_that_occur_twice_keep_their_order() {
        let held = json!([{"name": "v", "path": 1, "new": 1}, {"name": "v", "path": 2, "new": 2}]);
        let before = json!([{"name": "v", "path": 1}, {"name": "v", "path": 2}]);
        let after = json!([{"name": "v", "path": 2}, {"name": "v", "path": 3}]);
        let expected =
            json!([{"name": "v", "path": 2, "new": 2}, {"name": "v", "path": 3, "new": 1}]);
        assert_eq!(laid_over(&held, &before, &after), expected);
    }
}
