//! Differences between two values.

use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value};

/// A place, and the values there.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    /// Keys, and indexes of lists.
    pub(super) path: Vec<String>,
    pub(super) before: Value,
    pub(super) after: Value,
}

/// Null equals a missing value.
pub(super) fn differences(before: &Value, after: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(before, after, &mut Vec::new(), &mut found);
    found
}

fn compare(before: &Value, after: &Value, path: &mut Vec<String>, found: &mut Vec<Difference>) {
    let mut each = |key: String, before: &Value, after: &Value| {
        path.push(key);
        compare(before, after, path, found);
        path.pop();
    };
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let added = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(added) {
                let value = |fields| Map::get(fields, key).unwrap_or(&Value::Null);
                each(key.clone(), value(before), value(after));
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                each(index.to_string(), before, after);
            }
        }
        _ if before == after => {}
        _ => found.push(Difference {
            path: path.clone(),
            before: before.clone(),
            after: after.clone(),
        }),
    }
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("`")?;
        for (index, key) in self.path.iter().enumerate() {
            match key.bytes().all(|byte| byte.is_ascii_digit()) {
                true => write!(f, "[{key}]")?,
                false if index == 0 => f.write_str(key)?,
                false => write!(f, ".{key}")?,
            }
        }
        write!(
            f,
            "` was {} and came back as {}",
            show(&self.before),
            show(&self.after)
        )
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_name_their_place() {
        let before = json!({ "a": 1, "b": [{ "c": "x" }], "d": [1], "e": null, "f": 2 });
        let after = json!({ "a": 1, "b": [{ "c": "y" }], "d": [], "g": null, "f": null });
        let found: Vec<_> = differences(&before, &after)
            .iter()
            .map(ToString::to_string)
            .collect();
        let expected = [
            r#"`b[0].c` was "x" and came back as "y""#,
            "`d` was [1] and came back as []",
            "`f` was 2 and came back as nothing",
        ];
        assert_eq!(found, expected);
    }
}
