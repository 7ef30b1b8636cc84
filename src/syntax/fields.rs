//! The types of a file that a conversion takes apart.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Attribute, Fields, GenericArgument, Generics, Item, Path, PathArguments, Token, Type,
    Visibility, punctuated::Punctuated,
};

/// The structs and enums of a file.
pub struct Types {
    shapes: BTreeMap<String, Option<Shape>>,
    /// The names of the structs that derive `Default`, and of the types that implement it.
    defaults: BTreeSet<String>,
}

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
        let defaults = file.items.iter().filter_map(with_default).collect();
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
        Self {
            shapes: types.collect(),
            defaults,
        }
    }

    /// The shape of a type, if it is known.
    pub fn get(&self, name: &str) -> Option<&Shape> {
        self.shapes.get(name)?.as_ref()
    }

    /// Whether the file has a type of this name.
    pub fn has(&self, name: &str) -> bool {
        self.shapes.contains_key(name)
    }

    /// Whether a struct of the file implements `Default`.
    pub fn has_default(&self, name: &str) -> bool {
        self.defaults.contains(name)
    }

    /// Whether `ty` mentions a type of this file.
    pub fn is_local(&self, ty: &Type) -> bool {
        let inner = match ty {
            Type::Tuple(tuple) => tuple.elems.iter().collect(),
            Type::Array(array) => vec![&*array.elem],
            _ => match named(ty) {
                Some((name, _)) if self.has(&name) => return true,
                Some((_, inner)) => inner,
                None => Vec::new(),
            },
        };
        inner.into_iter().any(|ty| self.is_local(ty))
    }
}

/// The struct that derives `Default`, or the type that an `impl` gives it.
fn with_default(item: &Item) -> Option<String> {
    match item {
        Item::Struct(it) if derives_default(&it.attrs) => Some(it.ident.to_string()),
        Item::Impl(it) => {
            let (path, _) = it.trait_.as_ref()?;
            let (name, _) = named(&it.self_ty)?;
            path.is_ident("Default").then_some(name)
        }
        _ => None,
    }
}

fn derives_default(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|it| it.path().is_ident("derive"));
    let paths = derives.filter_map(|it| {
        it.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
            .ok()
    });
    paths.flatten().any(|path| path.is_ident("Default"))
}

/// The last segment of a type's path, and its parameters.
pub fn named(ty: &Type) -> Option<(String, Vec<&Type>)> {
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
