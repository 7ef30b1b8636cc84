//! Objects that do not decode, and the place of the error.

use kube::core::GroupVersionKind;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Denied, FieldErrors};
use crate::object::{place::path, trim::trim};

/// A decoding error: the path of the field, and the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Undecodable {
    path: String,
    message: String,
}

/// Decodes the object as a `K`, without its managed fields.
pub(super) fn decode<K: DeserializeOwned>(raw: &RawValue) -> Result<K, Undecodable> {
    let text = trim(raw.get());
    serde_json::from_str(&text).map_err(|error| Undecodable::at(&text, &error))
}

impl Undecodable {
    fn at(text: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let position = format!(" at line {line} column {column}");
        let message = message.strip_suffix(&position).unwrap_or(&message);
        let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
        let end = lines.map(str::len).sum::<usize>() + column;
        Self {
            path: path(text.as_bytes(), end),
            message: message.to_owned(),
        }
    }

    /// The denial of a new object.
    pub(super) fn deny(self) -> Denied {
        let mut errors = FieldErrors::default();
        let Self { path, message } = self;
        let missing = message.strip_prefix("missing field `");
        match missing.and_then(|rest| rest.strip_suffix('`')) {
            Some(field) if path.is_empty() => errors.required(field, ""),
            Some(field) => errors.required(format!("{path}.{field}"), ""),
            None => errors.undecodable(&path, &message),
        }
        errors.into()
    }

    /// The denial of a change of a stored object.
    pub(super) fn deny_stored(self, kind: &GroupVersionKind) -> Denied {
        let message = format!(
            "the stored object does not decode as {} of this version: {self}",
            kind.kind
        );
        Denied::because(422, "Invalid", message)
    }
}

impl std::fmt::Display for Undecodable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let colon = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}", self.path, self.message)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use serde::Deserialize;
    use serde_json::{Value, json, value::to_raw_value};

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct Object {
        spec: Spec,
        #[serde(default)]
        more: Vec<Spec>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct Spec {
        max_size: u8,
        #[serde(default)]
        mode: Mode,
        #[serde(default)]
        labels: std::collections::BTreeMap<String, u8>,
    }

    #[derive(Debug, Default, Deserialize)]
    enum Mode {
        #[default]
        Fast,
    }

    fn error<K: DeserializeOwned>(text: &str) -> String {
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        let error = decode::<K>(&raw).err().map(|error| error.to_string());
        error.unwrap_or_default()
    }

    #[test]
    fn a_decoding_error_names_the_field() {
        let good = json!({"maxSize": 1, "x": "}]\",{["});
        for (object, expected) in [
            (json!({"spec": good}), ""),
            (json!({}), "missing field `spec`"),
            (json!(null), "invalid type: null, expected struct Object"),
            (
                json!({"spec": {"x": [1, {"y": 2}]}}),
                "spec: missing field `maxSize`",
            ),
            (
                json!({"spec": {"maxSize": "many", "z": 1}}),
                "spec.maxSize: invalid type: string \"many\", expected u8",
            ),
            (
                json!({"spec": {"maxSize": 256}, "z": 1}),
                "spec.maxSize: invalid value: integer `256`, expected u8",
            ),
            (
                json!({"more": [good, {"maxSize": 1, "mode": "Slow"}], "spec": good}),
                "more[1].mode: unknown variant `Slow`, expected `Fast`",
            ),
            (
                json!({"more": [good, 5], "spec": good}),
                "more[1]: invalid type: integer `5`, expected struct Spec",
            ),
            (
                json!({"spec": {"labels": {"a/b": 1, "c.d/\"e\"": -1}, "maxSize": 1}}),
                "spec.labels[c.d/\\\"e\\\"]: invalid value: integer `-1`, expected u8",
            ),
        ] {
            let compact = object.to_string();
            assert_eq!(error::<Object>(&compact), expected, "{compact}");
            let pretty = format!("{object:#}");
            assert_eq!(error::<Object>(&pretty), expected, "{pretty}");
        }
    }

    #[test]
    fn types_of_kubernetes_name_their_fields() {
        let container = json!({"name": "a", "ports": [{"containerPort": "http"}]});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container]}});
        let error = error::<Pod>(&pod.to_string());
        let path = "spec.containers[0].ports[0].containerPort: ";
        assert!(error.starts_with(path), "{error}");
    }

    #[test]
    fn a_denial_names_the_field() {
        let deny = |object: Value| {
            let raw = to_raw_value(&object).unwrap();
            decode::<Object>(&raw).err().unwrap().deny()
        };
        let mut required = FieldErrors::default();
        required.required("spec.maxSize", "");
        assert_eq!(deny(json!({"spec": {}})), required.into());
        let mut other = FieldErrors::default();
        other.undecodable("spec", "invalid type: integer `1`, expected struct Spec");
        assert_eq!(deny(json!({"spec": 1})), other.into());
    }
}
