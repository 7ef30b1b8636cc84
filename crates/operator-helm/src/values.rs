//! The spec of a release.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The values of a release, over those of the chart's `values.yaml`. A null deletes a default of the chart.
///
/// An object without `spec` has none, so `spec` is not required in a CRD that `operator_runtime::manifests::Crds` makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Values(pub Map<String, Value>);

impl<'de> Deserialize<'de> for Values {
    /// serde asks for an option where a field is missing: operator-sdk's CRDs do not require `spec`, so there are objects without it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Option::deserialize(deserializer)?;
        Ok(Self(values.unwrap_or_default()))
    }
}

impl Values {
    /// The value at a path, such as `image.repository`, if the object sets one.
    pub fn get(&self, path: &str) -> Option<&Value> {
        let keys = keys(path);
        let (last, above) = keys.split_last()?;
        let mut at = &self.0;
        for key in above {
            at = at.get(key)?.as_object()?;
        }
        at.get(last)
    }

    /// Sets the value at a path, such as `image.repository`, as `helm --set` names it. A dot in a key is written `\\.`. What is in
    /// the way and no map is replaced.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) {
        let mut keys = keys(path).into_iter().peekable();
        let mut at = &mut self.0;
        while let Some(key) = keys.next() {
            if keys.peek().is_none() {
                at.insert(key, value.into());
                return;
            }
            let inner = at.entry(key).or_insert(Value::Null);
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            match inner {
                Value::Object(inner) => at = inner,
                _ => return,
            }
        }
    }
}

/// The keys of a path.
fn keys(path: &str) -> Vec<String> {
    let mut keys = vec![String::new()];
    let mut letters = path.chars();
    while let Some(letter) = letters.next() {
        match (letter, keys.last_mut()) {
            ('.', _) => keys.push(String::new()),
            ('\\', Some(key)) => key.extend(letters.next()),
            (letter, Some(key)) => key.push(letter),
            (_, None) => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_to_a_value() {
        for (before, path, after) in [
            (json!({}), "a", json!({ "a": 1 })),
            (
                json!({ "a": { "c": 2 } }),
                "a.b",
                json!({ "a": { "b": 1, "c": 2 } }),
            ),
            (
                json!({ "a": "text" }),
                "a.b.c",
                json!({ "a": { "b": { "c": 1 } } }),
            ),
            (json!({}), "a\\.b.c", json!({ "a.b": { "c": 1 } })),
        ] {
            let mut values: Values = serde_json::from_value(before).unwrap();
            values.set(path, 1);
            assert_eq!(values.get(path), Some(&json!(1)));
            assert_eq!(json!(values), after, "{path}");
        }
    }
}
