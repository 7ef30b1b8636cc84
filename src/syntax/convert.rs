//! The conversion between a version of a type and its copy, field by field.

use serde::Serialize;
use syn::Fields;

use super::{
    fields::{Shape, Types, is_open},
    parse,
};

/// A conversion between two versions whose types are the same, as the template of `convert.rs` writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conversion {
    /// The fields of the spec.
    pub spec: Members,
    /// The fields of the status.
    pub status: Members,
    /// The types of these fields, of the fields of those types, and so on.
    pub below: Vec<Below>,
}

/// Fields by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Members {
    /// Their names in a pattern: `size`.
    pub names: Vec<String>,
    /// Their values in the other type: `size`, `mode: mode.into()`.
    pub values: Vec<String>,
}

/// A type of a field: a struct, or an enum if it has variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Below {
    /// Its name.
    pub name: String,
    /// The fields of a struct.
    pub members: Members,
    /// The variants of an enum.
    pub variants: Vec<Variant>,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The brackets around its fields: `{}`, `()`, or none.
    pub brackets: &'static str,
    /// Its fields; those in parentheses are called `field0`, `field1`, ….
    pub members: Members,
}

impl Conversion {
    /// The conversion of types as `create api` makes them.
    #[must_use]
    pub fn of_new_types() -> Self {
        let status: Vec<_> = ["observed_generation", "conditions"]
            .map(str::to_owned)
            .into();
        Self {
            spec: Members::default(),
            status: Members {
                names: status.clone(),
                values: status,
            },
            below: Vec::new(),
        }
    }

    /// The conversion of the type `name` in the source `types`. `None` where a field's conversion is unknown; then the user writes
    /// it.
    #[must_use]
    pub fn of(types: &str, name: &str) -> Option<Self> {
        let types = Types::of(parse(types).ok()?);
        let (spec, status) = (format!("{name}Spec"), format!("{name}Status"));
        let mut below = types.below(&spec)?;
        for other in types.below(&status)? {
            if !below.contains(&other) {
                below.push(other);
            }
        }
        Some(Self {
            spec: of_struct(&types, &spec)?,
            status: of_struct(&types, &status)?,
            below: below
                .into_iter()
                .map(|name| self::below(&types, name))
                .collect::<Option<_>>()?,
        })
    }
}

fn of_struct(types: &Types, name: &str) -> Option<Members> {
    match types.get(name)? {
        Shape::Struct(fields @ Fields::Named(_)) if is_open(fields, false) => {
            members(types, fields)
        }
        _ => None,
    }
}

fn below(types: &Types, name: String) -> Option<Below> {
    Some(match types.get(&name)? {
        Shape::Struct(_) => Below {
            members: of_struct(types, &name)?,
            variants: Vec::new(),
            name,
        },
        Shape::Enum(variants) => {
            let variants = variants.iter().map(|(name, fields)| {
                Some(Variant {
                    name: name.clone(),
                    brackets: match fields {
                        Fields::Named(_) => "{}",
                        Fields::Unnamed(_) => "()",
                        Fields::Unit => "",
                    },
                    members: members(types, fields).filter(|_| is_open(fields, true))?,
                })
            });
            let variants: Vec<_> = variants.collect::<Option<_>>()?;
            (!variants.is_empty()).then_some(Below {
                name,
                members: Members::default(),
                variants,
            })?
        }
    })
}

fn members(types: &Types, fields: &Fields) -> Option<Members> {
    let mut members = Members::default();
    for (at, field) in fields.iter().enumerate() {
        let name = match &field.ident {
            Some(name) => name.to_string(),
            None => format!("field{at}"),
        };
        let value = types.convert(&field.ty, &name)?;
        members.values.push(match field.ident {
            Some(_) if value != name => format!("{name}: {value}"),
            _ => value,
        });
        members.names.push(name);
    }
    Some(members)
}
