//! Patches of the fake API server.

use serde_json::{Value, json};

use super::refusal::Refusal;

/// The patch formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Merge,
    Apply,
}

impl Format {
    pub(super) fn of(content_type: &str) -> Result<Self, Refusal> {
        match content_type {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            other => {
                let message = format!("the body of the request was in an unknown format: {other}");
                Err(Refusal::new(415, &message))
            }
        }
    }

    /// The patched object.
    pub(super) fn apply(self, object: &Value, patch: Value) -> Result<Value, Refusal> {
        let mut object = object.clone();
        match self {
            Self::Json => {
                let invalid = |error: &dyn ToString| Refusal::new(422, &error.to_string());
                let patch: json_patch::Patch =
                    serde_json::from_value(patch).map_err(|error| invalid(&error))?;
                json_patch::patch(&mut object, &patch).map_err(|error| invalid(&error))?;
            }
            Self::Merge => json_patch::merge(&mut object, &patch),
            Self::Apply => lay(&mut object, patch),
        }
        Ok(object)
    }
}

/// Merges `applied` into `object`. Without a schema, lists are replaced; without managed fields, a field
/// that is no longer applied stays.
fn lay(object: &mut Value, applied: Value) {
    let Value::Object(applied) = applied else {
        *object = applied;
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    for (key, value) in applied {
        if !value.is_null() {
            lay(&mut object[key], value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_applied() {
        let object = json!({ "a": 1, "b": { "c": [1], "d": 2 } });
        for (format, patch, expected) in [
            (
                Format::Json,
                json!([
                    { "op": "test", "path": "/a", "value": 1 },
                    { "op": "add", "path": "/b/c/-", "value": 2 },
                ]),
                json!({ "a": 1, "b": { "c": [1, 2], "d": 2 } }),
            ),
            (
                Format::Merge,
                json!({ "a": null, "b": { "c": [3] } }),
                json!({ "b": { "c": [3], "d": 2 } }),
            ),
            (
                Format::Apply,
                json!({ "a": null, "b": { "c": [3] }, "e": { "f": 4, "g": null } }),
                json!({ "a": 1, "b": { "c": [3], "d": 2 }, "e": { "f": 4 } }),
            ),
        ] {
            assert_eq!(
                format.apply(&object, patch).unwrap(),
                expected,
                "{format:?}"
            );
        }
    }

    #[test]
    fn a_patch_that_does_not_fit_is_refused() {
        let test = json!([{ "op": "test", "path": "/a", "value": 2 }]);
        let refusal = Format::Json.apply(&json!({ "a": 1 }), test).unwrap_err();
        assert_eq!(refusal.0.code, 422);
        let unknown = Format::of("application/strategic-merge-patch+json");
        assert_eq!(unknown.unwrap_err().0.code, 415);
    }
}
