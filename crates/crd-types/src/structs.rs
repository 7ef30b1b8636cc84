//! Structs for types that were chosen, as a person writes them for kube.
//!
//! A schema that was read is kept, whatever the Rust types say. One that was chosen follows from its types: it is what schemars,
//! serde and kube's derive make of the structs, so no attribute repeats it.

mod attribute;
mod value;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use heck::ToSnakeCase as _;
use serde_json::Value;

use self::{
    attribute::{comment, enum_, rules_of_field, rules_of_type, schemars, strategy},
    value::{implementation, initial, is_initial, literal},
};
use crate::{
    chosen::{Field, Shape, Structure},
    imports::Imports,
    meta::{self, Meta},
    model::Type,
    name::{self, Used},
    schema::{Object, text},
};

/// The source of the structs of a kind, in parts: the root's attributes are the caller's.
#[derive(Clone, Debug)]
pub struct Structs {
    /// What the structs import, with what the root needs.
    pub imports: Imports,
    /// The struct of `spec`.
    pub spec: Struct,
    /// The struct of `status`.
    pub status: Struct,
    /// The types of the fields, and the functions that return their defaults.
    pub others: String,
}

/// The source of a struct, without its name and the attributes that every struct has.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// Whether it derives `Default`.
    pub derives_default: bool,
    /// The lines of `#[x_kube(…)]`.
    pub attributes: String,
    /// The lines of its fields.
    pub fields: String,
    /// The implementation of `Default`, if it is not derived.
    pub default: String,
    /// The identifiers of its fields, and their values in that implementation.
    pub values: Vec<(String, String)>,
    /// Whether fields have attributes of kube's derive.
    is_for_kube: bool,
}

/// The structs `<root>Spec` and `<root>Status`, in a file that has the names `taken` already: a struct with one of these names is
/// there, and enums and functions have other names.
pub fn structs(root: &str, taken: &[&str], spec: &Structure, status: &Structure) -> Structs {
    let mut module = Module::new(root, taken);
    module.reserve(spec);
    module.reserve(status);
    let spec = module.struct_(&format!("{root}Spec"), "Spec", spec);
    let status = module.struct_(&format!("{root}Status"), "Status", status);
    let mut others = String::new();
    while let Some((name, own)) = module.waiting.pop_front() {
        others.push_str(&module.type_(&name, &own));
    }
    others.push_str(&module.functions);
    for (path, names) in [
        ("kube", ["CustomResource", "KubeSchema"]),
        ("serde", ["Deserialize", "Serialize"]),
    ] {
        for name in names {
            module.imports.add(path, name);
        }
    }
    Structs {
        imports: module.imports,
        spec,
        status,
        others,
    }
}

/// A generated type, with what its first field says of it.
#[derive(Clone, PartialEq)]
struct Own {
    shape: Shape,
    /// The description of a struct.
    description: Option<String>,
    /// The default of an enum.
    default: Option<Value>,
}

impl Own {
    fn of(shape: &Shape, keywords: &Object) -> Self {
        let is_enum = matches!(shape, Shape::Enum(_));
        Self {
            shape: shape.clone(),
            description: text(keywords, "description")
                .filter(|_| !is_enum)
                .map(str::to_owned),
            default: keywords.get("default").filter(|_| is_enum).cloned(),
        }
    }
}

/// A module that is being written.
struct Module {
    root: String,
    names: Used,
    functions_used: Used,
    /// Names that the file has already.
    there: BTreeSet<String>,
    imports: Imports,
    /// Types of fields that are not written yet.
    waiting: VecDeque<(String, Own)>,
    /// Every type of a field, so that fields share one.
    known: BTreeMap<String, Own>,
    functions: String,
}

impl Module {
    fn new(root: &str, taken: &[&str]) -> Self {
        let mut names = Used::default();
        let mut functions_used = Used::default();
        for name in taken {
            names.take(name);
            functions_used.take(name);
        }
        for suffix in ["", "Spec", "Status"] {
            names.take(&format!("{root}{suffix}"));
        }
        Self {
            root: root.to_owned(),
            names,
            functions_used,
            there: taken.iter().map(|name| (*name).to_owned()).collect(),
            imports: Imports::default(),
            waiting: VecDeque::new(),
            known: BTreeMap::new(),
            functions: String::new(),
        }
    }

    /// Takes the names of structs.
    fn reserve(&mut self, structure: &Structure) {
        for field in &structure.fields {
            if let Type::Own(Shape::Struct(name, inner)) = field.type_.innermost() {
                self.names.take(name);
                self.reserve(inner);
            }
        }
    }

    /// A struct. The names of its enums start with `owner` where a shorter name is taken.
    fn struct_(&mut self, name: &str, owner: &str, structure: &Structure) -> Struct {
        let mut used = Used::default();
        let attributes = rules_of_type(structure);
        let mut made = Struct {
            derives_default: true,
            is_for_kube: !attributes.is_empty(),
            attributes,
            ..Struct::default()
        };
        for field in &structure.fields {
            let ident = used.once(name::field(&field.name));
            self.field(owner, field, &ident, &mut made);
        }
        if !made.derives_default {
            made.default = implementation(name, &made.values);
            if made.default.contains("Timestamp::") {
                self.imports.add("k8s_openapi::jiff", "Timestamp");
            }
        }
        made
    }

