//! What is wrong with the fields of an object, in the words of Kubernetes.

use std::fmt::Display;

use serde::Serialize;

use super::Denied;

/// What is wrong with an object: all of it, not only the first.
///
/// Paths are those of the JSON, such as `spec.ports[0].name`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(pub(super) Vec<FieldError>);

/// One field, what is wrong with it as programs read it, and as people do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldError {
    pub(super) path: String,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl FieldErrors {
    /// The value is not as it must be: `Invalid value: 3: must be odd`.
    pub fn invalid(&mut self, path: impl Display, value: impl Serialize, message: impl Display) {
        let value = json(&value);
        self.add(
            path,
            "FieldValueInvalid",
            format!("Invalid value: {value}: {message}"),
        );
    }

    /// There has to be a value: `Required value`.
    pub fn required(&mut self, path: impl Display, message: impl Display) {
        let message = message.to_string();
        let colon = if message.is_empty() { "" } else { ": " };
        self.add(
            path,
            "FieldValueRequired",
            format!("Required value{colon}{message}"),
        );
    }

    /// There may be no such value here: `Forbidden: may not change`.
    pub fn forbidden(&mut self, path: impl Display, message: impl Display) {
        self.add(path, "FieldValueForbidden", format!("Forbidden: {message}"));
    }

    /// The value is there already: `Duplicate value: "a"`.
    pub fn duplicate(&mut self, path: impl Display, value: impl Serialize) {
        let value = json(&value);
        self.add(
            path,
            "FieldValueDuplicate",
            format!("Duplicate value: {value}"),
        );
    }

    /// The value is none of those there are: `Unsupported value: "c": supported values: "a", "b"`.
    pub fn not_supported(&mut self, path: impl Display, value: impl Serialize, supported: &[&str]) {
        let value = json(&value);
        let supported: Vec<_> = supported.iter().map(|value| format!("{value:?}")).collect();
        let supported = supported.join(", ");
        let message = format!("Unsupported value: {value}: supported values: {supported}");
        self.add(path, "FieldValueNotSupported", message);
    }

    /// The value names something that is not there: `Not found: "a"`.
    pub fn not_found(&mut self, path: impl Display, value: impl Serialize) {
        let value = json(&value);
        self.add(path, "FieldValueNotFound", format!("Not found: {value}"));
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Denies if anything is wrong.
    ///
    /// # Errors
    /// All of them at once.
    pub fn into_result(self) -> Result<(), Denied> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(self.into()),
        }
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

/// A value as the API server would show it.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("<{error}>"))
}
