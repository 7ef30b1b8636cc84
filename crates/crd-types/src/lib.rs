#![doc = include_str!("../README.md")]

mod attributes;
mod chosen;
mod compare;
mod definition;
mod doc;
mod error;
mod imports;
mod known;
mod literal;
mod meta;
mod model;
mod name;
mod render;
mod root;
mod sample;
mod schema;
mod structs;
mod types;

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

pub use chosen::{Field, Shape, Structure};
pub use compare::{Difference, differences};
pub use definition::{Crd, Names, Version, read};
pub use error::Error;
pub use imports::Imports;
pub use known::{is_required, well_known};
pub use model::{QUANTITY, Type};
pub use name::is_reserved;
pub use sample::{matches, sample};
pub use structs::{Struct, Structs, structs};

/// The deepest nesting of schemas that is read.
pub const MAX_DEPTH: usize = 100;

/// The largest number of schemas in a definition.
pub const MAX_SCHEMAS: usize = 50_000;

/// The largest definition, in bytes of JSON. An API server stores no object of more than 1.5 MiB, unless told to.
pub const MAX_SIZE: usize = 8 << 20;

/// How types are generated.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the root type; the kind by default.
    pub root: Option<String>,
    /// The file of [`Generated::schemas`], relative to that of the source.
    pub schemas: String,
    /// Whether to use the types of k8s-openapi where a schema has their shape.
    pub well_known: bool,
    /// Whether the types implement `JsonSchema`, so that the CRD can be written from them. Users of another project's
    /// CRD do without: the types are then free of schemars, and of every attribute that only a schema needs.
    pub json_schema: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            root: None,
            schemas: "schemas.json".to_owned(),
            well_known: true,
            json_schema: true,
        }
    }
}

/// The types of one version.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The source of a module.
    pub source: String,
    /// The text of the file that the source includes: schemas of the CRD that no Rust type has.
    pub schemas: Option<String>,
    /// The name of the root type.
    pub root: String,
    /// What the CRD of the types lacks.
    pub losses: Vec<Loss>,
}

/// A part of a CRD that is not kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// Where it is, such as `v1 .spec.size`.
    pub path: String,
    /// What is lost.
    pub keyword: String,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` is lost: {}", self.path, self.keyword, self.why)
    }
}

/// Generates the types of a version.
///
/// # Errors
/// If the definition has no such version.
pub fn generate(crd: &Crd, version: &str, options: &Options) -> Result<Generated, Error> {
    let plain;
    let crd = match options.json_schema {
        true => crd,
        false => {
            plain = crd.plain();
            &plain
        }
    };
    let mut versions = crd.versions.iter();
    let Some(version) = versions.find(|it| it.name == version) else {
        return Err(Error::Version(version.to_owned()));
    };
    let name = root::name(crd, options);
    let mut types = types::Types::new(&name, options.well_known);
    let root = root::divide(version, &mut types, &name);
    let (source, kept) = render::module(crd, version, &root, &types, options);
    let mut losses = crd.losses.clone();
    if options.json_schema {
        losses.extend(root::losses(version));
    }
    let kept: BTreeMap<String, Value> = kept
        .into_iter()
        .map(|(name, schema)| (name, Value::Object(schema)))
        .collect();
    Ok(Generated {
        source,
        schemas: (!kept.is_empty()).then(|| format!("{:#}\n", serde_json::json!(kept))),
        root: name,
        losses,
    })
}