    /// Adds a field to a struct.
    fn field(&mut self, owner: &str, field: &Field, ident: &str, to: &mut Struct) {
        let type_ = &field.type_;
        let mut rust = self.source(owner, field);
        let mut value = initial(type_, &rust);
        let mut is_plain = value.is_plain;
        let mut serde = Vec::new();
        let skip = |of: &str| Meta::word(&format!("skip_serializing_if = \"{of}::is_empty\""));
        match (field.keywords.get("default"), type_) {
            (Some(default), _) if is_initial(type_, default) => {
                serde.push(Meta::word("default"));
            }
            (Some(default), _) => {
                let function = self.default_function(owner, ident, &rust, &literal(type_, default));
                serde.push(Meta::word(&format!("default = \"{function}\"")));
                (value.text, is_plain) = (format!("{function}()"), false);
            }
            (None, _) if field.required => {}
            (None, Type::List(_)) => serde.extend([Meta::word("default"), skip("Vec")]),
            (None, Type::Map(_)) => serde.extend([Meta::word("default"), skip("BTreeMap")]),
            (None, _) => {
                serde.push(Meta::word("skip_serializing_if = \"Option::is_none\""));
                rust = format!("Option<{rust}>");
                (value.text, is_plain) = ("None".to_owned(), true);
            }
        }
        if field.name != name::camel_case(ident) {
            meta::rename(&mut serde, &field.name);
        }
        let mut lines = comment(text(&field.keywords, "description"), 4);
        if !serde.is_empty() {
            lines.extend(meta::attribute("serde", serde, 4));
        }
        let (metas, extend) = schemars(field);
        lines.extend(meta::schemars(metas, &extend, 4));
        let for_kube = [strategy(field), rules_of_field(field)].concat();
        to.is_for_kube |= !for_kube.is_empty();
        lines.extend(for_kube);
        lines.extend(meta::field(ident, &rust));
        to.fields.push_str(&(lines.join("\n") + "\n"));
        to.derives_default &= is_plain;
        to.values.push((ident.to_owned(), value.text));
    }

    /// The function that returns the default of a field.
    fn default_function(&mut self, owner: &str, ident: &str, rust: &str, value: &str) -> String {
        let ident = ident.trim_start_matches("r#");
        let mut name = format!("default_{ident}");
        if !self.functions_used.allows(&name) {
            name = format!("default_{}_{ident}", owner.to_snake_case());
        }
        let name = self.functions_used.once(name);
        self.functions
            .push_str(&format!("\nfn {name}() -> {rust} {{\n{value}}}\n"));
        name
    }

    /// A type that fields have.
    fn type_(&mut self, name: &str, own: &Own) -> String {
        let structure = match &own.shape {
            Shape::Struct(_, structure) => structure,
            Shape::Enum(values) => {
                self.imports.add("schemars", "JsonSchema");
                let default = own.default.as_ref().and_then(Value::as_str);
                return format!("\n{}", enum_(name, values, default));
            }
        };
        let comment = comment(own.description.as_deref(), 0);
        let comment: String = comment.iter().map(|line| format!("{line}\n")).collect();
        let made = self.struct_(name, name, structure);
        let derive = match made.is_for_kube {
            true => "KubeSchema",
            false => "JsonSchema",
        };
        if !made.is_for_kube {
            self.imports.add("schemars", "JsonSchema");
        }
        let of_default = if made.derives_default {
            "Default, "
        } else {
            ""
        };
        let (attributes, fields, default) = (made.attributes, made.fields, made.default);
        format!(
            "\n{comment}#[derive(Clone, Debug, {of_default}PartialEq, Deserialize, {derive}, Serialize)]\n\
             #[serde(rename_all = \"camelCase\")]\n{attributes}pub struct {name} {{\n{fields}}}\n{default}"
        )
    }

    /// The type of a field in source. What it needs is imported.
    fn source(&mut self, owner: &str, field: &Field) -> String {
        let (mut name, mut type_) = (field.name.clone(), &field.type_);
        let nothing = Object::new();
        let mut keywords = &field.keywords;
        while let Type::List(inner) | Type::Map(inner) = type_ {
            (name, type_, keywords) = (name::singular(&name), &**inner, &nothing);
        }
        let own = match type_ {
            Type::Own(shape) => self.own(owner, &name, Own::of(shape, keywords)),
            _ => String::new(),
        };
        let Self { root, imports, .. } = self;
        field.type_.source(&|_| own.clone(), &mut |module, name| {
            let is_taken = |suffix: &&str| name == format!("{root}{suffix}");
            match ["", "Spec", "Status"].iter().any(is_taken) {
                true => format!("{module}::{name}"),
                false => {
                    imports.add(module, name);
                    name.to_owned()
                }
            }
        })
    }

    /// The name of the struct or enum of a field. Fields with the same values share an enum.
    fn own(&mut self, owner: &str, field: &str, own: Own) -> String {
        if let Shape::Struct(name, _) = &own.shape {
            let name = name.clone();
            if !self.there.contains(&name) {
                self.wait(&name, own);
            }
            return name;
        }
        let short = name::camel(field);
        for name in [short.clone(), format!("{owner}{short}")] {
            if self.known.get(&name) == Some(&own) {
                return name;
            }
            if self.names.allows(&name) && !name::is_reserved(&name) {
                self.names.take(&name);
                self.wait(&name, own);
                return name;
            }
        }
        let name = self.names.once(format!("{owner}{short}"));
        self.wait(&name, own);
        name
    }

    fn wait(&mut self, name: &str, own: Own) {
        if self.known.insert(name.to_owned(), own.clone()).is_none() {
            self.waiting.push_back((name.to_owned(), own));
        }
    }
}
