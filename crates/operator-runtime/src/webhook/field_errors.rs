//! Field errors, in the words of Kubernetes.

use std::{
    collections::BTreeSet,
    fmt::{self, Display},
};

use kube::core::response::StatusCause;
use serde::Serialize;

/// All errors in the fields of an object, like Go's `field.ErrorList`.
///
/// Paths are JSON paths, such as `spec.ports[0].name`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<FieldError>);

/// One field error, for programs and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldError {
    path: String,
    reason: &'static str,
    message: String,
}

impl FieldErrors {
    /// The value is invalid: `Invalid value: 3: must be odd`.
    pub fn invalid(&mut self, path: impl Display, value: impl Serialize, message: impl Display) {
        let message = format!("Invalid value: {}: {message}", json(&value));
        self.add(path, "FieldValueInvalid", message);
    }

    /// The value is missing: `Required value: to know where to listen`. `message` may be empty.
    pub fn required(&mut self, path: impl Display, message: impl Display) {
        let message = message.to_string();
        let colon = if message.is_empty() { "" } else { ": " };
        let message = format!("Required value{colon}{message}");
        self.add(path, "FieldValueRequired", message);
    }

    /// The value is not allowed here, or may not change: `Forbidden: may not change`.
    pub fn forbidden(&mut self, path: impl Display, message: impl Display) {
        self.add(path, "FieldValueForbidden", format!("Forbidden: {message}"));
    }

    /// The value occurs twice: `Duplicate value: "a"`.
    pub fn duplicate(&mut self, path: impl Display, value: impl Serialize) {
        let message = format!("Duplicate value: {}", json(&value));
        self.add(path, "FieldValueDuplicate", message);
    }

    /// The value is not supported: `Unsupported value: "c": supported values: "a", "b"`.
    pub fn not_supported(&mut self, path: impl Display, value: impl Serialize, supported: &[&str]) {
        let supported: Vec<_> = supported.iter().map(json).collect();
        let (value, supported) = (json(&value), supported.join(", "));
        let message = format!("Unsupported value: {value}: supported values: {supported}");
        self.add(path, "FieldValueNotSupported", message);
    }

    /// The referenced object does not exist: `Not found: "a"`.
    pub fn not_found(&mut self, path: impl Display, value: impl Serialize) {
        let message = format!("Not found: {}", json(&value));
        self.add(path, "FieldValueNotFound", message);
    }

    /// The value is longer than `most` bytes: `Too long: may not be more than 63 bytes`.
    pub fn too_long(&mut self, path: impl Display, most: usize) {
        let s = if most == 1 { "" } else { "s" };
        let message = format!("Too long: may not be more than {most} byte{s}");
        self.add(path, "FieldValueTooLong", message);
    }

    /// The list has more than `most` elements: `Too many: 4: must have at most 3 items`.
    pub fn too_many(&mut self, path: impl Display, actual: usize, most: usize) {
        let s = if most == 1 { "" } else { "s" };
        let message = format!("Too many: {actual}: must have at most {most} item{s}");
        self.add(path, "FieldValueTooMany", message);
    }

    /// The value does not decode as the type of its field.
    pub(super) fn undecodable(&mut self, path: impl Display, message: impl Display) {
        let message = format!("Invalid value: {message}");
        self.add(path, "FieldValueTypeInvalid", message);
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One cause per error, for programs.
    pub(super) fn into_causes(self) -> Vec<StatusCause> {
        let cause = |error: FieldError| StatusCause {
            field: error.path,
            reason: error.reason.to_owned(),
            message: error.message,
        };
        self.0.into_iter().map(cause).collect()
    }

    fn add(&mut self, path: impl Display, reason: &'static str, message: String) {
        let path = path.to_string();
        self.0.push(FieldError {
            path,
            reason,
            message,
        });
    }
}

/// Formats all errors in one line: `[spec.a: Invalid value: 3: must be odd, spec.b: Required value]`.
impl Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |error: &FieldError| match &*error.path {
            "" => error.message.clone(),
            path => format!("{path}: {}", error.message),
        };
        let mut seen = BTreeSet::new();
        let mut lines: Vec<_> = self.0.iter().map(line).collect();
        lines.retain(|line| seen.insert(line.clone()));
        match &*lines {
            [line] => f.write_str(line),
            lines => write!(f, "[{}]", lines.join(", ")),
        }
    }
}

/// A value as the API server prints it.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("<{error}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_reported_in_the_words_of_kubernetes() {
        type Add = fn(&mut FieldErrors);
        let cases: [(Add, &str, &str); 10] = [
            (
                |e| e.invalid("a", "x\"", "is bad"),
                "Invalid",
                r#"Invalid value: "x\"": is bad"#,
            ),
            (
                |e| e.invalid("a", [1, 2], "is bad"),
                "Invalid",
                "Invalid value: [1,2]: is bad",
            ),
            (|e| e.required("a", ""), "Required", "Required value"),
            (
                |e| e.required("a", "for b"),
                "Required",
                "Required value: for b",
            ),
            (
                |e| e.forbidden("a", "may not change"),
                "Forbidden",
                "Forbidden: may not change",
            ),
            (
                |e| e.duplicate("a", true),
                "Duplicate",
                "Duplicate value: true",
            ),
            (
                |e| e.not_supported("a", "c", &["a", "b"]),
                "NotSupported",
                r#"Unsupported value: "c": supported values: "a", "b""#,
            ),
            (|e| e.not_found("a", "b"), "NotFound", r#"Not found: "b""#),
            (
                |e| e.too_long("a", 1),
                "TooLong",
                "Too long: may not be more than 1 byte",
            ),
            (
                |e| e.too_many("a", 4, 3),
                "TooMany",
                "Too many: 4: must have at most 3 items",
            ),
        ];
        for (add, reason, message) in cases {
            let mut errors = FieldErrors::default();
            assert!(errors.is_empty());
            add(&mut errors);
            assert_eq!(errors.to_string(), format!("a: {message}"));
            let [cause] = <[StatusCause; 1]>::try_from(errors.into_causes()).unwrap();
            assert_eq!(cause.reason, format!("FieldValue{reason}"));
            assert_eq!((&*cause.field, &*cause.message), ("a", message));
        }
    }

    #[test]
    fn all_are_reported_at_once_and_none_twice() {
        let mut errors = FieldErrors::default();
        errors.required("a", "");
        errors.duplicate("b", 1);
        errors.required("a", "");
        assert_eq!(
            errors.to_string(),
            "[a: Required value, b: Duplicate value: 1]"
        );
    }
}
