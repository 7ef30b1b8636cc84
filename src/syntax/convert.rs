//! The conversion between two versions of a type, field by field.

use serde::Serialize;
use syn::{Fields, Type};

use super::{
    fields::{Shape, Types, is_open, named},
    parse,
};

/// The conversion between a spoke and its hub, in both directions, as the template of `convert.rs` writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conversion {
    /// The fields of the spec.
    pub spec: Members,
    /// The fields of the status; `None` if neither version has one.
    pub status: Option<Members>,
    /// The types of these fields, of the fields of those types, and so on.
    pub below: Vec<Below>,
    /// The fields and variants that differ, so that a person decides how they convert: `MemcachedSpec.size`.
    #[serde(skip)]
    pub open: Vec<String>,
    /// Those of them that have no code yet, so that the conversion does not compile.
    #[serde(skip)]
    pub missing: Vec<String>,
}

/// The fields of a type in both versions, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Members {
    /// Their names in a pattern of the spoke: `size`.
    pub spoke: Vec<String>,
    /// Their names in a pattern of the hub; `name: _` for a field that only the hub has, which an annotation keeps.
    pub hub: Vec<String>,
    /// Their values in the hub: `size`, `mode: mode.into()`, and what a field that only the hub has is without a spoke.
    pub to_hub: Vec<String>,
    /// Their values in the spoke.
    pub to_spoke: Vec<String>,
}

/// A type of a field: a struct, or an enum if it has variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Below {
    /// Its name in the spoke.
    pub spoke: String,
    /// Its name in the hub.
    pub hub: String,
    /// The fields of a struct.
    pub members: Members,
    /// The variants of an enum.
    pub variants: Vec<Variant>,
}

/// A variant that an enum has in both versions.
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
            status: Some(Members {
                spoke: status.clone(),
                hub: status.clone(),
                to_hub: status.clone(),
                to_spoke: status,
            }),
            below: Vec::new(),
            open: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// The conversion between the type `name` in the source `types` and a copy of it. `None` where a field's conversion is
    /// unknown; then the user writes it.
    #[must_use]
    pub fn of(types: &str, name: &str) -> Option<Self> {
        Self::between(types, types, name, "hub").filter(|it| it.open.is_empty())
    }

    /// The conversion between the type `name` in the source `spoke` and in the source `hub`. The code refers to the hub's types by
    /// `module`. Fields with the same name and type are converted; the others are [open](Self::open). Returns `None` if a version
    /// has no public spec.
    #[must_use]
    pub fn between(spoke: &str, hub: &str, name: &str, module: &str) -> Option<Self> {
        let (spoke, hub) = (Types::of(parse(spoke).ok()?), Types::of(parse(hub).ok()?));
        let (spec, status) = (format!("{name}Spec"), format!("{name}Status"));
        let mut pairs = Pairs {
            spoke: &spoke,
            hub: &hub,
            module,
            found: Vec::new(),
            open: Vec::new(),
            settled: Vec::new(),
        };
        let mut below = Vec::new();
        let spec = pairs.of_struct(&spec)?;
        pairs.below(&mut below);
        let status = match (spoke.has(&status), hub.has(&status)) {
            (false, false) => None,
            _ => {
                let members = pairs.of_struct(&status);
                pairs.below(&mut below);
                if members.is_none() {
                    pairs.open.push(status);
                }
                members
            }
        };
        let Pairs { open, settled, .. } = pairs;
        let missing = open.iter().filter(|it| !settled.contains(it));
        Some(Self {
            spec,
            status,
            below,
            missing: missing.cloned().collect(),
            open,
        })
    }
}

/// The types of both versions, and the pairs of them that convert into each other.
struct Pairs<'a> {
    spoke: &'a Types,
    hub: &'a Types,
    /// The module of the hub's types.
    module: &'a str,
    /// The names of the types that fields need the conversion of, in the spoke and in the hub.
    found: Vec<(String, String)>,
    open: Vec<String>,
    /// The open fields that have code: those that only the hub has, and that have a default.
    settled: Vec<String>,
}

