//! Matches the elements of two lists.

/// The fields that identify a list element in most APIs: containers, ports and volumes; conditions.
const NAMES: [&str; 2] = ["name", "type"];

/// The identifying field, and the names, if every element has a unique one.
pub(super) fn names<'a, T>(
    items: &'a [T],
    get: impl Fn(&'a T, &str) -> Option<&'a str>,
) -> Option<(&'static str, Vec<&'a str>)> {
    NAMES.into_iter().find_map(|field| {
        let names: Option<Vec<_>> = items.iter().map(|item| get(item, field)).collect();
        let names = names.filter(|names| !names.is_empty())?;
        let mut sorted = names.clone();
        sorted.sort_unstable();
        let distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        distinct.then_some((field, names))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn elements_are_named_if_all_are() {
        let named = |field, names: &[&'static str]| Some((field, names.to_vec()));
        let cases = [
            (
                json!([{ "name": "a" }, { "name": "b" }]),
                named("name", &["a", "b"]),
            ),
            (
                json!([{ "type": "a", "name": "x" }, { "type": "b", "name": "x" }]),
                named("type", &["a", "b"]),
            ),
            (json!([{ "name": "a" }, { "name": "a" }]), None),
            (json!([{ "name": "a" }, {}]), None),
            (json!([{ "name": 1 }]), None),
            (json!(["name"]), None),
            (json!([]), None),
        ];
        for (list, expected) in cases {
            let items = list.as_array().unwrap();
            let found = names(items, |item: &Value, field| item.get(field)?.as_str());
            assert_eq!(found, expected, "{list}");
        }
    }
}
