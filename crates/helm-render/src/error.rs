//! Errors, as Go and Helm say them.

use std::fmt;

/// Why a template cannot be parsed or executed, as Go says it. Displayed, it is the whole message, which ends with that of the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The message up to that of the cause.
    pub text: String,
    /// The error of a function that the template called.
    pub cause: Option<Box<Self>>,
    /// Whether it comes from executing a template, and not from parsing one or from a function.
    pub is_execution: bool,
    /// The path in the chart of the file that cannot be read, such as `charts/child/values.yaml`, if it is one file.
    pub file: Option<String>,
}

impl Error {
    /// An error that no other caused.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            cause: None,
            is_execution: false,
            file: None,
        }
    }

    /// The error of a file of a chart, by its path there.
    #[must_use]
    pub(crate) fn of_file(self, path: impl Into<String>) -> Self {
        Self {
            file: Some(path.into()),
            ..self
        }
    }

    /// The error with a text before it.
    #[must_use]
    pub fn within(self, context: &str) -> Self {
        Self {
            text: format!("{context}: "),
            file: self.file.clone(),
            cause: Some(Box::new(self)),
            is_execution: false,
        }
    }
}

impl From<String> for Error {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut current = Some(self);
        while let Some(error) = current {
            f.write_str(&error.text)?;
            current = error.cause.as_deref();
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