impl Pairs<'_> {
    /// The fields of a struct that has the same name in both versions.
    fn of_struct(&mut self, name: &str) -> Option<Members> {
        match (self.spoke.get(name)?, self.hub.get(name)?) {
            (Shape::Struct(spoke), Shape::Struct(hub)) if are_open(spoke, hub, false) => {
                Some(self.members(name, spoke, name, hub))
            }
            _ => None,
        }
    }

    /// Adds the types that were found since, and those that are found on the way.
    fn below(&mut self, below: &mut Vec<Below>) {
        while let Some((spoke, hub)) = self.found.get(below.len()).cloned() {
            let shapes = (self.spoke.get(&spoke), self.hub.get(&hub));
            let (members, variants) = match shapes {
                (Some(Shape::Struct(a)), Some(Shape::Struct(b))) => {
                    (self.members(&spoke, a, &hub, b), Vec::new())
                }
                (Some(Shape::Enum(a)), Some(Shape::Enum(b))) => {
                    (Members::default(), self.variants((&spoke, a), (&hub, b)))
                }
                _ => unreachable!("only types of one shape are paired"),
            };
            below.push(Below {
                spoke,
                hub,
                members,
                variants,
            });
        }
    }

    /// The fields of `of` in the spoke and of the struct `in_hub`, or of a variant of an enum, in the hub.
    fn members(&mut self, of: &str, spoke: &Fields, in_hub: &str, hub: &Fields) -> Members {
        let names = |fields: &Fields| -> Vec<String> {
            let name = |(at, field): (usize, &syn::Field)| match &field.ident {
                Some(name) => name.to_string(),
                None => format!("field{at}"),
            };
            fields.iter().enumerate().map(name).collect()
        };
        let (spoke_names, hub_names) = (names(spoke), names(hub));
        let pattern = |name: &String| match variable(name) {
            variable if variable == *name => variable,
            variable => format!("{name}: {variable}"),
        };
        let mut members = Members {
            spoke: spoke_names.iter().map(pattern).collect(),
            ..Members::default()
        };
        for (name, field) in spoke_names.iter().zip(spoke) {
            let same = hub_names.iter().position(|other| other == name);
            let other = same.and_then(|at| hub.iter().nth(at));
            let value = other.and_then(|other| self.convert(&field.ty, &other.ty, &variable(name)));
            let value = match value {
                None => {
                    self.open.push(format!("{of}.{name}"));
                    continue;
                }
                Some(value) if field.ident.is_some() && value != *name => {
                    format!("{name}: {value}")
                }
                Some(value) => value,
            };
            members.to_hub.push(value.clone());
            members.to_spoke.push(value);
        }
        for (name, field) in hub_names.iter().zip(hub) {
            if spoke_names.contains(name) {
                members.hub.push(pattern(name));
                continue;
            }
            self.open.push(format!("{of}.{name}"));
            let label = match &field.ident {
                Some(name) => format!("{name}: "),
                None => String::new(),
            };
            members.hub.push(format!("{label}_"));
            let value = match named(&field.ty) {
                Some((outer, _)) if outer == "Option" => "None".to_owned(),
                _ if self.hub.has_default(in_hub) => {
                    format!("{}::{in_hub}::default().{name}", self.module)
                }
                _ => continue,
            };
            members.to_hub.push(format!("{label}{value}"));
            self.settled.push(format!("{of}.{name}"));
        }
        members
    }

    fn variants(
        &mut self,
        (of, spoke): (&str, &[(String, Fields)]),
        (other, hub): (&str, &[(String, Fields)]),
    ) -> Vec<Variant> {
        let mut variants = Vec::new();
        let both = |(name, fields): &(String, Fields)| {
            let mut same = hub.iter().filter(|(other, _)| other == name);
            same.find_map(|(_, other)| (brackets(fields) == brackets(other)).then_some(other))
        };
        for variant in spoke {
            let (name, fields) = variant;
            match both(variant) {
                None => self.open.push(format!("{of}::{name}")),
                Some(hub) => variants.push(Variant {
                    name: name.clone(),
                    brackets: brackets(fields),
                    members: self.members(
                        &format!("{of}::{name}"),
                        fields,
                        &format!("{other}::{name}"),
                        hub,
                    ),
                }),
            }
        }
        let alone = hub
            .iter()
            .filter(|(name, _)| spoke.iter().all(|(other, _)| other != name));
        self.open
            .extend(alone.map(|(name, _)| format!("{other}::{name}")));
        variants
    }

    /// An expression that converts `value` from a type of the spoke to a type of the hub, and back; `None` where none is known.
    fn convert(&mut self, spoke: &Type, hub: &Type, value: &str) -> Option<String> {
        let (is_local, is_other) = (self.spoke.is_local(spoke), self.hub.is_local(hub));
        if !is_local && !is_other {
            return (spoke == hub).then(|| value.to_owned());
        }
        let ((name, inner), (other, others)) = (named(spoke)?, named(hub)?);
        if self.spoke.has(&name) || self.hub.has(&other) {
            return self.pair(name, other).then(|| format!("{value}.into()"));
        }
        let mut map = |a: &Type, b: &Type, item: &str| {
            let converted = self.convert(a, b, item)?;
            Some(match converted == format!("{item}.into()") {
                true => "Into::into".to_owned(),
                false => format!("|{item}| {converted}"),
            })
        };
        if name != other {
            return None;
        }
        Some(match (name.as_str(), &inner[..], &others[..]) {
            ("Option", [a], [b]) => format!("{value}.map({})", map(a, b, "it")?),
            ("Box", [a], [b]) => {
                format!("Box::new({})", self.convert(a, b, &format!("(*{value})"))?)
            }
            ("Vec", [a], [b]) => {
                format!("{value}.into_iter().map({}).collect()", map(a, b, "it")?)
            }
            ("BTreeMap" | "HashMap", [key, a], [other, b])
                if key == other && !self.spoke.is_local(key) =>
            {
                let item = self.convert(a, b, "value")?;
                format!("{value}.into_iter().map(|(key, value)| (key, {item})).collect()")
            }
            _ => return None,
        })
    }

    /// Asks for the conversion of a pair of types; `false` where they are not alike.
    fn pair(&mut self, spoke: String, hub: String) -> bool {
        let is_known = match (self.spoke.get(&spoke), self.hub.get(&hub)) {
            (Some(Shape::Struct(a)), Some(Shape::Struct(b))) => are_open(a, b, false),
            (Some(Shape::Enum(a)), Some(Shape::Enum(b))) => {
                let mut all = a.iter().chain(b);
                !a.is_empty() && !b.is_empty() && all.all(|(_, fields)| is_open(fields, true))
            }
            _ => false,
        };
        let pair = (spoke, hub);
        if is_known && !self.found.contains(&pair) {
            self.found.push(pair);
        }
        is_known
    }
}

/// Whether code of another module can take both structs apart by the names of their fields.
fn are_open(a: &Fields, b: &Fields, in_enum: bool) -> bool {
    let is = |fields: &Fields| matches!(fields, Fields::Named(_)) && is_open(fields, in_enum);
    is(a) && is(b)
}

/// The variable that holds a field. Clippy allows none with the names of its `disallowed_names`.
fn variable(field: &str) -> String {
    match field {
        "foo" | "baz" | "quux" => format!("{field}_field"),
        _ => field.to_owned(),
    }
}

fn brackets(fields: &Fields) -> &'static str {
    match fields {
        Fields::Named(_) => "{}",
        Fields::Unnamed(_) => "()",
        Fields::Unit => "",
    }
}
