//! Why a definition is refused.

use std::fmt;

/// Why no types can be generated from a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The value is something else than a CustomResourceDefinition of `apiextensions.k8s.io/v1`.
    NotADefinition(String),
    /// A required field is missing or has the wrong type.
    Field(String),
    /// A name cannot be part of a Kubernetes API.
    Name {
        /// The field with the name.
        field: &'static str,
        /// The name.
        name: String,
    },
    /// The API server would refuse the schema too.
    Schema {
        /// The path of the schema, such as `v1 .spec.size`.
        path: String,
        /// The reason.
        why: String,
    },
    /// The schema is nested deeper than [`crate::MAX_DEPTH`].
    Deep(String),
    /// The definition has more than [`crate::MAX_SCHEMAS`] schemas, or more than [`crate::MAX_SIZE`] bytes.
    Large,
    /// The definition has no such version.
    Version(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotADefinition(what) => write!(f, "not a CustomResourceDefinition: {what}"),
            Error::Field(field) => write!(f, "`{field}` is missing or has the wrong type"),
            Error::Name { field, name } => write!(f, "`{field}` is no Kubernetes name: {name:?}"),
            Error::Schema { path, why } => write!(f, "the schema of `{path}` is invalid: {why}"),
            Error::Deep(path) => write!(
                f,
                "the schema of `{path}` is nested deeper than {} levels",
                crate::MAX_DEPTH
            ),
            Error::Large => write!(
                f,
                "the definition has more than {} schemas or {} MiB",
                crate::MAX_SCHEMAS,
                crate::MAX_SIZE >> 20
            ),
            Error::Version(name) => write!(f, "the definition has no version `{name}`"),
        }
    }
}

impl std::error::Error for Error {}
