//! Decoding errors with their place.

use std::fmt::{self, Display, Formatter};

use serde::de;

/// The reason why a value does not decode, and its path, such as `spec.items[2]`.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::webhook::conversion) struct Error {
    path: String,
    message: String,
}

impl Error {
    pub(super) fn below(mut self, parent: &str) -> Self {
        let separator = match self.path.chars().next() {
            None | Some('[') => "",
            Some(_) => ".",
        };
        self.path = format!("{parent}{separator}{}", self.path);
        self
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Self {
            path: String::new(),
            message: message.to_string(),
        }
    }
}
