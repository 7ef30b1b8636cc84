//! The types of a file that a conversion takes apart, and the expressions that convert their fields.

use std::collections::BTreeMap;

use syn::{Field, Fields, GenericArgument, Generics, Item, PathArguments, Type, Visibility};

/// The structs and enums of a file, by name.
pub struct Types(BTreeMap<String, Option<Shape>>);

/// The fields or variants of a type.
pub enum Shape {
    Struct(Fields),
    Enum(Vec<(String, Fields)>),
}

impl Types {
    /// The types of `file`. Of a type that has parameters or is not public, only the name is known.
    pub fn of(file: syn::File) -> Self {
        let known = |vis: &Visibility, generics: &Generics, shape| {
            let known = matches!(vis, Visibility::Public(_)) && generics.params.is_empty();
            known.then_some(shape)
        };
        let types = file.items.into_iter().filter_map(|item| match item {
            Item::Struct(it) => {
                let shape = known(&it.vis, &it.generics, Shape::Struct(it.fields));
                Some((it.ident.to_string(), shape))
            }
            Item::Enum(it) => {
                let variants = it.variants.into_iter();
                let variants = variants.map(|variant| (variant.ident.to_string(), variant.fields));
                let shape = known(&it.vis, &it.generics, Shape::Enum(variants.collect()));
                Some((it.ident.to_string(), shape))
            }
            _ => None,
        });
        Self(types.collect())
    }

    /// The shape of a type, if it is known.
    pub fn get(&self, name: &str) -> Option<&Shape> {
        self.0.get(name)?.as_ref()
    }

    /// The types in this file of the fields of `name`, of the fields of those types, and so on; without `name`.
    pub fn below(&self, name: &str) -> Option<Vec<String>> {
        let mut found = vec![name.to_owned()];
        let mut at = 0;
        while at < found.len() {
            let fields: Vec<&Field> = match self.get(&found[at])? {
                Shape::Struct(fields) => fields.iter().collect(),
                Shape::Enum(variants) => variants.iter().flat_map(|(_, fields)| fields).collect(),
            };
            for name in fields.iter().flat_map(|field| self.local(&field.ty)) {
                if !found.contains(&name) {
                    found.push(name);
                }
            }
            at += 1;
        }
        Some(found.split_off(1))
    }

    /// The types of this file that `ty` mentions.
    fn local(&self, ty: &Type) -> Vec<String> {
        let inner = match ty {
            Type::Tuple(tuple) => tuple.elems.iter().collect(),
            Type::Array(array) => vec![&*array.elem],
            _ => match named(ty) {
                Some((name, _)) if self.0.contains_key(&name) => return vec![name],
                Some((_, inner)) => inner,
                None => Vec::new(),
            },
        };
        inner.into_iter().flat_map(|ty| self.local(ty)).collect()
    }

    /// An expression that converts `value`, of the type `ty`, to the type of the same name in the other version; `None` where none
    /// is known.
    pub fn convert(&self, ty: &Type, value: &str) -> Option<String> {
        if self.local(ty).is_empty() {
            return Some(value.to_owned());
        }
        let (name, inner) = named(ty)?;
        if self.0.contains_key(&name) {
            return Some(format!("{value}.into()"));
        }
        let map = |ty: &Type, item: &str| {
            let converted = self.convert(ty, item)?;
            Some(match converted == format!("{item}.into()") {
                true => "Into::into".to_owned(),
                false => format!("|{item}| {converted}"),
            })
        };
        Some(match (name.as_str(), inner.as_slice()) {
            ("Option", [some]) => format!("{value}.map({})", map(some, "it")?),
            ("Box", [inner]) => {
                format!("Box::new({})", self.convert(inner, &format!("(*{value})"))?)
            }
            ("Vec", [item]) => format!("{value}.into_iter().map({}).collect()", map(item, "it")?),
            ("BTreeMap" | "HashMap", [key, item]) if self.local(key).is_empty() => {
                let item = self.convert(item, "value")?;
                format!("{value}.into_iter().map(|(key, value)| (key, {item})).collect()")
            }
            _ => return None,
        })
    }
}

/// The last segment of a type's path, and its parameters.
fn named(ty: &Type) -> Option<(String, Vec<&Type>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let inner = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
        _ => Vec::new(),
    };
    Some((last.ident.to_string(), inner))
}

/// Whether every field is visible to other modules, under every `cfg`.
pub fn is_open(fields: &Fields, in_enum: bool) -> bool {
    fields.iter().all(|field| {
        let public = in_enum || matches!(field.vis, Visibility::Public(_));
        public
            && !field
                .attrs
                .iter()
                .any(|attribute| attribute.path().is_ident("cfg"))
    })
}
